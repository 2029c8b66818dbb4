/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BLOBS_H
#define BLOBS_H

/** @file Strings of bytes that have numbers: the same bytes, the same number. */

#include <stddef.h>
#include <stdint.h>

struct blob {
	size_t at, length;
	uint64_t hash;
};

/** All zero: none. */
struct blobs {
	uint32_t count;     /**< their numbers are 1 .. count */
	struct blob *blob;  /**< by number */
	uint8_t *bytes;     /**< of all */
	size_t used, room;  /**< of the bytes */
	uint32_t *table;    /**< numbers by open addressing; 0: an empty place */
	uint32_t size;      /**< of the table, a power of two */
	uint32_t blob_room; /**< of `blob` */
};

/** The number of a string, which gets one if it has none: then it is the new `count`. */
uint32_t blobs_number(struct blobs *blobs, const void *bytes, size_t length);

/** A string, until the next one gets a number. */
const void *blobs_bytes(const struct blobs *blobs, uint32_t number);

void blobs_free(struct blobs *blobs);

#endif /* BLOBS_H */

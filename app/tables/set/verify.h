/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VERIFY_H
#define VERIFY_H

/** @file Where a table-set file differs from what it should be. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netfc.h"

/** Offset of the set's name in a file (netfc_file.h). */
#define SET_NAME_OFFSET 16

/** A file's content. */
struct bytes {
	uint8_t *data;
	size_t length;
};

/** The first difference of a file from a rebuild. */
struct difference {
	bool found;
	size_t offset;     /**< in bytes */
	const char *where; /**< "header" or "checksum", unless in a table */
	char table[16];    /**< table or page; empty unless in a table */
	long long key;     /**< signed if the table's keys are */
	unsigned long long key_bits;
	uint32_t value, rebuilt;
};

/** The result for a file. */
struct verdict {
	const char *path;
	bool good;
	size_t bytes;
	char set[NETFC_SET_NAME_SIZE]; /**< empty if it is not known */
	const char *error;             /**< what is wrong with it as a file, or NULL */
	struct difference difference;
};

/** Read a file; free its data. Gives NULL, or what went wrong. */
const char *read_bytes(const char *path, struct bytes *bytes);

/** Find the first difference. `set` is the rebuilt set. */
void find_difference(const struct netfc_set *set, const struct bytes *file,
	const struct bytes *rebuilt, struct difference *difference);

#endif /* VERIFY_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BYTES_H
#define BYTES_H

/** @file A table-set file in memory, to be damaged. */

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "unit.h"

struct bytes {
	uint8_t *data;
	size_t length;
};

/* Where things stand in a file. */
#define BYTES_MAGIC 0
#define BYTES_VERSION 8
#define BYTES_LENGTH 12
#define BYTES_NAME 16
#define BYTES_FORMAT 48
#define BYTES_HEADER 56
#define BYTES_TABLE 12
/* Header and tables of a set of four tables; the entries follow. */
#define BYTES_DESCRIPTOR (BYTES_HEADER + 4 * BYTES_TABLE)

/** The file of a set. */
static inline struct bytes
bytes_of(const char *name)
{
	struct netfc_set *set = must_build(name);
	struct bytes bytes = {NULL, 0};
	void *data;

	assert_int_equal(netfc_set_serialize(set, &data, &bytes.length), NETFC_OK);
	bytes.data = data;
	netfc_set_free(set);
	return bytes;
}

static inline void
bytes_put32(uint8_t *at, uint32_t value)
{
	for (unsigned b = 0; b < 4; b++)
		at[b] = (uint8_t)(value >> (24 - 8 * b));
}

/** Make the checksum right again. */
static inline void
bytes_sign(struct bytes bytes)
{
	bytes_put32(
		bytes.data + bytes.length - 4, (uint32_t)crc32_z(0, bytes.data, bytes.length - 4));
}

#endif /* BYTES_H */

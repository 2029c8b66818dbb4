/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_FILE_BYTES_H
#define NETFC_FILE_BYTES_H

/**
 * @file
 * What the files of table sets and functions share: a magic of 8 bytes, u32 version, u32 length of
 * the whole file; last a u32 CRC-32 of all bytes before it. Numbers are big-endian.
 */

#include <stddef.h>
#include <stdint.h>

#include "netfc_error.h"

#define FILE_MAGIC_BYTES 8
#define FILE_CHECKSUM_BYTES 4

static inline uint8_t *
put_number(uint8_t *at, uint32_t value, unsigned bytes)
{
	for (unsigned b = 0; b < bytes; b++)
		at[b] = (uint8_t)(value >> 8 * (bytes - 1 - b));
	return at + bytes;
}

static inline uint32_t
get_number(const uint8_t *at, unsigned bytes)
{
	uint32_t value = 0;

	for (unsigned b = 0; b < bytes; b++)
		value = value << 8 | at[b];
	return value;
}

/* Write the checksum to the end of `length` bytes. */
void put_checksum(uint8_t *data, size_t length);

/**
 * Check what all files have.
 *
 * @param header_bytes the least that stands before the checksum
 * @return 0, NETFC_ERR_FOREIGN, _OLD, _NEW, _TRUNCATED, _TRAILING or _CHECKSUM
 */
int netfc_check_file(const uint8_t *data, size_t length, const char *magic, uint32_t version,
	size_t header_bytes);

/**
 * Write a file as a whole or not at all, as replace.h has it.
 *
 * @return 0, or NETFC_ERR_IO with errno set
 */
int netfc_write_file(const char *path, const void *data, size_t length);

/**
 * Read a whole file, or all that a pipe gives.
 *
 * @param data receives its bytes; free() them
 * @return 0, NETFC_ERR_NOMEM, NETFC_ERR_FOREIGN where it is far too large, or NETFC_ERR_IO with
 *   errno set
 */
int netfc_read_file(const char *path, void **data, size_t *length);

#endif /* NETFC_FILE_BYTES_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_FILE_H
#define NETFC_FILE_H

/**
 * @file
 * Table sets as files: versioned, checksummed, byte-identical wherever they are built.
 *
 * All numbers are big-endian. Layout: 8 bytes magic "NetFCset", u32 version, u32 length of the
 * whole file, the set's name in 32 bytes padded with NUL, u8 format, u8 rounding, u8 tables,
 * u8 family, u32 k; per table 8 bytes of name padded with NUL, u8 key bits, u8 value bits,
 * u8 pages, u8 bytes per entry; then the entries of all tables; last a u32 CRC-32 (ISO 3309, as in
 * zlib) of all bytes before it.
 */

#include <stddef.h>

#include "netfc_set.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the files that this library writes, and the only one it reads. */
#define NETFC_FILE_VERSION 1

/** Suffix of the names of table-set files. */
#define NETFC_FILE_SUFFIX ".netfc"

/**
 * Write a table set as bytes.
 *
 * @param data receives the bytes; free() them
 * @param length receives their number
 * @return 0 or NETFC_ERR_NOMEM
 */
NETFC_API int netfc_set_serialize(const struct netfc_set *set, void **data, size_t *length);

/**
 * Read a table set from untrusted bytes.
 *
 * @return 0, NETFC_ERR_FOREIGN, _OLD, _NEW, _TRUNCATED, _TRAILING, _CHECKSUM, _CONTENT,
 *   _ORDER or _NOMEM
 */
NETFC_API int netfc_set_deserialize(const void *data, size_t length, struct netfc_set **set);

/**
 * Write a table set to a file. A regular file is replaced as a whole or not at all; a device or a
 * pipe is written to.
 *
 * @return 0, NETFC_ERR_NOMEM, or NETFC_ERR_IO with errno set
 */
NETFC_API int netfc_set_save(const struct netfc_set *set, const char *path);

/**
 * Read a table set from a file.
 *
 * @return 0, an error of netfc_set_deserialize(), or NETFC_ERR_IO with errno set
 */
NETFC_API int netfc_set_load(const char *path, struct netfc_set **set);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_FILE_H */

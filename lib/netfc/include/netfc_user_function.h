/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_USER_FUNCTION_H
#define NETFC_USER_FUNCTION_H

/**
 * @file
 * Users' functions of one number, as tables of 65,536 entries (of 8 bits 256) and as files.
 *
 * A file is versioned and checksummed; numbers are big-endian: 8 bytes magic "NetFCfun", u32
 * version, u32 length of the whole file, the name in 32 bytes padded with NUL, u8 format, 3 bytes
 * zero; z of every x as u16; the exception flags of every x as u8; last a u32 CRC-32 (ISO 3309, as
 * in zlib) of all bytes before it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netfc_function.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the files that this library writes, and the only one it reads. */
#define NETFC_FUNCTION_FILE_VERSION 1

/** Suffix of the names of function files. */
#define NETFC_FUNCTION_FILE_SUFFIX ".netfcfun"

/** The longest name of a function, with its terminating NUL. */
#define NETFC_FUNCTION_NAME_SIZE 32

/** A user's function. It never changes, so threads may share it. */
struct netfc_user_function;

/**
 * Whether a function may have that name: a lower-case letter, then up to 30 more, digits or
 * underscores; not the name of a function or operation that there is, nor one that reads as a
 * conversion: "to_" or "from_" before q, int, uint, fp, bf or posit and a digit.
 */
NETFC_API bool netfc_user_function_is_name(const char *name);

/**
 * Make a function from its table.
 *
 * @param name see netfc_user_function_is_name()
 * @param format of x and z
 * @param z its value for every x: NETFC_FUNCTION_ENTRIES, or the 256 of 8 bits
 * @param flags the exception flags (enum netfc_flag) of every x; NULL: invalid where z is NaN (NaR)
 *   and x is not, division by zero where z is infinite and x is finite
 * @param function where the new function goes; free it with netfc_user_function_free()
 * @return 0, NETFC_ERR_NAME, NETFC_ERR_FORMAT (wider than 16 bits), NETFC_ERR_ARGUMENT
 *   (flags that do not exist, z that is no encoding) or NETFC_ERR_NOMEM
 */
NETFC_API int netfc_user_function_create(const char *name, const struct netfc_format *format,
	const uint16_t *z, const uint8_t *flags, struct netfc_user_function **function);

/** Free a function; NULL is allowed. */
NETFC_API void netfc_user_function_free(struct netfc_user_function *function);

/** The function's name. */
NETFC_API const char *netfc_user_function_name(const struct netfc_user_function *function);

/** The format of x and z. */
NETFC_API const struct netfc_format *
netfc_user_function_format(const struct netfc_user_function *function);

/** Its value for every x, NETFC_FUNCTION_ENTRIES; those of 8 bits are repeated. */
NETFC_API const uint16_t *netfc_user_function_z(const struct netfc_user_function *function);

/** The exception flags of every x, as many. */
NETFC_API const uint8_t *netfc_user_function_flags(const struct netfc_user_function *function);

/**
 * Write a function as bytes.
 *
 * @param data receives the bytes; free() them
 * @param length receives their number
 * @return 0 or NETFC_ERR_NOMEM
 */
NETFC_API int netfc_user_function_serialize(
	const struct netfc_user_function *function, void **data, size_t *length);

/**
 * Read a function from untrusted bytes.
 *
 * @return 0, NETFC_ERR_FOREIGN, _OLD, _NEW, _TRUNCATED, _TRAILING, _CHECKSUM, _CONTENT or _NOMEM
 */
NETFC_API int netfc_user_function_deserialize(
	const void *data, size_t length, struct netfc_user_function **function);

/**
 * Write a function to a file. A regular file is replaced as a whole or not at all; a device or a
 * pipe is written to.
 *
 * @return 0, NETFC_ERR_NOMEM, or NETFC_ERR_IO with errno set
 */
NETFC_API int
netfc_user_function_save(const struct netfc_user_function *function, const char *path);

/**
 * Read a function from a file.
 *
 * @return 0, an error of netfc_user_function_deserialize(), or NETFC_ERR_IO with errno set
 */
NETFC_API int netfc_user_function_load(const char *path, struct netfc_user_function **function);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_USER_FUNCTION_H */

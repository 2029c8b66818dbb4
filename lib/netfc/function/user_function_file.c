/* SPDX-License-Identifier: BSD-3-Clause */
/* Users' functions as files. */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "function/function.h"

static const char magic[FILE_MAGIC_BYTES] = {'N', 'e', 't', 'F', 'C', 'f', 'u', 'n'};

#define NAME_OFFSET (FILE_MAGIC_BYTES + 4 + 4)
#define FORMAT_OFFSET (NAME_OFFSET + NETFC_FUNCTION_NAME_SIZE)
#define HEADER_BYTES (FORMAT_OFFSET + 4)
#define ENTRY_BYTES 3 /* z, and its flags after all of them */

static size_t
file_bytes(const struct netfc_format *format)
{
	return HEADER_BYTES + ENTRY_BYTES * function_entries(format) + FILE_CHECKSUM_BYTES;
}

int
netfc_user_function_serialize(
	const struct netfc_user_function *function, void **data, size_t *length)
{
	const uint32_t entries = function_entries(function->format);
	const size_t size = file_bytes(function->format);
	uint8_t *bytes = calloc(1, size), *at;

	if (bytes == NULL)
		return NETFC_ERR_NOMEM;
	memcpy(bytes, magic, sizeof(magic));
	at = put_number(bytes + sizeof(magic), NETFC_FUNCTION_FILE_VERSION, 4);
	put_number(at, (uint32_t)size, 4);
	memcpy(bytes + NAME_OFFSET, function->name, sizeof(function->name));
	put_number(bytes + FORMAT_OFFSET, function->format->id, 1);
	at = bytes + HEADER_BYTES;
	for (uint32_t x = 0; x < entries; x++)
		at = put_number(at, function->z[x], 2);
	memcpy(at, function->flags, entries);
	put_checksum(bytes, size);
	*data = bytes;
	*length = size;
	return NETFC_OK;
}

/* The name ends, and is padded with zeros; so is the format. */
static bool
is_header(const uint8_t *data)
{
	const char *name = (const char *)data + NAME_OFFSET;
	size_t end = strnlen(name, NETFC_FUNCTION_NAME_SIZE);

	for (size_t n = end; n < NETFC_FUNCTION_NAME_SIZE; n++) {
		if (name[n] != '\0')
			return false;
	}
	return end < NETFC_FUNCTION_NAME_SIZE && get_number(data + FORMAT_OFFSET + 1, 3) == 0;
}

int
netfc_user_function_deserialize(
	const void *data, size_t length, struct netfc_user_function **function)
{
	const uint8_t *bytes = data;
	const struct netfc_format *format;
	uint16_t *z;
	int error =
		netfc_check_file(data, length, magic, NETFC_FUNCTION_FILE_VERSION, HEADER_BYTES);

	if (error != NETFC_OK)
		return error;
	format = netfc_format_by_id(get_number(bytes + FORMAT_OFFSET, 1));
	if (format == NULL || length != file_bytes(format) || !is_header(bytes))
		return NETFC_ERR_CONTENT;
	z = malloc(function_entries(format) * sizeof(*z));
	if (z == NULL)
		return NETFC_ERR_NOMEM;
	for (uint32_t x = 0; x < function_entries(format); x++)
		z[x] = (uint16_t)get_number(bytes + HEADER_BYTES + 2 * x, 2);
	error = netfc_user_function_create((const char *)bytes + NAME_OFFSET, format, z,
		bytes + HEADER_BYTES + 2 * function_entries(format), function);
	free(z);
	return error == NETFC_OK || error == NETFC_ERR_NOMEM ? error : NETFC_ERR_CONTENT;
}

int
netfc_user_function_save(const struct netfc_user_function *function, const char *path)
{
	void *data = NULL;
	size_t length;
	int error = netfc_user_function_serialize(function, &data, &length);

	if (error == NETFC_OK)
		error = netfc_write_file(path, data, length);
	free(data);
	return error;
}

int
netfc_user_function_load(const char *path, struct netfc_user_function **function)
{
	void *data = NULL;
	size_t length;
	int error = netfc_read_file(path, &data, &length);

	if (error != NETFC_OK)
		return error;
	error = netfc_user_function_deserialize(data, length, function);
	free(data);
	return error;
}

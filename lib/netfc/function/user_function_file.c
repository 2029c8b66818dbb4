/* SPDX-License-Identifier: BSD-3-Clause */
/* Users' functions as files. */
#include <stdlib.h>
#include <string.h>

#include "file_bytes.h"
#include "function/function.h"

static const char magic[FILE_MAGIC_BYTES] = {'N', 'e', 't', 'F', 'C', 'f', 'u', 'n'};

#define NAME_OFFSET (FILE_MAGIC_BYTES + 4 + 4)
#define FORMAT_OFFSET (NAME_OFFSET + NETFC_FUNCTION_NAME_SIZE)
#define HEADER_BYTES (FORMAT_OFFSET + 4)
#define FLAGS_OFFSET (HEADER_BYTES + 2 * NETFC_FUNCTION_ENTRIES)
#define FILE_BYTES (FLAGS_OFFSET + NETFC_FUNCTION_ENTRIES + FILE_CHECKSUM_BYTES)

int
netfc_user_function_serialize(
	const struct netfc_user_function *function, void **data, size_t *length)
{
	uint8_t *bytes = calloc(1, FILE_BYTES), *at;

	if (bytes == NULL)
		return NETFC_ERR_NOMEM;
	memcpy(bytes, magic, sizeof(magic));
	at = put_number(bytes + sizeof(magic), NETFC_FUNCTION_FILE_VERSION, 4);
	put_number(at, FILE_BYTES, 4);
	memcpy(bytes + NAME_OFFSET, function->name, sizeof(function->name));
	put_number(bytes + FORMAT_OFFSET, function->format->id, 1);
	at = bytes + HEADER_BYTES;
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++)
		at = put_number(at, function->z[x], 2);
	memcpy(at, function->flags, sizeof(function->flags));
	put_checksum(bytes, FILE_BYTES);
	*data = bytes;
	*length = FILE_BYTES;
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
	if (length != FILE_BYTES || !is_header(bytes))
		return NETFC_ERR_CONTENT;
	format = netfc_format_by_id(get_number(bytes + FORMAT_OFFSET, 1));
	if (format == NULL)
		return NETFC_ERR_CONTENT;
	z = malloc(NETFC_FUNCTION_ENTRIES * sizeof(*z));
	if (z == NULL)
		return NETFC_ERR_NOMEM;
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++)
		z[x] = (uint16_t)get_number(bytes + HEADER_BYTES + 2 * x, 2);
	error = netfc_user_function_create(
		(const char *)bytes + NAME_OFFSET, format, z, bytes + FLAGS_OFFSET, function);
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

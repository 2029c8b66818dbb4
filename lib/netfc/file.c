/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "file.h"
#include "internal.h"
#include "replace.h"

static const char set_magic[8] = {'N', 'e', 't', 'F', 'C', 's', 'e', 't'};

#define HEADER_BYTES (8 + 4 + 4 + NETFC_SET_NAME_SIZE + 4 + 4)
#define TABLE_NAME_BYTES 8
#define TABLE_BYTES (TABLE_NAME_BYTES + 4)
#define NAME_OFFSET 16

static unsigned
entry_bytes(const struct netfc_table *table)
{
	return (table->value_bits + 7) / 8;
}

static size_t
descriptor_bytes(const struct netfc_set *set)
{
	return HEADER_BYTES + set->table_count * TABLE_BYTES;
}

static size_t
file_bytes(const struct netfc_set *set)
{
	size_t bytes = descriptor_bytes(set) + FILE_CHECKSUM_BYTES;

	for (unsigned t = 0; t < set->table_count; t++)
		bytes += (size_t)netfc_table_size(&set->table[t]) * entry_bytes(&set->table[t]);
	return bytes;
}

/* Header and table descriptors; `data` has descriptor_bytes(). */
static uint8_t *
put_descriptor(const struct netfc_set *set, uint8_t *data)
{
	uint8_t *at = data;

	memset(data, 0, descriptor_bytes(set));
	memcpy(at, set_magic, sizeof(set_magic));
	at = put_number(at + sizeof(set_magic), NETFC_FILE_VERSION, 4);
	at = put_number(at, (uint32_t)file_bytes(set), 4);
	memcpy(at, set->name, strlen(set->name));
	at = put_number(at + NETFC_SET_NAME_SIZE, set->id.format->id, 1);
	at = put_number(at, set->id.rounding, 1);
	at = put_number(at, set->table_count, 1);
	at = put_number(at, set->id.family, 1);
	at = put_number(at, set->id.scale, 4);
	for (unsigned t = 0; t < set->table_count; t++) {
		const struct netfc_table *table = &set->table[t];

		memcpy(at, table->name, strnlen(table->name, TABLE_NAME_BYTES));
		at = put_number(at + TABLE_NAME_BYTES, table->key_bits, 1);
		at = put_number(at, table->value_bits, 1);
		at = put_number(at, table->pages, 1);
		at = put_number(at, entry_bytes(table), 1);
	}
	return at;
}

int
netfc_set_serialize(const struct netfc_set *set, void **data, size_t *length)
{
	size_t bytes = file_bytes(set);
	uint8_t *buffer = malloc(bytes), *at;

	if (buffer == NULL)
		return NETFC_ERR_NOMEM;
	at = put_descriptor(set, buffer);
	for (unsigned t = 0; t < set->table_count; t++) {
		const struct netfc_table *table = &set->table[t];

		for (uint32_t i = 0; i < netfc_table_size(table); i++)
			at = put_number(at, table->entries[i], entry_bytes(table));
	}
	put_checksum(buffer, bytes);
	*data = buffer;
	*length = bytes;
	return NETFC_OK;
}

/* The header must be that of a set of this name. */
static int
check_descriptor(const struct netfc_set *set, const uint8_t *data, size_t length)
{
	size_t bytes = descriptor_bytes(set);
	uint8_t *expected;
	int error;

	if (length != file_bytes(set))
		return NETFC_ERR_CONTENT;
	expected = malloc(bytes);
	if (expected == NULL)
		return NETFC_ERR_NOMEM;
	put_descriptor(set, expected);
	error = memcmp(expected, data, bytes) == 0 ? NETFC_OK : NETFC_ERR_CONTENT;
	free(expected);
	return error;
}

static int
get_entries(struct netfc_set *set, const uint8_t *data)
{
	const uint8_t *at = data + descriptor_bytes(set);

	for (unsigned t = 0; t < set->table_count; t++) {
		struct netfc_table *table = &set->table[t];
		uint32_t size = netfc_table_size(table);
		unsigned bytes = entry_bytes(table);

		for (uint32_t i = 0; i < size; i++, at += bytes) {
			uint32_t value = get_number(at, bytes);

			if ((uint64_t)value >> table->value_bits != 0)
				return NETFC_ERR_CONTENT;
			table->entries[i] = value;
		}
	}
	return NETFC_OK;
}

int
netfc_set_deserialize(const void *data, size_t length, struct netfc_set **result)
{
	const char *name = (const char *)data + NAME_OFFSET;
	struct netfc_set_id id;
	struct netfc_set *set;
	int error;

	error = netfc_check_file(data, length, set_magic, NETFC_FILE_VERSION, HEADER_BYTES);
	if (error != NETFC_OK)
		return error;
	if (memchr(name, '\0', NETFC_SET_NAME_SIZE) == NULL)
		return NETFC_ERR_CONTENT;
	error = netfc_set_parse_name(name, &id);
	if (error == NETFC_OK)
		error = netfc_set_alloc(&id, &set);
	if (error != NETFC_OK)
		return error == NETFC_ERR_NOMEM ? error : NETFC_ERR_CONTENT;
	error = check_descriptor(set, data, length);
	if (error == NETFC_OK)
		error = get_entries(set, data);
	if (error == NETFC_OK && set->family->check != NULL)
		error = set->family->check(set);
	if (error != NETFC_OK) {
		netfc_set_free(set);
		return error;
	}
	*result = set;
	return NETFC_OK;
}

int
netfc_set_save(const struct netfc_set *set, const char *path)
{
	void *data = NULL;
	size_t length;
	int error = netfc_set_serialize(set, &data, &length);

	if (error == NETFC_OK)
		error = netfc_write_file(path, data, length);
	free(data);
	return error;
}

int
netfc_set_load(const char *path, struct netfc_set **set)
{
	void *data = NULL;
	size_t length;
	int error = netfc_read_file(path, &data, &length);

	if (error != NETFC_OK)
		return error;
	error = netfc_set_deserialize(data, length, set);
	free(data);
	return error;
}

/* After the magic. */
#define VERSION_OFFSET 8
#define LENGTH_OFFSET 12
/* All files are much smaller; a larger one is not read. */
#define MAX_FILE_BYTES (64u << 20)
#define FIRST_BYTES (1u << 16)

static uint32_t
checksum(const uint8_t *data, size_t length)
{
	return (uint32_t)crc32_z(0, data, length);
}

void
put_checksum(uint8_t *data, size_t length)
{
	put_number(data + length - FILE_CHECKSUM_BYTES,
		checksum(data, length - FILE_CHECKSUM_BYTES), FILE_CHECKSUM_BYTES);
}

int
netfc_check_file(const uint8_t *data, size_t length, const char *magic, uint32_t version,
	size_t header_bytes)
{
	uint32_t written, stated;

	if (length < FILE_MAGIC_BYTES || memcmp(data, magic, FILE_MAGIC_BYTES) != 0)
		return NETFC_ERR_FOREIGN;
	if (length < header_bytes + FILE_CHECKSUM_BYTES)
		return NETFC_ERR_TRUNCATED;
	written = get_number(data + VERSION_OFFSET, 4);
	if (written != version)
		return written < version ? NETFC_ERR_OLD : NETFC_ERR_NEW;
	stated = get_number(data + LENGTH_OFFSET, 4);
	if (length != stated)
		return length < stated ? NETFC_ERR_TRUNCATED : NETFC_ERR_TRAILING;
	if (get_number(data + length - FILE_CHECKSUM_BYTES, FILE_CHECKSUM_BYTES) !=
		checksum(data, length - FILE_CHECKSUM_BYTES))
		return NETFC_ERR_CHECKSUM;
	return NETFC_OK;
}

int
netfc_write_file(const char *path, const void *data, size_t length)
{
	struct replacement file;

	if (netfc_replacement_open(path, &file) != 0)
		return NETFC_ERR_IO;
	if (fwrite(data, 1, length, file.stream) != length) {
		netfc_replacement_abandon(&file);
		return NETFC_ERR_IO;
	}
	return netfc_replacement_commit(&file) == 0 ? NETFC_OK : NETFC_ERR_IO;
}

/* More space for what is read; one byte more than the greatest file, to notice one that is greater.
 */
static int
grow(uint8_t **buffer, size_t *space)
{
	size_t more = *space == 0 ? FIRST_BYTES : 4 * *space;
	uint8_t *grown;

	if (*space > MAX_FILE_BYTES)
		return NETFC_ERR_FOREIGN;
	if (more > MAX_FILE_BYTES)
		more = (size_t)MAX_FILE_BYTES + 1;
	grown = realloc(*buffer, more);
	if (grown == NULL)
		return NETFC_ERR_NOMEM;
	*buffer = grown;
	*space = more;
	return NETFC_OK;
}

/* To its end, whatever its size is said to be: pipes and files of /proc are said to be empty. */
static int
read_all(FILE *file, uint8_t **buffer, size_t *length)
{
	size_t space = 0;
	int error;

	*length = 0;
	do {
		if (*length == space && (error = grow(buffer, &space)) != NETFC_OK)
			return error;
		*length += fread(*buffer + *length, 1, space - *length, file);
		if (ferror(file))
			return NETFC_ERR_IO;
	} while (!feof(file));
	return *length > MAX_FILE_BYTES ? NETFC_ERR_FOREIGN : NETFC_OK;
}

int
netfc_read_file(const char *path, void **data, size_t *length)
{
	FILE *file = fopen(path, "rb");
	uint8_t *buffer = NULL;
	int error, saved;

	if (file == NULL)
		return NETFC_ERR_IO;
	error = read_all(file, &buffer, length);
	saved = errno;
	fclose(file);
	if (error == NETFC_OK)
		*data = buffer;
	else
		free(buffer);
	errno = saved;
	return error;
}

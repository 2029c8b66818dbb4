/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "file_bytes.h"
#include "internal.h"

static const char magic[8] = {'N', 'e', 't', 'F', 'C', 's', 'e', 't'};

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
	memcpy(at, magic, sizeof(magic));
	at = put_number(at + sizeof(magic), NETFC_FILE_VERSION, 4);
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
	struct netfc_set *set;
	int error;

	error = netfc_check_file(data, length, magic, NETFC_FILE_VERSION, HEADER_BYTES);
	if (error != NETFC_OK)
		return error;
	if (memchr(name, '\0', NETFC_SET_NAME_SIZE) == NULL)
		return NETFC_ERR_CONTENT;
	error = netfc_set_alloc(name, &set);
	if (error != NETFC_OK)
		return error == NETFC_ERR_NOMEM ? error : NETFC_ERR_CONTENT;
	error = check_descriptor(set, data, length);
	if (error == NETFC_OK)
		error = get_entries(set, data);
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

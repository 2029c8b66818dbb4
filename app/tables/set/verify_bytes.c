/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/meaning.h"
#include "set/verify.h"

/* All table sets are much smaller; a larger file is not read. */
#define MAX_BYTES (64u << 20)
#define FIRST_BYTES (1u << 20)
#define CHECKSUM_BYTES 4

static const char *
read_stream(FILE *file, struct bytes *bytes)
{
	size_t capacity = 0;

	while (!feof(file)) {
		if (bytes->length == capacity) {
			uint8_t *grown;

			capacity = capacity == 0 ? FIRST_BYTES : 2 * capacity;
			grown = capacity <= MAX_BYTES ? realloc(bytes->data, capacity) : NULL;
			if (grown == NULL)
				return capacity <= MAX_BYTES ? netfc_strerror(NETFC_ERR_NOMEM)
							     : netfc_strerror(NETFC_ERR_FOREIGN);
			bytes->data = grown;
		}
		bytes->length +=
			fread(bytes->data + bytes->length, 1, capacity - bytes->length, file);
		if (ferror(file))
			return strerror(errno);
	}
	return NULL;
}

const char *
read_bytes(const char *path, struct bytes *bytes)
{
	FILE *file = fopen(path, "rb");
	const char *error;

	if (file == NULL)
		return strerror(errno);
	error = read_stream(file, bytes);
	fclose(file);
	return error;
}

static unsigned
entry_bytes(const struct netfc_table *table)
{
	return (netfc_table_value_bits(table) + 7) / 8;
}

static size_t
table_bytes(const struct netfc_table *table)
{
	return (size_t)netfc_table_size(table) * entry_bytes(table);
}

static uint32_t
entry_at(const struct bytes *bytes, size_t offset, unsigned width)
{
	uint32_t value = 0;

	for (unsigned b = 0; b < width; b++)
		value = value << 8 | bytes->data[offset + b];
	return value;
}

/* Find the table that an entry is in. `first` is the offset of the table's first entry. */
static void
locate_entry(const struct netfc_table *table, size_t first, const struct bytes *file,
	const struct bytes *rebuilt, struct difference *difference)
{
	unsigned width = entry_bytes(table), bits = netfc_table_key_bits(table);
	size_t index = (difference->offset - first) / width;
	uint32_t key = (uint32_t)index & ((UINT32_C(1) << bits) - 1);

	snprintf(difference->table, sizeof(difference->table), "%s",
		netfc_table_page_name(table, (unsigned)(index >> bits)));
	difference->key_bits = key;
	difference->key = netfc_table_key_signed(table) ? as_signed(key, bits) : (long long)key;
	difference->value = entry_at(file, first + index * width, width);
	difference->rebuilt = entry_at(rebuilt, first + index * width, width);
}

/* The tables are the file's last bytes before the checksum. */
static void
locate(const struct netfc_set *set, const struct bytes *file, const struct bytes *rebuilt,
	struct difference *difference)
{
	const struct netfc_table *table;
	size_t first = rebuilt->length - CHECKSUM_BYTES;

	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++)
		first -= table_bytes(table);
	difference->where = difference->offset < first ? "header" : "checksum";
	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++) {
		if (difference->offset >= first && difference->offset - first < table_bytes(table))
			locate_entry(table, first, file, rebuilt, difference);
		first += table_bytes(table);
	}
}

void
find_difference(const struct netfc_set *set, const struct bytes *file, const struct bytes *rebuilt,
	struct difference *difference)
{
	size_t common = file->length < rebuilt->length ? file->length : rebuilt->length;
	size_t offset = 0;

	while (offset < common && file->data[offset] == rebuilt->data[offset])
		offset++;
	difference->found = offset < file->length || offset < rebuilt->length;
	difference->offset = offset;
	if (!difference->found)
		return;
	if (offset < common)
		locate(set, file, rebuilt, difference);
	else
		difference->where = "length";
}

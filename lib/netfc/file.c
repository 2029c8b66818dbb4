/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "file.h"
#include "internal.h"

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

/* Behind the magic. */
#define VERSION_OFFSET 8
#define LENGTH_OFFSET 12
/* All files are much smaller; a larger one is not read. */
#define MAX_FILE_BYTES (64u << 20)

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

static bool
write_and_close(FILE *file, const void *data, size_t length)
{
	bool written = fwrite(data, 1, length, file) == length;

	return fclose(file) == 0 && written;
}

/* Write all bytes to a new file, and make it readable for all. */
static bool
write_all(int fd, const void *data, size_t length)
{
	FILE *file = fchmod(fd, 0644) == 0 ? fdopen(fd, "wb") : NULL;

	if (file != NULL)
		return write_and_close(file, data, length);
	close(fd);
	return false;
}

/* Write a new file beside `path`, then rename it to `path`. `template` is for mkstemp(). */
static int
replace_file(const char *path, char *template, const void *data, size_t length)
{
	int fd = mkstemp(template), saved;

	if (fd < 0)
		return NETFC_ERR_IO;
	if (write_all(fd, data, length) && rename(template, path) == 0)
		return NETFC_OK;
	saved = errno;
	unlink(template);
	errno = saved;
	return NETFC_ERR_IO;
}

/* A device, pipe or the like: written to, because a rename would replace it. */
static bool
is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static int
write_special(const char *path, const void *data, size_t length)
{
	FILE *file = fopen(path, "wb");

	return file != NULL && write_and_close(file, data, length) ? NETFC_OK : NETFC_ERR_IO;
}

int
netfc_write_file(const char *path, const void *data, size_t length)
{
	char *template = NULL;
	int error;

	if (is_special(path))
		return write_special(path, data, length);
	if (asprintf(&template, "%s.XXXXXX", path) < 0)
		return NETFC_ERR_NOMEM;
	error = replace_file(path, template, data, length);
	free(template);
	return error;
}

static int
read_all(FILE *file, void **data, size_t *length)
{
	struct stat status;
	uint8_t *buffer;

	if (fstat(fileno(file), &status) != 0)
		return NETFC_ERR_IO;
	if (S_ISDIR(status.st_mode)) {
		errno = EISDIR;
		return NETFC_ERR_IO;
	}
	if (status.st_size > (off_t)MAX_FILE_BYTES)
		return NETFC_ERR_FOREIGN;
	/* One more byte than the size, to notice a file that grows. */
	*length = (size_t)status.st_size + 1;
	buffer = malloc(*length);
	if (buffer == NULL)
		return NETFC_ERR_NOMEM;
	*length = fread(buffer, 1, *length, file);
	if (ferror(file)) {
		free(buffer);
		return NETFC_ERR_IO;
	}
	*data = buffer;
	return NETFC_OK;
}

int
netfc_read_file(const char *path, void **data, size_t *length)
{
	FILE *file = fopen(path, "rb");
	int error, saved;

	if (file == NULL)
		return NETFC_ERR_IO;
	error = read_all(file, data, length);
	saved = errno;
	fclose(file);
	errno = saved;
	return error;
}

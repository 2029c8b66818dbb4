/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables verify: compare files with a rebuild. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "file.h"
#include "json.h"
#include "netfc.h"
#include "set/set.h"
#include "show/show.h"

/* Offset of the set's name in a file (netfc_file.h). */
#define SET_NAME_OFFSET 16

/* A file's content. */
struct bytes {
	void *data;
	size_t length;
};

/* The first difference of a file from a rebuild. */
struct difference {
	bool found;
	size_t offset;     /* in bytes */
	const char *where; /* "header" or "checksum", unless in a table */
	char table[16];    /* table or page; empty unless in a table */
	long long key;     /* signed if the table's keys are */
	unsigned long long key_bits;
	uint32_t value, rebuilt;
};

/* The result for a file. */
struct verdict {
	const char *path;
	bool good;
	size_t bytes;
	char set[NETFC_SET_NAME_SIZE]; /* empty if it is not known */
	const char *error;             /* what is wrong with it as a file, or NULL */
	struct difference difference;
};

static const char usage[] =
	"Usage: netfc-tables verify [OPTION...] FILE...\n"
	"Rebuild the table set of each FILE and compare it with the file, byte for byte. Where\n"
	"they differ, print the table and key of the first difference.\n\n";
static const char notes[] = "Exit status: 0 all are right, 1 one or more are not, 2 failure.\n";

/* ---- bytes, and where they differ ------------------------------------------------------------ */

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

/* Find the table that an entry is in. `first` is the offset of the table's first entry. */
static void
locate_entry(const struct netfc_table *table, size_t first, const uint8_t *file,
	const uint8_t *rebuilt, struct difference *difference)
{
	unsigned width = entry_bytes(table), bits = netfc_table_key_bits(table);
	size_t index = (difference->offset - first) / width, at = first + index * width;
	uint32_t key = (uint32_t)index & ((UINT32_C(1) << bits) - 1);

	snprintf(difference->table, sizeof(difference->table), "%s",
		netfc_table_page_name(table, (unsigned)(index >> bits)));
	difference->key_bits = key;
	difference->key = netfc_table_key_signed(table) ? as_signed(key, bits) : (long long)key;
	difference->value = get_number(file + at, width);
	difference->rebuilt = get_number(rebuilt + at, width);
}

/* The tables are the file's last bytes before the checksum. */
static void
locate(const struct netfc_set *set, const struct bytes *file, const struct bytes *rebuilt,
	struct difference *difference)
{
	const struct netfc_table *table;
	size_t first = rebuilt->length - FILE_CHECKSUM_BYTES;

	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++)
		first -= table_bytes(table);
	difference->where = difference->offset < first ? "header" : "checksum";
	for (unsigned t = 0; (table = netfc_set_table(set, t)) != NULL; t++) {
		if (difference->offset >= first && difference->offset - first < table_bytes(table))
			locate_entry(table, first, file->data, rebuilt->data, difference);
		first += table_bytes(table);
	}
}

/* Find the first difference. `set` is the rebuilt set; headers state lengths, too. */
static void
find_difference(const struct netfc_set *set, const struct bytes *file, const struct bytes *rebuilt,
	struct difference *difference)
{
	size_t common = file->length < rebuilt->length ? file->length : rebuilt->length;
	const uint8_t *bytes = file->data, *right = rebuilt->data;
	size_t offset = 0;

	while (offset < common && bytes[offset] == right[offset])
		offset++;
	difference->found = offset < common;
	difference->offset = offset;
	if (difference->found)
		locate(set, file, rebuilt, difference);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The name of the set in a damaged file. */
static bool
stated_name(const struct bytes *file, char *name)
{
	struct netfc_set_id id;

	if (file->length < SET_NAME_OFFSET + NETFC_SET_NAME_SIZE)
		return false;
	memcpy(name, (const char *)file->data + SET_NAME_OFFSET, NETFC_SET_NAME_SIZE);
	return memchr(name, '\0', NETFC_SET_NAME_SIZE) != NULL &&
		netfc_set_parse_name(name, &id) == NETFC_OK;
}

/* Load the file and find its set's name, even if the checksum is wrong. */
static void
load(const struct bytes *file, struct verdict *verdict)
{
	struct netfc_set *set;
	int error = netfc_set_deserialize(file->data, file->length, &set);

	if (error == NETFC_OK) {
		strcpy(verdict->set, netfc_set_name(set));
		netfc_set_free(set);
		return;
	}
	verdict->error = netfc_strerror(error);
	if (error != NETFC_ERR_CHECKSUM || !stated_name(file, verdict->set))
		verdict->set[0] = '\0';
}

static int
compare_with_rebuild(const struct bytes *file, struct verdict *verdict)
{
	struct netfc_set *set;
	struct bytes rebuilt = {0};
	int error = netfc_set_build(verdict->set, &set);

	if (error == NETFC_OK) {
		error = netfc_set_serialize(set, &rebuilt.data, &rebuilt.length);
		if (error == NETFC_OK)
			find_difference(set, file, &rebuilt, &verdict->difference);
		netfc_set_free(set);
	}
	free(rebuilt.data);
	if (error == NETFC_OK)
		return STATUS_DONE;
	return report_error(
		STATUS_FAILED, "cannot build %s: %s", verdict->set, netfc_strerror(error));
}

static int
verify_file(const char *path, struct verdict *verdict)
{
	struct bytes file = {0};
	int error = netfc_read_file(path, &file.data, &file.length), status = STATUS_DONE;

	*verdict = (struct verdict){.path = path};
	if (error != NETFC_OK)
		verdict->error = load_error(error);
	else
		load(&file, verdict);
	if (verdict->set[0] != '\0')
		status = compare_with_rebuild(&file, verdict);
	verdict->good = verdict->error == NULL && !verdict->difference.found;
	verdict->bytes = file.length;
	free(file.data);
	return status;
}

static void
print_difference(const struct difference *difference)
{
	if (difference->table[0] == '\0')
		printf("; first difference: byte %zu, in the %s\n", difference->offset,
			difference->where);
	else
		printf("; first difference: table %s, key %lld (0x%llx): 0x%x, rebuilt: 0x%x\n",
			difference->table, difference->key, difference->key_bits,
			(unsigned)difference->value, (unsigned)difference->rebuilt);
}

static void
print_verdict(const struct verdict *verdict)
{
	char bytes[GROUPED_SIZE];

	if (verdict->good) {
		printf("%s: good: all %s bytes are those of a rebuild of %s\n", verdict->path,
			grouped(verdict->bytes, bytes), verdict->set);
		return;
	}
	printf("%s: BAD: %s", verdict->path,
		verdict->error != NULL ? verdict->error : "differs from a rebuild");
	if (verdict->difference.found)
		print_difference(&verdict->difference);
	else
		putchar('\n');
}

static json_t *
difference_json(const struct difference *difference)
{
	if (!difference->found)
		return json_null();
	if (difference->table[0] == '\0')
		return json_pack("{s:I, s:s}", "byte", (json_int_t)difference->offset, "where",
			difference->where);
	return json_pack("{s:I, s:s, s:I, s:I, s:I}", "byte", (json_int_t)difference->offset,
		"table", difference->table, "key", (json_int_t)difference->key, "value",
		(json_int_t)difference->value, "rebuilt", (json_int_t)difference->rebuilt);
}

static json_t *
verdict_json(const struct verdict *verdict)
{
	return json_pack("{s:o, s:b, s:s?, s:I, s:s?, s:o}", "file", json_text(verdict->path),
		"good", verdict->good, "set", verdict->set[0] != '\0' ? verdict->set : NULL,
		"bytes", (json_int_t)verdict->bytes, "error", verdict->error, "difference",
		difference_json(&verdict->difference));
}

static int
verify_all(char **paths, int count, json_t *json)
{
	int worst = STATUS_DONE;

	for (int p = 0; p < count; p++) {
		struct verdict verdict;
		int status = verify_file(paths[p], &verdict);

		if (status != STATUS_DONE)
			return status;
		if (json != NULL)
			json_array_append_new(json, verdict_json(&verdict));
		else
			print_verdict(&verdict);
		if (!verdict.good)
			worst = STATUS_INPUT;
	}
	return worst;
}

static int
run_verify(void *options, char **operands, int count)
{
	const bool json = ((const struct json_option *)options)->json;
	json_t *verdicts;
	int status;

	if (count == 0)
		return wrong_operands(&verify_command, "name one or more table-set files");
	verdicts = json ? json_array() : NULL;
	status = verify_all(operands, count, verdicts);
	if (json && status == STATUS_FAILED)
		json_decref(verdicts);
	else if (json && print_json(verdicts) != STATUS_DONE)
		status = STATUS_FAILED;
	return status;
}

const struct command verify_command = {
	.name = "verify",
	.summary = "compare table-set files with a rebuild, byte for byte",
	.usage = usage,
	.notes = notes,
	COMMAND_OPTIONS(json_option_rows, struct json_option),
	.run = run_verify,
};

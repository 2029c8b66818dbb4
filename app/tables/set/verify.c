/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables verify: compare files with a rebuild. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json/json_text.h"
#include "show/meaning.h"
#include "set/source.h"
#include "set/verify.h"

static const char help[] =
	"Usage: netfc-tables verify [OPTION...] FILE...\n"
	"Build the table set that each FILE holds again and compare it with the file, byte for\n"
	"byte. Where they differ, say which table, and which key of it, comes first.\n\n"
	"      --json  print JSON\n"
	"  -h, --help  print this\n\n"
	"Exit status: 0 all are right, 1 one or more are not, 2 failure.\n";

/* The name of the set in a damaged file. */
static bool
stated_name(const struct bytes *file, char *name)
{
	struct netfc_set_id id;

	if (file->length < SET_NAME_OFFSET + NETFC_SET_NAME_SIZE)
		return false;
	memcpy(name, file->data + SET_NAME_OFFSET, NETFC_SET_NAME_SIZE);
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
		error = netfc_set_serialize(set, (void **)&rebuilt.data, &rebuilt.length);
		if (error == NETFC_OK)
			find_difference(set, file, &rebuilt, &verdict->difference);
		netfc_set_free(set);
	}
	free(rebuilt.data);
	if (error == NETFC_OK)
		return STATUS_DONE;
	complain("cannot build %s: %s", verdict->set, netfc_strerror(error));
	return STATUS_FAILED;
}

static int
verify_file(const char *path, struct verdict *verdict)
{
	struct bytes file = {0};
	int status = STATUS_DONE;

	*verdict = (struct verdict){.path = path};
	verdict->error = read_bytes(path, &file);
	if (verdict->error == NULL) {
		load(&file, verdict);
		if (verdict->set[0] != '\0')
			status = compare_with_rebuild(&file, verdict);
	}
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
		printf("%s: good: all %s bytes are those of %s built again\n", verdict->path,
			grouped(verdict->bytes, bytes), verdict->set);
		return;
	}
	printf("%s: BAD: %s", verdict->path,
		verdict->error != NULL ? verdict->error : "not what a rebuild gives");
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
run_verify(int argc, char **argv)
{
	bool json = false;
	const struct flag flags[] = {{"json", 0, &json}, {0}};
	int status = take_flags(&verify_command, argc, argv, flags);
	json_t *verdicts;

	if (status != NO_MORE_OPTIONS)
		return status;
	if (argc == optind)
		return wrong_operands(&verify_command, "name one or more table-set files");
	verdicts = json ? json_array() : NULL;
	status = verify_all(argv + optind, argc - optind, verdicts);
	if (json && status == STATUS_FAILED)
		json_decref(verdicts);
	else if (json && print_json(verdicts) != STATUS_DONE)
		status = STATUS_FAILED;
	return status;
}

const struct command verify_command = {
	.name = "verify",
	.summary = "compare table-set files with a rebuild, byte for byte",
	.help = help,
	.run = run_verify,
};

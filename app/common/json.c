/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "replace.h"

struct json_file {
	const char *who;
	const char *path;
	bool is_standard; /* stdout, which is no replacement */
	struct replacement written;
};

static int
fail(const char *who, const char *path, const char *what)
{
	fprintf(stderr, "%s '%s': cannot %s: %s\n", who, path, what, strerror(errno));
	return -1;
}

static bool
is_standard_output(const char *path)
{
	return strcmp(path, "-") == 0;
}

int
json_file_open(const char *who, const char *path, struct json_file **result)
{
	struct json_file *file = calloc(1, sizeof(*file));

	if (file == NULL)
		return fail(who, path, "open");
	file->who = who;
	file->path = path;
	file->is_standard = is_standard_output(path);
	if (file->is_standard) {
		file->written.stream = stdout;
	} else if (netfc_replacement_open(path, &file->written) != 0) {
		free(file);
		return fail(who, path, "open");
	}
	*result = file;
	return 0;
}

static void
abandon(struct json_file *file)
{
	if (!file->is_standard)
		netfc_replacement_abandon(&file->written);
}

static bool
close_file(struct json_file *file)
{
	return file->is_standard ? fflush(stdout) == 0
				 : netfc_replacement_commit(&file->written) == 0;
}

int
json_file_write(struct json_file **opened, json_t *object)
{
	struct json_file *file = *opened;
	FILE *stream = file->written.stream;
	bool written =
		json_dumpf(object, stream, JSON_INDENT(2)) == 0 && fputc('\n', stream) != EOF;
	int result = 0;

	if (!written)
		abandon(file);
	if (!written || !close_file(file))
		result = fail(file->who, file->path, "write");
	free(file);
	*opened = NULL;
	json_decref(object);
	return result;
}

void
json_file_abandon(struct json_file *file)
{
	if (file == NULL)
		return;
	abandon(file);
	free(file);
}

const struct counter json_statuses[NETFC_STATUS_END] = {
#define STATUS_ROW_(symbol, value, name, meaning) [value] = {name, meaning},
	NETFC_STATUS_CODES(STATUS_ROW_)
#undef STATUS_ROW_
};

json_t *
json_counts(json_t *object, const struct counter *counters, unsigned int number, const void *counts)
{
	const uint64_t *count = counts;

	for (unsigned int n = 0; n < number; n++)
		json_object_set_new(object, counters[n].name, json_count(count[n]));
	return object;
}

json_t *
json_text(const char *text)
{
	json_t *string = json_string(text);
	char *copy;

	if (string != NULL)
		return string;
	copy = strdup(text);
	if (copy == NULL)
		return NULL;
	for (char *at = copy; *at != '\0'; at++) {
		if ((unsigned char)*at > 0x7f)
			*at = '?';
	}
	string = json_string(copy);
	free(copy);
	return string;
}

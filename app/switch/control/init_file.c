/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/changes.h"
#include "control/init_file.h"
#include "program.h"
#include "text_line.h"

#define MAX_WORDS 3
#define BLANKS " \t\r\n"

/* Cut a line into words; more than there can be are one too many. */
static unsigned int
split(char *line, char *words[MAX_WORDS + 1])
{
	unsigned int count = 0;
	char *rest = line, *word;

	while (count <= MAX_WORDS && (word = strtok_r(rest, BLANKS, &rest)) != NULL) {
		if (*word == '#')
			break;
		words[count++] = word;
	}
	return count;
}

/* A word as a request has it: netfc-ctl's "none" is no function, and a number is one. */
static json_t *
value_of(const char *field, const char *word)
{
	long long number;
	char *end;

	if (strcmp(field, "functions") == 0 && strcmp(word, "none") == 0)
		return json_string("");
	errno = 0;
	number = strtoll(word, &end, 10);
	if (strcmp(field, "value") == 0 && *end == '\0' && errno == 0)
		return json_integer(number);
	return json_string(word);
}

/* The fields of a command, in their order. */
static int
add_command(struct changes *changes, char *const *words, unsigned int count, FILE *errors)
{
	const struct change_kind *kind = change_kind_find(words[0]);
	unsigned int fields = kind != NULL && kind->fields[1] != NULL ? 2 : 1;
	json_t *request;
	int result = 0;

	if (kind == NULL) {
		fprintf(errors, "'%s' is no command for a file; those are:", words[0]);
		change_kinds_print(errors);
		return -1;
	}
	if (count != 1 + fields) {
		fprintf(errors, "'%s' takes %u word%s, not %s%u", words[0], fields,
			fields == 1 ? "" : "s", count > MAX_WORDS ? "at least " : "", count - 1);
		return -1;
	}
	request = json_object();
	for (unsigned int f = 0; f < fields && result == 0; f++)
		result = json_object_set_new(
			request, kind->fields[f], value_of(kind->fields[f], words[1 + f]));
	if (result != 0)
		fprintf(errors, "what follows '%s' is not UTF-8", words[0]);
	else
		result = changes_add(changes, kind, request, errors);
	json_decref(request);
	return result;
}

static int
add_line(struct changes *changes, char *line, FILE *errors)
{
	char *words[MAX_WORDS + 1];
	unsigned int count = split(line, words);

	return count == 0 ? 0 : add_command(changes, words, count, errors);
}

/* What is said of a line, without the program's name, which some of it has. */
static void
report_line(const char *path, unsigned long number, const char *said, FILE *errors)
{
	size_t name = strlen(program_invocation_short_name), length;

	if (strncmp(said, program_invocation_short_name, name) == 0 && said[name] == ':')
		said += name + strlen(": ");
	length = strlen(said);
	REPORT_TO(errors, "%s:%lu: %s%s", path, number, said,
		length > 0 && said[length - 1] == '\n' ? "" : "\n");
}

static int
add_named_line(
	struct changes *changes, const char *path, unsigned long number, char *line, FILE *errors)
{
	char *said = NULL;
	size_t said_length;
	FILE *memory = open_memstream(&said, &said_length);
	int result;

	if (memory == NULL)
		return REPORT_TO(errors, "%s:%lu: no memory\n", path, number);
	result = add_line(changes, line, memory);
	if (fclose(memory) == 0 && result != 0)
		report_line(path, number, said, errors);
	free(said);
	return result;
}

static int
add_file(struct changes *changes, FILE *file, const char *path, FILE *errors)
{
	char line[TEXT_LINE_BYTES];
	unsigned long number = 0;
	enum text_line read;
	int result = 0;

	errno = 0;
	while (result == 0 && (read = text_line_read(file, line)) != TEXT_STOPPED) {
		number++;
		if (read == TEXT_LINE)
			result = add_named_line(changes, path, number, line, errors);
		else
			result = REPORT_TO(errors, "%s:%lu: %s\n", path, number, TEXT_LINE_NONE);
	}
	if (result == 0 && ferror(file))
		return REPORT_TO(errors, "--init '%s': %s\n", path, strerror(errno));
	return result;
}

static int
take_file(struct app *app, const char *path, bool make, FILE *errors)
{
	struct changes *changes;
	FILE *file;
	int result;

	if (!changes_may_read(app, path, errors))
		return -1;
	file = fopen(path, "re");
	if (file == NULL)
		return REPORT_TO(errors, "--init '%s': %s\n", path, strerror(errno));
	changes = changes_begin(app);
	if (changes == NULL)
		result = REPORT_TO(errors, "--init '%s': no memory\n", path);
	else
		result = add_file(changes, file, path, errors);
	if (result == 0 && make)
		result = changes_make(changes, errors);
	changes_free(changes);
	fclose(file);
	return result;
}

int
init_file_check(struct app *app, const char *path, FILE *errors)
{
	return take_file(app, path, false, errors);
}

int
init_file_do(struct app *app, const char *path, FILE *errors)
{
	return take_file(app, path, true, errors);
}

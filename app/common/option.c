/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"

#define EXPECTED_SIZE 160
#define EXPECTED_PAIRS "KEY=VALUE[,KEY=VALUE...]"

int
report_to(FILE *errors, const char *format, ...)
{
	va_list arguments;

	fprintf(errors, "%s: ", program_invocation_short_name);
	va_start(arguments, format);
	vfprintf(errors, format, arguments);
	va_end(arguments);
	return -1;
}

int
option_refuse(FILE *errors, const char *option, const char *text, const char *expected)
{
	return report_to(errors, "--%s '%s': expected %s\n", option, text, expected);
}

bool
has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length > end && strcmp(name + length - end, suffix) == 0;
}

bool
is_path(const char *value, const char *suffix)
{
	return strchr(value, '/') != NULL || has_suffix(value, suffix);
}

static void *
field_of(const struct option_row *row, void *options)
{
	return (char *)options + row->offset;
}

/* ---- defaults ------------------------------------------------------------------------------ */

static void
set_number(const struct option_row *row, uint64_t number, void *field)
{
	switch (row->kind) {
	case OPTION_U16:
		*(uint16_t *)field = (uint16_t)number;
		break;
	case OPTION_U32:
		*(uint32_t *)field = (uint32_t)number;
		break;
	default:
		*(uint64_t *)field = number;
		break;
	}
}

void
option_set_defaults(const struct option_row *rows, unsigned int count, void *options)
{
	for (const struct option_row *row = rows; row < rows + count; row++) {
		void *field = field_of(row, options);

		if (row->keys != NULL)
			option_set_defaults(row->keys, row->key_count, field);
		else if (row->kind == OPTION_REAL)
			*(double *)field = row->preset_real;
		else if (row->kind == OPTION_TEXT)
			*(const char **)field = row->preset_text;
		else if (row->kind == OPTION_U16 || row->kind == OPTION_U32 ||
			row->kind == OPTION_U64)
			set_number(row, row->preset, field);
	}
}

/* ---- values -------------------------------------------------------------------------------- */

static int
take_number(FILE *errors, const char *option, const struct option_row *row, const char *text,
	void *field)
{
	char expected[EXPECTED_SIZE], *end;
	uint64_t number;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0 && number >= row->least &&
		number <= row->greatest) {
		set_number(row, number, field);
		return 0;
	}
	snprintf(expected, sizeof(expected), "a number from %" PRIu64 " to %" PRIu64, row->least,
		row->greatest);
	return option_refuse(errors, option, text, expected);
}

static int
take_real(FILE *errors, const char *option, const struct option_row *row, const char *text,
	double *field)
{
	char expected[EXPECTED_SIZE], *end;

	*field = strtod(text, &end);
	if (isdigit((unsigned char)text[0]) && strpbrk(text, "xX") == NULL && *end == '\0' &&
		*field >= row->least_real && *field <= row->greatest_real)
		return 0;
	snprintf(expected, sizeof(expected), "a decimal number from %g to %g", row->least_real,
		row->greatest_real);
	return option_refuse(errors, option, text, expected);
}

static int
take_path(FILE *errors, const char *option, const char *text, char *field)
{
	size_t length = strlen(text);

	if (length == 0 || length >= PATH_MAX)
		return option_refuse(errors, option, text, "the path of a file");
	memcpy(field, text, length + 1);
	return 0;
}

/* "a, b or c"; a number that has no name is left out. */
static void
write_alternatives(char *text, size_t size, const struct option_row *row)
{
	size_t length = 0;

	for (unsigned int n = 0; n < row->name_count && length < size; n++) {
		const char *separator = n == 0 ? "" : n + 1 < row->name_count ? ", " : " or ";
		const char *name = option_name(row, n);

		if (name != NULL)
			length += (size_t)snprintf(
				text + length, size - length, "%s%s", separator, name);
	}
}

/* Of the first `length` characters of the text. */
static int
find_name(FILE *errors, const char *option, const struct option_row *row, const char *text,
	size_t length, unsigned int *value)
{
	char expected[EXPECTED_SIZE], wrong[EXPECTED_SIZE];

	for (unsigned int n = 0; n < row->name_count; n++) {
		const char *name = option_name(row, n);

		if (name != NULL && strncmp(text, name, length) == 0 && name[length] == '\0') {
			*value = n + row->first_name;
			return 0;
		}
	}
	write_alternatives(expected, sizeof(expected), row);
	snprintf(wrong, sizeof(wrong), "%.*s", (int)length, text);
	return option_refuse(errors, option, wrong, expected);
}

/* NAME+NAME..., or all. */
static int
take_names(FILE *errors, const char *option, const struct option_row *row, const char *text,
	unsigned int *field)
{
	const char *plus;
	unsigned int value;

	*field = 0;
	if (strcmp(text, "all") == 0) {
		for (unsigned int n = 0; n < row->name_count; n++)
			*field |= (unsigned int)(option_name(row, n) != NULL)
				<< (n + row->first_name);
		return 0;
	}
	do {
		plus = strchrnul(text, '+');
		if (find_name(errors, option, row, text, (size_t)(plus - text), &value) != 0)
			return -1;
		*field |= 1u << value;
		text = plus + 1;
	} while (*plus != '\0');
	return 0;
}

/* A flag has a value only where it is no argument of the command line. */
static int
take_flag(FILE *errors, const char *option, const char *text, bool *field)
{
	*field = text == NULL || strcmp(text, "on") == 0;
	if (*field || strcmp(text, "off") == 0)
		return 0;
	return option_refuse(errors, option, text, "on or off");
}

static int take_keys(FILE *errors, const char *option, const struct option_row *row,
	const char *text, void *field);

static int
take_value(FILE *errors, const char *option, const struct option_row *row, const char *text,
	void *field)
{
	if (row->keys != NULL)
		return take_keys(errors, option, row, text, field);
	if (row->parse != NULL)
		return row->parse(errors, option, text, field);
	if (row->name_count > 0)
		return row->several ? take_names(errors, option, row, text, field)
				    : find_name(errors, option, row, text, strlen(text), field);
	switch (row->kind) {
	case OPTION_FLAG:
		return take_flag(errors, option, text, field);
	case OPTION_REAL:
		return take_real(errors, option, row, text, field);
	case OPTION_TEXT:
		if (text[0] == '\0')
			return option_refuse(errors, option, text, "a value");
		*(const char **)field = text;
		return 0;
	case OPTION_PATH:
		return take_path(errors, option, text, field);
	default:
		return take_number(errors, option, row, text, field);
	}
}

int
option_take(FILE *errors, const struct option_row *row, const char *text, void *options)
{
	return take_value(errors, row->name, row, text, field_of(row, options));
}

/* ---- keys ---------------------------------------------------------------------------------- */

static int
refuse_key(FILE *errors, const char *option, const struct option_row *row, const char *key)
{
	fprintf(errors, "%s: --%s '%s': unknown key; known keys:", program_invocation_short_name,
		option, key);
	for (unsigned int k = 0; k < row->key_count; k++)
		fprintf(errors, "%s %s", k > 0 ? "," : "", row->keys[k].name);
	fprintf(errors, "\n");
	return -1;
}

static int
take_key(FILE *errors, const char *option, const struct option_row *row, const char *key,
	const char *value, void *field)
{
	char name[64];

	for (unsigned int k = 0; k < row->key_count; k++) {
		if (strcmp(key, row->keys[k].name) != 0)
			continue;
		snprintf(name, sizeof(name), "%s %s", option, key);
		return take_value(
			errors, name, &row->keys[k], value, field_of(&row->keys[k], field));
	}
	return refuse_key(errors, option, row, key);
}

static int
take_pairs(FILE *errors, const char *option, const struct option_row *row, char *list, void *field)
{
	char *pair, *value;

	while ((pair = strsep(&list, ",")) != NULL) {
		value = strchr(pair, '=');
		if (value == NULL)
			return option_refuse(errors, option, pair, EXPECTED_PAIRS);
		*value++ = '\0';
		if (take_key(errors, option, row, pair, value, field) != 0)
			return -1;
	}
	return 0;
}

static int
take_keys(FILE *errors, const char *option, const struct option_row *row, const char *text,
	void *field)
{
	char *list;
	int status;

	*(bool *)field = true;
	if (text == NULL)
		return 0;
	if (text[0] == '\0')
		return option_refuse(errors, option, text, EXPECTED_PAIRS);
	list = strdup(text);
	if (list == NULL) {
		fprintf(errors, "%s: --%s: out of memory\n", program_invocation_short_name, option);
		return -1;
	}
	status = take_pairs(errors, option, row, list, field);
	free(list);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What --help says of options. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "option.h"

#define LINE_WIDTH 80
/* Where the meaning begins, of an option and of a key. */
#define OPTION_COLUMN 27
#define KEY_COLUMN 41
#define TEXT_SIZE 1024

/* Text that grows. */
struct text {
	size_t length;
	char text[TEXT_SIZE];
};

static void __attribute__((format(printf, 2, 3)))
append(struct text *text, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->text + text->length, TEXT_SIZE - text->length, format, arguments);
	va_end(arguments);
	text->length += (size_t)length;
	if (text->length >= TEXT_SIZE)
		text->length = TEXT_SIZE - 1;
}

static void
append_names(struct text *text, const struct option_row *row, const char *separator)
{
	for (unsigned int n = 0; n < row->name_count; n++)
		if (option_name(row, n) != NULL)
			append(text, "%s%s", n > 0 ? separator : "", option_name(row, n));
}

/* All that there are, as a set of bits. */
static uint64_t
all_names(const struct option_row *row)
{
	uint64_t all = 0;

	for (unsigned int n = 0; n < row->name_count; n++)
		all |= (uint64_t)(option_name(row, n) != NULL) << (n + row->first_name);
	return all;
}

/* The name that the field's default stands for; NULL: none. */
static const char *
default_name(const struct option_row *row)
{
	uint64_t value = row->preset;

	if (row->several && value == 0)
		return NULL;
	if (row->several && value == all_names(row))
		return "all";
	if (row->several)
		value = (uint64_t)__builtin_ctzll(value);
	value -= row->first_name;
	return value < row->name_count ? option_name(row, (unsigned int)value) : NULL;
}

static void
append_default(struct text *text, const struct option_row *row)
{
	/* An enum, whose names are not in the row. */
	if (row->parse != NULL && row->kind == OPTION_U32)
		return;
	if (row->keys != NULL)
		return;
	if (row->name_count > 0) {
		if (default_name(row) != NULL)
			append(text, " (default %s)", default_name(row));
		return;
	}
	switch (row->kind) {
	case OPTION_U16:
	case OPTION_U32:
	case OPTION_U64:
		if (row->preset >= row->least && row->preset <= row->greatest)
			append(text, " (default %" PRIu64 ")", row->preset);
		break;
	case OPTION_REAL:
		if (row->preset_real >= row->least_real && row->preset_real <= row->greatest_real)
			append(text, " (default %g)", row->preset_real);
		break;
	case OPTION_TEXT:
		if (row->preset_text != NULL)
			append(text, " (default %s)", row->preset_text);
		break;
	default:
		break;
	}
}

/* Words from the column on, in as many lines as they need. */
static void
print_words(FILE *out, const char *words, int column)
{
	int at = column;

	while (*words != '\0') {
		int length = (int)strcspn(words, " ");

		if (at > column && at + 1 + length > LINE_WIDTH) {
			fprintf(out, "\n%*s", column, "");
			at = column;
		}
		at += fprintf(out, "%s%.*s", at > column ? " " : "", length, words);
		words += length + (words[length] == ' ');
	}
	fprintf(out, "\n");
}

static void
print_row(FILE *out, const struct text *head, const struct option_row *row, int column)
{
	struct text meaning = {0};

	append(&meaning, "%s", row->meaning);
	if (row->several) {
		append(&meaning, ": ");
		append_names(&meaning, row, ", ");
		append(&meaning, "; several joined by +, or all");
	}
	append_default(&meaning, row);
	if ((int)head->length + 1 > column)
		fprintf(out, "%s\n%*s", head->text, column, "");
	else
		fprintf(out, "%-*s", column, head->text);
	print_words(out, meaning.text, column);
}

static void
print_key(FILE *out, const struct option_row *key)
{
	struct text head = {0};

	append(&head, "%*s%s", OPTION_COLUMN + 2, "", key->name);
	print_row(out, &head, key, KEY_COLUMN);
}

static void
print_option(FILE *out, const struct option_row *row, bool letters)
{
	struct text head = {0};

	if (row->letter != 0)
		append(&head, "  -%c, --%s", row->letter, row->name);
	else
		append(&head, "  %s--%s", letters ? "    " : "", row->name);
	if (row->value != NULL) {
		append(&head, " %s", row->value);
	} else if (row->name_count > 0) {
		append(&head, " ");
		append_names(&head, row, "|");
	}
	print_row(out, &head, row, OPTION_COLUMN);
	for (unsigned int k = 0; k < row->key_count; k++)
		print_key(out, &row->keys[k]);
}

void
option_print_usage(FILE *out, const struct option_row *rows, unsigned int count)
{
	bool letters = false;

	for (unsigned int r = 0; r < count; r++)
		letters = letters || rows[r].letter != 0;
	for (unsigned int r = 0; r < count; r++)
		print_option(out, &rows[r], letters);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "option.h"

#define MAX_OPTIONS 64

/* What getopt_long() gives for --help, --version, and the first row. */
enum {
	ID_HELP = 256,
	ID_VERSION,
	ID_ROWS,
};

/* The row of that number, over all tables; its table's fields are at `options`. */
static const struct option_row *
find_row(const struct command_line *line, unsigned int number, void **options)
{
	const struct option_table *table = line->tables;

	while (number >= table->count)
		number -= table++->count;
	*options = (char *)line->options + table->offset;
	return &table->rows[number];
}

static unsigned int
count_rows(const struct command_line *line)
{
	unsigned int count = 0;

	for (unsigned int t = 0; t < line->table_count; t++)
		count += line->tables[t].count;
	return count;
}

/* ---- usage ----------------------------------------------------------------------------------- */

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

static void
print_usage(const struct command_line *line)
{
	bool letters = false;
	void *options;

	for (unsigned int r = 0; r < count_rows(line); r++)
		letters = letters || find_row(line, r, &options)->letter != 0;
	fputs(line->summary, stdout);
	for (unsigned int r = 0; r < count_rows(line); r++)
		print_option(stdout, find_row(line, r, &options), letters);
	printf("  %s--help%s\n", letters ? "-h, " : "", line->version != NULL ? ", --version" : "");
	if (line->notes != NULL)
		printf("\n%s", line->notes);
}

/* ---- parsing --------------------------------------------------------------------------------- */

static enum options_result
answer_help(const struct command_line *line)
{
	print_usage(line);
	return OPTIONS_DONE;
}

static enum options_result
answer_version(const struct command_line *line)
{
	printf("%s %s\n", line->program, line->version);
	return OPTIONS_DONE;
}

bool
eal_is_option(const char *argument, const char *option)
{
	size_t length;

	if (strncmp(argument, "--", 2) != 0)
		return false;
	length = strcspn(argument + 2, "=");
	return length > 0 && strncmp(argument + 2, option, length) == 0;
}

bool
eal_has_option(int eal_argc, char *const *eal_argv, const char *option)
{
	for (int i = 1; i < eal_argc; i++) {
		if (eal_is_option(eal_argv[i], option))
			return true;
	}
	return false;
}

/* Before the "--", only --help and --version are the program's. */
static enum options_result
answer_without_eal(const struct command_line *line, int eal_argc, char **argv)
{
	for (int i = 1; i < eal_argc; i++) {
		if (eal_is_option(argv[i], "help") || strcmp(argv[i], "-h") == 0)
			return answer_help(line);
		if (eal_is_option(argv[i], "version") || strcmp(argv[i], "-v") == 0)
			return answer_version(line);
	}
	return OPTIONS_RUN;
}

static int
has_arg(const struct option_row *row)
{
	if (row->kind == OPTION_FLAG)
		return no_argument;
	return row->value != NULL && row->value[0] == '[' ? optional_argument : required_argument;
}

static bool
is_option(const char *argument, const char *name)
{
	size_t length = strlen(name);

	return strncmp(argument, "--", 2) == 0 && strncmp(argument + 2, name, length) == 0 &&
		(argument[2 + length] == '\0' || argument[2 + length] == '=');
}

/* An option of the program that stands before the "--" is unknown to the EAL. */
static int
refuse_own_before_dashes(const struct command_line *line, int eal_argc, char **argv)
{
	void *options;

	for (int i = 1; i < eal_argc; i++) {
		for (unsigned int r = 0; r < count_rows(line); r++) {
			if (!is_option(argv[i], find_row(line, r, &options)->name))
				continue;
			fprintf(stderr,
				"%s: %s belongs after the EAL options and a \"--\": %s [EAL options] "
				"-- %s\n",
				line->program, argv[i], line->program, argv[i]);
			return -1;
		}
	}
	return 0;
}

static int
take_row(const struct command_line *line, unsigned int number, int argc, char **argv)
{
	const char *value = optarg;
	const struct option_row *row;
	void *options;

	row = find_row(line, number, &options);
	/* An optional value may stand after the option, too: --option VALUE. */
	if (value == NULL && has_arg(row) == optional_argument && optind < argc &&
		argv[optind][0] != '-')
		value = argv[optind++];
	if (option_take(stderr, row, value, options) != 0)
		return -1;
	*line->given |= UINT64_C(1) << number;
	return 0;
}

/* What getopt_long() returns for a row. */
static int
id_of(const struct option_row *row, unsigned int number)
{
	return row->letter != 0 ? row->letter : ID_ROWS + (int)number;
}

/* The program's arguments: --help and --version win over anything wrong that comes after them. */
static enum options_result
parse_own(const struct command_line *line, int argc, char **argv)
{
	struct option longs[MAX_OPTIONS + 3] = {{"help", no_argument, NULL, ID_HELP}};
	char letters[2 * MAX_OPTIONS + 2] = "h", *letter = letters + 1;
	unsigned int count = count_rows(line), number;
	void *options;
	int id;

	for (unsigned int r = 0; r < count; r++) {
		const struct option_row *row = find_row(line, r, &options);

		longs[r + 1] = (struct option){row->name, has_arg(row), NULL, id_of(row, r)};
		if (row->letter != 0)
			*letter++ = (char)row->letter;
		if (row->letter != 0 && has_arg(row) == required_argument)
			*letter++ = ':';
	}
	if (line->version != NULL)
		longs[count + 1] = (struct option){"version", no_argument, NULL, ID_VERSION};
	optind = 1;
	while ((id = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (id == ID_HELP || id == 'h')
			return answer_help(line);
		if (id == ID_VERSION)
			return answer_version(line);
		for (number = 0; number < count; number++)
			if (id == longs[number + 1].val)
				break;
		/* getopt_long() has reported an option that it does not know. */
		if (number == count || take_row(line, number, argc, argv) != 0)
			return OPTIONS_WRONG;
	}
	return OPTIONS_RUN;
}

static enum options_result
refuse_operands(const struct command_line *line, int argc, char **argv)
{
	if (optind == argc)
		return OPTIONS_RUN;
	fprintf(stderr, "%s: unexpected argument '%s'\n", line->program, argv[optind]);
	return OPTIONS_WRONG;
}

static enum options_result
offer_help(const struct command_line *line, enum options_result result)
{
	if (result == OPTIONS_WRONG)
		fprintf(stderr, "Try '%s%s%s --help'.\n", line->program,
			line->command != NULL ? " " : "",
			line->command != NULL ? line->command : "");
	return result;
}

static void
set_defaults(const struct command_line *line)
{
	*line->given = 0;
	for (unsigned int t = 0; t < line->table_count; t++)
		option_set_defaults(line->tables[t].rows, line->tables[t].count,
			(char *)line->options + line->tables[t].offset);
}

enum options_result
command_line_parse(const struct command_line *line, int argc, char **argv, int *eal_argc)
{
	enum options_result result;
	int dashes = 1;

	set_defaults(line);
	while (dashes < argc && strcmp(argv[dashes], "--") != 0)
		dashes++;
	*eal_argc = dashes < argc ? dashes : argc;
	result = answer_without_eal(line, *eal_argc, argv);
	if (result != OPTIONS_RUN)
		return result;
	if (refuse_own_before_dashes(line, *eal_argc, argv) != 0)
		return OPTIONS_WRONG;
	if (dashes >= argc)
		return OPTIONS_RUN;
	/* getopt_long() names the program in its errors. */
	argv[dashes] = (char *)(uintptr_t)line->program;
	result = parse_own(line, argc - dashes, argv + dashes);
	if (result == OPTIONS_RUN)
		result = refuse_operands(line, argc - dashes, argv + dashes);
	return offer_help(line, result);
}

enum options_result
command_line_parse_plain(const struct command_line *line, int argc, char **argv, int *operands)
{
	enum options_result result;
	char *name = argv[0];

	set_defaults(line);
	/* getopt_long() names the program in its errors. */
	argv[0] = (char *)(uintptr_t)line->program;
	result = parse_own(line, argc, argv);
	argv[0] = name;
	*operands = optind;
	return offer_help(line, result);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
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

static bool
has_letters(const struct command_line *line)
{
	void *options;

	for (unsigned int r = 0; r < count_rows(line); r++)
		if (find_row(line, r, &options)->letter != 0)
			return true;
	return false;
}

static void
print_usage(const struct command_line *line)
{
	fputs(line->summary, stdout);
	for (unsigned int t = 0; t < line->table_count; t++)
		option_print_usage(stdout, line->tables[t].rows, line->tables[t].count);
	printf("  %s--help%s\n", has_letters(line) ? "-h, " : "",
		line->version != NULL ? ", --version" : "");
	if (line->notes != NULL)
		printf("\n%s", line->notes);
}

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

/* Before the "--", only --help and --version are the program's. */
static enum options_result
answer_without_eal(const struct command_line *line, int eal_argc, char **argv)
{
	for (int i = 1; i < eal_argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return answer_help(line);
		if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-v") == 0)
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
				"%s: %s belongs behind the EAL options and a \"--\": %s [EAL options] "
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
	/* An optional value may stand behind the option, too: --option VALUE. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables: builds, shows, checks and measures table sets, and computes with them. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "command.h"

static const struct command *const commands[] = {
	&build_command,
	&list_command,
	&show_command,
	&calc_command,
	&verify_command,
	&size_command,
	&export_command,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void
print_help(FILE *stream)
{
	fputs("Usage: netfc-tables COMMAND [OPTION...] [OPERAND...]\n"
	      "Build, show, check, measure and export NetFC's table sets, and compute with them.\n\n"
	      "Commands:\n",
		stream);
	for (size_t c = 0; c < COMMANDS; c++)
		fprintf(stream, "  %-7s %s\n", commands[c]->name, commands[c]->summary);
	fputs("\nnetfc-tables COMMAND --help says more; so does man netfc-tables.\n"
	      "Each command has --json for output that programs read.\n"
	      "Exit status: 0 done, 1 wrong usage or bad input, 2 failure.\n",
		stream);
}

static int
run_command(int argc, char **argv)
{
	for (size_t c = 0; c < COMMANDS; c++) {
		if (strcmp(argv[0], commands[c]->name) == 0)
			return commands[c]->run(argc, argv);
	}
	report_error("no command '%s'; see netfc-tables --help", argv[0]);
	return STATUS_INPUT;
}

static int
run(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return STATUS_INPUT;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help(stdout);
		return STATUS_DONE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts("netfc-tables " NETFC_VERSION);
		return STATUS_DONE;
	}
	return run_command(argc - 1, argv + 1);
}

int
main(int argc, char **argv)
{
	int status = run(argc, argv);

	if ((fflush(stdout) != 0 || ferror(stdout)) && status != STATUS_FAILED) {
		report_error("cannot write to standard output: %s", strerror(errno));
		status = STATUS_FAILED;
	}
	return status;
}

void
report_error(const char *what, ...)
{
	va_list args;

	fputs("netfc-tables: ", stderr);
	va_start(args, what);
	vfprintf(stderr, what, args);
	va_end(args);
	fputc('\n', stderr);
}

const struct option_row json_option_rows[1] = {
	{"json", OPTION_FIELD(struct json_option, json), .meaning = "print JSON"},
};

static bool
is_negative_number(const char *argument)
{
	const char *number = argument + 1;

	return argument[0] == '-' &&
		(isdigit((unsigned char)*number) || *number == '.' ||
			strncasecmp(number, "inf", 3) == 0 || strncasecmp(number, "nan", 3) == 0);
}

static bool
is_option(const char *argument)
{
	return argument[0] == '-' && argument[1] != '\0' && !is_negative_number(argument);
}

/* Put options before operands, in order. Behind "--" all are operands. Returns how many options. */
static int
options_first(int argc, char **argv)
{
	int options = 1;

	for (int a = 1; a < argc; a++) {
		char *argument = argv[a];
		bool last = strcmp(argument, "--") == 0;

		if (!is_option(argument))
			continue;
		memmove(&argv[options + 1], &argv[options], (size_t)(a - options) * sizeof(*argv));
		argv[options++] = argument;
		if (last)
			break;
	}
	return options;
}

static bool
has_values(const struct command *command)
{
	for (unsigned int r = 0; r < command->row_count; r++)
		if (command->rows[r].kind != OPTION_FLAG)
			return true;
	return false;
}

enum options_result
take_options(const struct command *command, int argc, char **argv, void *options, int *operands)
{
	const struct option_table table = {command->rows, command->row_count, 0};
	uint64_t given;
	const struct command_line line = {
		.program = "netfc-tables",
		.command = command->name,
		.summary = command->usage,
		.notes = command->notes,
		.tables = &table,
		.table_count = 1,
		.options = options,
		.given = &given,
	};

	if (!has_values(command))
		argc = options_first(argc, argv);
	return command_line_parse_plain(&line, argc, argv, operands);
}

int
out_of_memory(void)
{
	report_error("out of memory");
	return STATUS_FAILED;
}

int
wrong_operands(const struct command *command, const char *what)
{
	report_error("%s: %s; see netfc-tables %s --help", command->name, what, command->name);
	return STATUS_INPUT;
}

int
print_json(json_t *value)
{
	int failed;

	if (value == NULL)
		return out_of_memory();
	failed = json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	putchar('\n');
	json_decref(value);
	if (failed)
		report_error("cannot write JSON to standard output: %s", strerror(errno));
	return failed ? STATUS_FAILED : STATUS_DONE;
}

const char *
grouped(unsigned long long number, char *text)
{
	char digits[GROUPED_SIZE];
	int length = snprintf(digits, sizeof(digits), "%llu", number);
	char *at = text;

	for (int d = 0; d < length; d++) {
		if (d > 0 && (length - d) % 3 == 0)
			*at++ = ',';
		*at++ = digits[d];
	}
	*at = '\0';
	return text;
}

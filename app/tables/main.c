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
#include "output.h"

static const struct command *const commands[] = {
	&build_command,
	&list_command,
	&show_command,
	&calc_command,
	&verify_command,
	&size_command,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void
print_help(FILE *stream)
{
	fputs("Usage: netfc-tables COMMAND [OPTION...] [OPERAND...]\n"
	      "Build, show, check and measure NetFC's table sets, and compute with them.\n\n"
	      "Commands:\n",
		stream);
	for (size_t c = 0; c < COMMANDS; c++)
		fprintf(stream, "  %-7s %s\n", commands[c]->name, commands[c]->summary);
	fputs("\nSee also netfc-tables COMMAND --help and man netfc-tables.\n"
	      "Each command has --json for machine-readable output.\n"
	      "Exit status: 0 done, 1 wrong usage or bad input, 2 failure.\n",
		stream);
}

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

/*
 * Options may stand anywhere. If none of a subcommand's has a value, negative numbers are operands.
 * argv[0] is the subcommand's name; operands stand after the options afterwards.
 */
static enum options_result
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

static int
run_command(const struct command *command, int argc, char **argv)
{
	void *options = calloc(1, command->options_size);
	enum options_result result;
	int first, status;

	if (options == NULL)
		return out_of_memory();
	result = take_options(command, argc, argv, options, &first);
	status = result == OPTIONS_RUN ? command->run(options, argv + first, argc - first)
				       : (int)options_exit_status(result);
	free(options);
	return status;
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
	for (size_t c = 0; c < COMMANDS; c++) {
		if (strcmp(argv[1], commands[c]->name) == 0)
			return run_command(commands[c], argc - 1, argv + 1);
	}
	if (strcmp(argv[1], "export") == 0)
		return report_error(
			STATUS_INPUT, "entries for P4 are written by netfc-p4, of python3-netfc");
	return report_error(STATUS_INPUT, "no command '%s'; see netfc-tables --help", argv[1]);
}

int
main(int argc, char **argv)
{
	output_start();
	return output_finish("netfc-tables", run(argc, argv));
}

int
report_error(enum status status, const char *what, ...)
{
	va_list args;

	fputs("netfc-tables: ", stderr);
	va_start(args, what);
	vfprintf(stderr, what, args);
	va_end(args);
	fputc('\n', stderr);
	return (int)status;
}

const struct option_row json_option_rows[1] = {
	{"json", OPTION_FIELD(struct json_option, json), .meaning = "print JSON"},
};

int
out_of_memory(void)
{
	return report_error(STATUS_FAILED, "out of memory");
}

int
wrong_operands(const struct command *command, const char *what)
{
	return report_error(STATUS_INPUT, "%s: %s; see netfc-tables %s --help", command->name, what,
		command->name);
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
	return failed ? report_error(STATUS_FAILED, "cannot write JSON to standard output: %s",
				strerror(errno))
		      : STATUS_DONE;
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

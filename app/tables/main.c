/* SPDX-License-Identifier: BSD-3-Clause */
/* netfc-tables: builds, shows, checks and measures table sets, and computes with them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

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

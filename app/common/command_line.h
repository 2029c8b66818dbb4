/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

/**
 * @file
 * The command line of a DPDK program, which is the EAL's options, "--", and the program's own; or
 * of one without the EAL, which is options and operands.
 */

#include "option.h"

/** Rows of options whose fields are in a struct at an offset of the program's. */
struct option_table {
	const struct option_row *rows;
	unsigned int count;
	size_t offset;
};

/** A program's command line. At most 64 options, besides --help and --version. */
struct command_line {
	const char *program;
	const char *command; /**< behind the program's name; NULL: it has no commands */
	const char *version; /**< NULL: there is no --version */
	const char *summary; /**< what the usage begins with */
	const char *notes;   /**< what it ends with; NULL: nothing */
	const struct option_table *tables;
	unsigned int table_count;
	void *options;
	uint64_t *given; /**< a bit for each option that was given, in the tables' order */
};

/** Outcome of parsing. */
enum options_result {
	OPTIONS_RUN,
	OPTIONS_DONE,  /**< --help or --version was answered */
	OPTIONS_WRONG, /**< reported on stderr */
};

/** Exit statuses of the programs. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_CONFIGURATION = 1, /**< wrong usage or configuration */
	EXIT_RUNNING = 2,       /**< a failure while running */
};

/** The exit status if there is nothing to run. */
static inline enum exit_status
options_exit_status(enum options_result result)
{
	return result == OPTIONS_DONE ? EXIT_DONE : EXIT_CONFIGURATION;
}

/**
 * Set all options to their defaults and parse a command line. Without a "--" all of it is the
 * EAL's, but for --help and --version.
 *
 * @param eal_argc where the number of leading arguments that are the EAL's goes
 */
enum options_result
command_line_parse(const struct command_line *line, int argc, char **argv, int *eal_argc);

/**
 * Set all options to their defaults and parse a command line without the EAL.
 *
 * @param operands where the index of the first operand goes
 */
enum options_result
command_line_parse_plain(const struct command_line *line, int argc, char **argv, int *operands);

#endif /* COMMAND_LINE_H */

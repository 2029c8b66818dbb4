/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

/** @file A command line of a DPDK program: the EAL's options, "--", and the program's own. */

#include <getopt.h>
#include <stdio.h>

/** Ids of the options that every program has; its own ids are greater. */
enum common_option {
	OPTION_HELP = 256,
	OPTION_VERSION,
	OPTION_OWN,
};

/** A program's command line. */
struct command_line {
	const char *program;
	const char *version;
	const struct option
		*options; /**< the program's, for getopt_long(), with help and version */
	void (*print_usage)(FILE *out);
	/** Take an option's value; 0, or -1 with the reason on stderr. */
	int (*take)(int id, const char *text, void *arg);
	void *arg; /**< handed to take() */
};

/** What parsing came to. */
enum options_result {
	OPTIONS_RUN,
	OPTIONS_DONE,  /**< --help or --version was answered */
	OPTIONS_WRONG, /**< said on stderr */
};

/** What the programs end with. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_CONFIGURATION = 1, /**< wrong usage or configuration */
	EXIT_RUNNING = 2,       /**< a failure while running */
};

/** What to end with if there is nothing to run. */
static inline enum exit_status
options_exit_status(enum options_result result)
{
	return result == OPTIONS_DONE ? EXIT_DONE : EXIT_CONFIGURATION;
}

/**
 * Parse a command line. Without a "--" all of it is the EAL's, but for --help and --version.
 *
 * @param eal_argc where the number of leading arguments that are the EAL's goes
 */
enum options_result
command_line_parse(const struct command_line *line, int argc, char **argv, int *eal_argc);

#endif /* COMMAND_LINE_H */

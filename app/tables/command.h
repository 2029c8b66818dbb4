/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMAND_H
#define COMMAND_H

/** @file What all subcommands share: interface, options, error messages, exit statuses. */

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>

/** Exit statuses. */
enum status {
	STATUS_DONE = 0,
	STATUS_INPUT = 1,  /**< wrong usage or bad input */
	STATUS_FAILED = 2, /**< another failure, e.g. a file that cannot be written */
};

/** A subcommand. */
struct command {
	const char *name;
	const char *summary; /**< one line */
	const char *help;    /**< all that --help prints */
	/** argv[0] is the subcommand's name. Gives the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct command build_command;
extern const struct command list_command;
extern const struct command show_command;
extern const struct command calc_command;
extern const struct command verify_command;
extern const struct command size_command;
extern const struct command export_command;

/** Print an error message to stderr, after the program's name and with a newline. */
void report_error(const char *what, ...) __attribute__((format(printf, 1, 2)));

/** The options that every subcommand has; the first of its `struct option`s. */
#define COMMON_OPTIONS {"help", no_argument, NULL, 'h'}, {"json", no_argument, NULL, 'j'}

/** What next_option() returns after the last option. */
#define NO_MORE_OPTIONS (-1)

/**
 * The next option, as getopt_long() gives it. --help is answered and a wrong option is reported
 * here; after either, the caller ends with option_status().
 */
int next_option(const struct command *command, int argc, char **argv, const char *letters,
	const struct option *options);

/** The exit status for an option that the caller does not know. */
int option_status(int option);

/** An option that takes no value. */
struct flag {
	const char *name;
	int letter; /**< its short form; 0 if it has none */
	bool *given;
};

/** Maximum number of flags of a command. */
#define MAX_FLAGS 4

/**
 * Take the options of a command that has flags only. --help is answered and a wrong option is
 * reported.
 *
 * @param flags up to MAX_FLAGS without --help; the last has no name
 * @return NO_MORE_OPTIONS, or the exit status to end with
 */
int take_flags(const struct command *command, int argc, char **argv, const struct flag *flags);

/**
 * Put options before operands, keeping the order of each. Negative numbers are operands, and so is
 * everything after "--". For commands whose options have no values.
 *
 * @return the number of options in argv, argv[0] included
 */
int options_first(int argc, char **argv);

/** Report missing or too many operands. Gives the exit status. */
int wrong_operands(const struct command *command, const char *what);

/** Print a value and release it. NULL stands for "out of memory". Gives the exit status. */
int print_json(json_t *value);

/** Size of a number with its thousands separated. */
#define GROUPED_SIZE 32

/** A number with its thousands separated, in `text`, which has GROUPED_SIZE characters. */
const char *grouped(unsigned long long number, char *text);

#endif /* COMMAND_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMAND_H
#define COMMAND_H

/** @file What all subcommands share: interface, options, error messages, exit statuses. */

#include <jansson.h>
#include <stdbool.h>

#include "option.h"

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
	const char *usage;   /**< what --help begins with, before the options */
	const char *notes;   /**< what it ends with; NULL: nothing */
	const struct option_row *rows;
	unsigned int row_count;
	/** argv[0] is the subcommand's name. Gives the exit status. */
	int (*run)(int argc, char **argv);
};

/** A subcommand's options, in an array. */
#define COMMAND_ROWS(array) .rows = (array), .row_count = sizeof(array) / sizeof((array)[0])

extern const struct command build_command;
extern const struct command list_command;
extern const struct command show_command;
extern const struct command calc_command;
extern const struct command verify_command;
extern const struct command size_command;
extern const struct command export_command;

/** Print an error message to stderr, after the program's name and with a newline. */
void report_error(const char *what, ...) __attribute__((format(printf, 1, 2)));

/**
 * Take a subcommand's options, which may stand anywhere. --help is answered and a wrong option is
 * reported. If no option has a value, negative numbers are operands.
 *
 * @param operands where the index of the first operand goes; operands stand behind the options now
 */
enum options_result
take_options(const struct command *command, int argc, char **argv, void *options, int *operands);

/** The options of subcommands that have --json alone. */
struct json_option {
	bool json;
};

extern const struct option_row json_option_rows[1];

/** Report that there is no memory. Gives the exit status. */
int out_of_memory(void);

/** Report missing or too many operands. Gives the exit status. */
int wrong_operands(const struct command *command, const char *what);

/** Print a value and release it. NULL stands for "out of memory". Gives the exit status. */
int print_json(json_t *value);

/** Size of a number with its thousands separated. */
#define GROUPED_SIZE 32

/** A number with its thousands separated, in `text`, which has GROUPED_SIZE characters. */
const char *grouped(unsigned long long number, char *text);

#endif /* COMMAND_H */

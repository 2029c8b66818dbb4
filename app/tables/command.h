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
	size_t options_size; /**< of what the rows set */
	/** Run with these options and operands. Gives the exit status. */
	int (*run)(void *options, char **operands, int count);
};

/** A subcommand's options, in an array, and the struct that they set. */
#define COMMAND_OPTIONS(array, type)                                      \
	.rows = (array), .row_count = sizeof(array) / sizeof((array)[0]), \
	.options_size = sizeof(type)

extern const struct command build_command;
extern const struct command list_command;
extern const struct command show_command;
extern const struct command calc_command;
extern const struct command verify_command;
extern const struct command size_command;

/**
 * Print an error message to stderr, after the program's name and with a newline. Gives the exit
 * status that it is told.
 */
int report_error(enum status status, const char *what, ...) __attribute__((format(printf, 2, 3)));

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

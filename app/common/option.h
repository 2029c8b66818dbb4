/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTION_H
#define OPTION_H

/** @file Options as tables, and the command lines that have them. */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Options as tables: a row has all there is to know about an option. Defaults, parsing, error
 * messages and usage come from it.
 */

/** Type of the field that an option's value goes into. */
enum option_kind {
	OPTION_FLAG, /**< bool */
	OPTION_U16,
	OPTION_U32, /**< enums, too */
	OPTION_U64,
	OPTION_REAL, /**< double */
	OPTION_TEXT, /**< const char *, which stays argv's */
	OPTION_PATH, /**< char[PATH_MAX] */
	OPTION_OTHER,
};

/**
 * Parses a value of a kind of its own.
 *
 * @param option its name, for messages
 * @param field where the value goes
 * @return 0, or -1 with the reason on `errors`
 */
typedef int (*option_parse)(FILE *errors, const char *option, const char *text, void *field);

/** An option, or a key of an option that takes KEY=VALUE,... */
struct option_row {
	const char *name;
	int letter;          /**< its short form; 0: none */
	unsigned int scope;  /**< bits that the program gives a meaning */
	const char *value;   /**< stands for the value in the usage; in brackets: optional */
	const char *meaning; /**< for the usage, which adds the default */
	enum option_kind kind;
	size_t offset;
	union {
		/** Whole numbers. A default outside the range means: none. */
		struct {
			uint64_t least, greatest, preset;
		};
		struct {
			double least_real, greatest_real, preset_real;
		};
		const char *preset_text;
	};
	const char *const *names; /**< values are names: the index goes into the field */
	const char *(*name_of)(unsigned int value); /**< or has the names: NULL for none */
	unsigned int name_count;
	unsigned int first_name; /**< is added to the index */
	bool several;            /**< names joined by +, or "all": the field is a set of bits */
	option_parse parse;      /**< in place of what kind and names say; NULL: that */
	const struct option_row *keys; /**< NULL: none; the field is a struct that begins with a
					    bool: the option was given */
	unsigned int key_count;
};

/** Offset and kind of a field. */
#define OPTION_FIELD(type, field)               \
	.offset = offsetof(type, field),        \
	.kind = _Generic(((type *)NULL)->field, \
		bool: OPTION_FLAG,              \
		uint16_t: OPTION_U16,           \
		uint32_t: OPTION_U32,           \
		uint64_t: OPTION_U64,           \
		double: OPTION_REAL,            \
		const char *: OPTION_TEXT,      \
		char *: OPTION_PATH,            \
		default: OPTION_OTHER)

/** Range and default of a whole number. */
#define OPTION_RANGE(first, last, usual) .least = (first), .greatest = (last), .preset = (usual)

/** Range and default of a decimal number. */
#define OPTION_REAL_RANGE(first, last, usual) \
	.least_real = (first), .greatest_real = (last), .preset_real = (usual)

/** Names in an array, and the index that is the default. */
#define OPTION_NAMES(array, usual) \
	.names = (array), .name_count = sizeof(array) / sizeof((array)[0]), .preset = (usual)

/** Names that a function has, of values from `first` to before `end`; and the default. */
#define OPTION_NAMED_BY(function, first, end, usual)                                 \
	.name_of = (function), .first_name = (first), .name_count = (end) - (first), \
	.preset = (usual)

/** The name of a row's value at this index; NULL: none. */
static inline const char *
option_name(const struct option_row *row, unsigned int index)
{
	return row->name_of != NULL ? row->name_of(row->first_name + index) : row->names[index];
}

/** Keys in an array. */
#define OPTION_KEYS(array) .keys = (array), .key_count = sizeof(array) / sizeof((array)[0])

/** Set all fields to their defaults; those without one stay as they are. */
void option_set_defaults(const struct option_row *rows, unsigned int count, void *options);

/**
 * Parse an option's value.
 *
 * @param text NULL: there is none
 * @return 0, or -1 with the reason on `errors`
 */
int option_take(FILE *errors, const struct option_row *row, const char *text, void *options);

/**
 * Report on a stream what is wrong, after the name of the program: the one that runs, as the switch
 * also runs as a part of others.
 *
 * @return -1
 */
int report_to(FILE *errors, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define REPORT_TO(errors, ...) report_to((errors), __VA_ARGS__)
#define REPORT(...) report_to(stderr, __VA_ARGS__)

/** Whether a name ends in a suffix, and is more than it. */
bool has_suffix(const char *name, const char *suffix);

/** Whether a value is a path, not a name: it has a '/' in it or ends in a suffix. */
bool is_path(const char *value, const char *suffix);

/** Report what an option's value should have been. Returns -1. */
int option_refuse(FILE *errors, const char *option, const char *text, const char *expected);

/*
 * The command line of a DPDK program, which is the EAL's options, "--", and the program's own; or
 * of one without the EAL, which is options and operands.
 */

/** Rows of options whose fields are in a struct at an offset of the program's. */
struct option_table {
	const struct option_row *rows;
	unsigned int count;
	size_t offset;
};

/** A program's command line. At most 64 options, besides --help and --version. */
struct command_line {
	const char *program;
	const char *command; /**< after the program's name; NULL: it has no commands */
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
	EXIT_LATER = 75,        /**< a service may try again: EX_TEMPFAIL of sysexits.h */
};

/**
 * The exit status if what is needed is not there yet: 75 tells a service manager, which sets
 * NOTIFY_SOCKET, to try again. To all others it is the configuration that is wrong.
 */
static inline enum exit_status
exit_status_later(void)
{
	return getenv("NOTIFY_SOCKET") != NULL ? EXIT_LATER : EXIT_CONFIGURATION;
}

/** The exit status if there is nothing to run. */
static inline enum exit_status
options_exit_status(enum options_result result)
{
	return result == OPTIONS_DONE ? EXIT_DONE : EXIT_CONFIGURATION;
}

/**
 * Whether an argument of the EAL's is that long option, perhaps abbreviated, as getopt_long() takes
 * it. Where an abbreviation stands for several options, the EAL refuses it.
 *
 * @param option its name, without dashes
 */
bool eal_is_option(const char *argument, const char *option);

/** Whether one of the EAL's arguments is that long option. */
bool eal_has_option(int eal_argc, char *const *eal_argv, const char *option);

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

#endif /* OPTION_H */

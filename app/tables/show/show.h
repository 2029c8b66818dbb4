/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHOW_H
#define SHOW_H

/**
 * @file
 * What is shown: numbers, operations, entries of tables, and how a result comes about.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "command.h"
#include "encoding.h"
#include "netfc.h"

/* What slots hold, numbers of a format or fixed-point numbers, as text and as JSON. */

/** A slot of that format. */
struct netfc_slot format_slot(const struct netfc_format *format);

/** Read a slot, as parse_encoding() or a fixed-point number. */
bool parse_slot(struct netfc_slot slot, const char *text, bool hex, uint32_t *bits);

/** A slot's value, in `text`, which has NUMBER_SIZE characters. */
const char *slot_text(struct netfc_slot slot, uint32_t bits, char *text);

/** Hex digits of a slot. */
int slot_digits(struct netfc_slot slot);

/** A slot's bits and value as an object. */
json_t *slot_json(struct netfc_slot slot, uint32_t bits);

/** Those of a result, and its flags. */
json_t *result_json(struct netfc_slot slot, struct netfc_result result);

/*
 * The meaning of words in tables and in fields of lanes. Tables and fields are recognised by their
 * names; words of others are just bits.
 */

/** Kinds of words. */
enum meaning {
	MEANS_BITS = 0,   /**< unknown */
	MEANS_NUMBER,     /**< an encoding, or a magnitude */
	MEANS_LOG_WORD,   /**< k * log2 of something */
	MEANS_MI_WORD,    /**< the same, or "no result" */
	MEANS_MI_KEY,     /**< a log word, and above it the miTable's page */
	MEANS_DECIDE_KEY, /**< the decision table's key */
	MEANS_DECISION,   /**< the decision table's word */
	MEANS_PRODUCT,    /**< the same for mul and div, which have no miTable */
	MEANS_FLAGS,      /**< exception flags */
};

/** Size of a meaning as text. */
#define MEANING_SIZE 128

/** What a table's keys mean. */
enum meaning key_meaning(const struct netfc_table *table);

/** What the value of a table's entry means. */
enum meaning value_meaning(const struct netfc_table *table, uint32_t index);

/** What a field of the program for a branch means. */
enum meaning field_meaning(const struct netfc_set *set, enum netfc_branch branch, unsigned field);

/** At least so many hex digits a word of that meaning has. */
int meaning_digits(const struct netfc_set *set, enum meaning meaning);

/** The meaning as text, in `text`, which has MEANING_SIZE characters; empty for MEANS_BITS. */
const char *
meaning_text(const struct netfc_set *set, enum meaning meaning, uint32_t word, char *text);

/** The meaning as JSON; null for MEANS_BITS. */
json_t *meaning_json(const struct netfc_set *set, enum meaning meaning, uint32_t word);

/** The name of an operand's class: zero, finite, inf, NaN or NaR. */
const char *class_name(const struct netfc_format *format, unsigned class);

/** The value of a two's complement word of `bits` bits. */
int32_t as_signed(uint32_t word, unsigned bits);

/* The operation OP X Y of a command line or of a line of input. */

/** x (op) y, operands as encodings. */
struct operation {
	enum netfc_op op;
	uint32_t x, y;
};

/** Read OP, and report a wrong one with the command's name. Gives the exit status. */
int read_op(const struct command *command, const char *text, enum netfc_op *op);

/**
 * Read OP, X and Y, and report a wrong one with the command's name. Gives the exit status.
 *
 * @param words OP, X, Y
 * @param hex X and Y are hex digits without 0x
 */
int read_operation(const struct command *command, const struct netfc_format *format,
	char *const words[3], bool hex, struct operation *operation);

/* A table set's result compared with the correctly rounded one. */

/** NetFC's result of an operation, beside the correctly rounded one. */
struct outcome {
	const struct netfc_format *format;
	struct operation operation;
	struct netfc_result netfc, exact;
	/** |z - exact| / |exact|; may be infinite or NaN. */
	double relative_error;
	/** exp(-relative error), the paper's metric; 0 if the relative error is infinite or NaN. */
	double accuracy;
};

/** Compare a result with the correctly rounded one. */
struct outcome compare_result(const struct netfc_format *format, const struct operation *operation,
	struct netfc_result netfc);

/** All of an outcome as an object; `set` is the table set's name. */
json_t *outcome_json(const struct outcome *outcome, const char *set);

/** The two lines that compare NetFC's result with the exact one, and one with the error. */
void print_outcome(const struct outcome *outcome);

/*
 * What is computed without a table set: functions of one number, and the operations of
 * netfc_extra.h.
 */

/** A function, or an operation of netfc_extra.h. */
struct extended {
	const struct netfc_function *function; /**< NULL: it is `extra` */
	enum netfc_extra_op extra;
};

/** Find a function or operation by its name. */
bool find_extended(const char *name, struct extended *extended);

/** Whether a format has that name. */
bool is_format(const char *name);

/** Whether a function or an operation has that name. */
bool is_extended(const char *name);

/**
 * The format that the first of a command's operands names, a format's name, a table set's or its
 * file's, which is to have the function or operation that the second names. Reports what is
 * neither, with the command's name. Gives the exit status.
 */
int read_format(const struct command *command, char **operands, const struct extended *extended,
	const struct netfc_format **format);

/**
 * netfc-tables calc FORMAT OP X [Y [Z]]. Gives the exit status.
 *
 * @param operands FORMAT, OP and what follows, `count` in all
 */
int calc_extended(char **operands, int count, bool hex, bool json);

/** netfc-tables show FORMAT FUNCTION [X...], likewise. */
int show_function(char **operands, int count, bool json);

/** netfc-tables list --functions. */
int list_extended(bool json);

/* One calculation of netfc-tables calc without a table set: read, and printed. */

#define CALCULATION_OPERANDS 3

/** A calculation, with all that is printed of it. */
struct calculation {
	const struct netfc_format *format;
	const char *op;
	int count; /**< operands that it takes */
	struct netfc_slot from, to;
	uint32_t operand[CALCULATION_OPERANDS];
	struct netfc_result result;
};

/** Report that a word is no operand. Gives the exit status. */
int no_operand(const struct command *command, struct netfc_slot slot, const char *word, bool hex);

/**
 * Read a calculation's operands, and report what is wrong with them. Gives the exit status.
 *
 * @param hex they are hex digits without 0x
 */
int calculation_read(struct calculation *c, char **words, int count, bool hex);

/** Print operands and result. Gives the exit status. */
int calculation_print(const struct calculation *c, bool json);

/* The entries of a function's table, printed. */

/** A function of one format. */
struct entries {
	struct netfc_slot from, to;
	const struct netfc_format *format;
	const struct netfc_function *function; /**< NULL: it is a user's */
	const struct netfc_user_function *own;
};

/**
 * Print entries, and report what is no argument. Gives the exit status.
 *
 * @param words the arguments to show, `count`; 0: all
 */
int show_entries(const struct entries *entries, char **words, int count, bool json);

/* The parts of netfc-tables show and calc. Each gives the exit status. */

/** Whether the set has a table or page of that name. */
bool has_table(const struct netfc_set *set, const char *name);

/** All entries of a table or page. */
int show_table(const struct netfc_set *set, const char *name, bool json);

/** Some entries of a table or page. */
int show_keys(const struct netfc_set *set, const char *name, char **keys, int count, bool json);

/** One operation's walk through the stages. */
int show_walk(const struct netfc_set *set, const struct operation *operation, bool json);

/** The format of lines and answers. */
struct stream_options {
	const struct netfc_set *set;
	bool op_given; /**< lines have no operation; it is `op` */
	enum netfc_op op;
	bool hex;  /**< operands and answers are bare hex digits */
	bool json; /**< answers are JSON */
};

/** netfc-tables calc --stream: answer all of standard input. Gives the exit status. */
int run_stream(const struct stream_options *options);

#endif /* SHOW_H */

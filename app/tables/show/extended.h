/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXTENDED_H
#define EXTENDED_H

/**
 * @file
 * What is computed without a table set: functions of one number, and the operations of
 * netfc_extra.h.
 */

#include <stdbool.h>

#include "command.h"
#include "netfc.h"
#include "show/slot.h"

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
 * The format that a command's operand names, which is to have what is computed: a format's name, or
 * a table set's. Reports what is neither, with the command's name. Gives the exit status.
 */
int read_format(const struct command *command, const char *text, const struct extended *extended,
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

#endif /* EXTENDED_H */

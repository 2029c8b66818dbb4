/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FURTHER_H
#define FURTHER_H

/**
 * @file
 * What is computed without a table set: functions of one number, and the operations of
 * netfc_extra.h.
 */

#include <stdbool.h>

#include "command.h"
#include "netfc.h"

/** A function, or an operation of netfc_extra.h. */
struct further {
	const struct netfc_function *function; /**< NULL: it is `extra` */
	enum netfc_extra_op extra;
};

/** Find a function or operation by its name. */
bool find_further(const char *name, struct further *further);

/** Whether a function or an operation has that name. */
bool is_further(const char *name);

/**
 * The format that a command's operand names: a format's name, or a table set's. Reports what is
 * neither, with the command's name. Gives the exit status.
 */
int
read_format(const struct command *command, const char *text, const struct netfc_format **format);

/**
 * netfc-tables calc FORMAT OP X [Y [Z]]. Gives the exit status.
 *
 * @param operands FORMAT, OP and what follows, `count` in all
 */
int calc_further(char **operands, int count, bool hex, bool json);

/** netfc-tables show FORMAT FUNCTION [X...], likewise. */
int show_function(char **operands, int count, bool json);

/** netfc-tables list --functions. */
int list_further(bool json);

#endif /* FURTHER_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CALCULATION_H
#define CALCULATION_H

/** @file One calculation of netfc-tables calc without a table set: read, and printed. */

#include <stdbool.h>

#include "command.h"
#include "netfc.h"
#include "show/slot.h"

#define CALCULATION_OPERANDS 3

/** A calculation, with all that is printed of it. */
struct calculation {
	const struct netfc_format *format;
	const char *op;
	int count; /**< operands that it takes */
	struct netfc_slot from, to;
	uint16_t operand[CALCULATION_OPERANDS];
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

#endif /* CALCULATION_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENTRIES_H
#define ENTRIES_H

/** @file The entries of a function's table, printed. */

#include <stdbool.h>

#include "netfc.h"

/** A function's table. */
struct entries {
	struct netfc_slot from, to;
	const uint16_t *z;    /**< NETFC_FUNCTION_ENTRIES */
	const uint8_t *flags; /**< as many */
};

/**
 * Print entries, and report what is no argument. Gives the exit status.
 *
 * @param words the arguments to show, `count`; 0: all
 */
int show_entries(const struct entries *entries, char **words, int count, bool json);

#endif /* ENTRIES_H */

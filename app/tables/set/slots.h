/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOTS_H
#define SLOTS_H

/** @file The memory of a match table, uncompressed: slots, and entries of keys that occur. */

#include <stdbool.h>
#include <stdint.h>

#include "netfc.h"

/** A range of signed keys: first <= 0 <= last. */
struct domain {
	int32_t first, last;
	uint32_t mask; /**< of a key's bits */
};

/** A page's memory. */
struct slots {
	unsigned bits;        /**< width of keys */
	unsigned entry_bytes; /**< of a value */
	uint64_t plain;       /**< one for each key that occurs */
	uint64_t slots;       /**< one for each combination of bits; sparse tables: as plain */
};

/** Whether it is the expTable, whose keys are counted as exp_table_domain() has them. */
bool is_exp_table(const struct netfc_table *table);

/**
 * The expTable's keys without the runs at both ends that have the value of the first or the last
 * key: zero or infinity, the least or the greatest posit. Two comparisons replace these keys, as in
 * the paper's algorithm 2.
 */
struct domain exp_table_domain(const struct netfc_table *table);

/** Count the slots of a page of a table of match stages. */
struct slots
count_slots(const struct netfc_set *set, const struct netfc_table *table, unsigned page);

#endif /* SLOTS_H */

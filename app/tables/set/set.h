/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SET_H
#define SET_H

/** @file Table sets: found, built, checked, and how much they need. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "netfc.h"

/* Where table sets come from: a name, which is built, or a file, which is loaded. */

/**
 * Build or load a table set, and report where that fails.
 *
 * @return the exit status; STATUS_DONE means that `set` is there
 */
int open_set(const char *operand, struct netfc_set **set);

/** Build a table set by its name, and report where that fails. Gives the exit status. */
int build_set(const char *name, struct netfc_set **set);

/** What is wrong with a file that netfc_set_load() gave this error for; looks at errno. */
const char *load_error(int error);

/** A scale; null where a set has none. */
json_t *scale_json(unsigned scale);

/** "nearest" or "floor". */
const char *rounding_name(enum netfc_rounding rounding);

/* The memory of a match table, uncompressed: slots, and entries of keys that occur. */

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

/** Count the keys of a page that can occur; stored: that a table of exact keys needs. */
uint32_t count_keys(const struct netfc_table *table, unsigned page, bool stored);

/** Count the slots of a page of a table of match stages. */
struct slots
count_slots(const struct netfc_set *set, const struct netfc_table *table, unsigned page);

/* The sizes of a set's tables, counted in several ways. */

/** Maximum number of rows: one for each page. */
#define MAX_SIZE_ROWS 16

/** Entries of a table, or of all tables; or their bytes. */
struct size_entries {
	uint64_t slots;   /**< one for each combination of the bits that keys need */
	uint64_t plain;   /**< one for each key that occurs */
	uint64_t merged;  /**< prefixes, equal neighbours merged */
	uint64_t optimal; /**< prefixes, the fewest possible */
};

/** A table, or a page of it. */
struct size_row {
	const char *name;
	unsigned copies;
	unsigned bits;               /**< width of keys */
	unsigned entry_bytes;        /**< of a value; the paper's have 2. Keys are not counted */
	struct size_entries entries; /**< of one copy */
};

/** All tables of match stages. */
struct size_report {
	const struct netfc_set *set;
	unsigned row_count;
	struct size_row row[MAX_SIZE_ROWS];
	struct size_entries total; /**< of all copies */
	struct size_entries bytes; /**< likewise */
	uint64_t single_bytes; /**< of the slots of one copy of each table, as software has them */
};

/** Print the tables, and the paper's 448 KB line by line. */
void print_sizes(const struct size_report *report);

/** All of it as JSON. */
json_t *sizes_json(const struct size_report *report);

#endif /* SET_H */

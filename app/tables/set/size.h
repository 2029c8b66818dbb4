/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIZE_H
#define SIZE_H

/** @file The sizes of a set's tables, counted in several ways. */

#include <jansson.h>
#include <stdint.h>

#include "netfc.h"

/** Maximum number of rows: one for each page. */
#define MAX_SIZE_ROWS 16

/** Entries of a table, or of all tables; or their bytes. */
struct entries {
	uint64_t slots;   /**< one for each combination of the bits that keys need */
	uint64_t plain;   /**< one for each key that occurs */
	uint64_t merged;  /**< prefixes, equal neighbours merged */
	uint64_t optimal; /**< prefixes, the fewest possible */
};

/** A table, or a page of it. */
struct size_row {
	const char *name;
	unsigned copies;
	unsigned bits;          /**< width of keys */
	unsigned entry_bytes;   /**< of a value; the paper's have 2. Keys are not counted */
	struct entries entries; /**< of one copy */
};

/** All tables of match stages. */
struct size_report {
	const struct netfc_set *set;
	unsigned row_count;
	struct size_row row[MAX_SIZE_ROWS];
	struct entries total;  /**< of all copies */
	struct entries bytes;  /**< likewise */
	uint64_t single_bytes; /**< of the slots of one copy of each table, as software has them */
};

/** Count. Gives 0 or an error of the library. */
int count_entries(const struct netfc_set *set, struct size_report *report);

/** Print the tables, and the paper's 448 KB line by line. */
void print_sizes(const struct size_report *report);

/** All of it as JSON. */
json_t *sizes_json(const struct size_report *report);

#endif /* SIZE_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COVER_H
#define COVER_H

/** @file Covers of tables by prefixes, and what has to hold for all of them. */

#include "unit.h"

/** A cover of a table, or of a page of it. */
struct covered {
	const struct netfc_table *table;
	int page;
	unsigned bits; /* of a key */
	struct netfc_prefix *prefix;
	size_t count;
};

/** Cover a table, or a page of it; free the prefixes. */
struct covered cover(const struct netfc_table *table, int page, enum netfc_cover how);

/** The index of key 0 among the table's entries. */
uint32_t cover_first_index(const struct covered *covered);

/** How many keys have an entry. */
uint32_t cover_keys(const struct covered *covered);

/** How many keys a prefix stands for. */
uint32_t prefix_keys(const struct covered *covered, const struct netfc_prefix *prefix);

/** Prefixes are in range and in order. */
void expect_well_formed(const struct covered *covered);

/** No prefix is inside another. */
void expect_disjoint(const struct covered *covered);

/** If a key can occur, this is the prefix for it: it has the table's value. */
void expect_match(const struct covered *covered, uint32_t key, const struct netfc_prefix *match);

#endif /* COVER_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_PREFIX_H
#define NETFC_PREFIX_H

/**
 * @file
 * Lossless compression of tables into prefixes (paper, section IV.C).
 */

#include <stddef.h>
#include <stdint.h>

#include "netfc_set.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a table is covered with prefixes. */
enum netfc_cover {
	/** As in the paper: equal neighbours merged into aligned prefixes, none inside another. */
	NETFC_COVER_MERGED = 0,
	/**
	 * The fewest prefixes with longest-prefix match (ORTC: Draves, King, Venkatachary,
	 * Zill, "Constructing optimal IP routing tables", 1999).
	 */
	NETFC_COVER_OPTIMAL = 1,
};

/** All keys whose first `length` bits are those of `key`. */
struct netfc_prefix {
	uint32_t key; /**< bits after the prefix are zero */
	uint32_t value;
	uint8_t length; /**< in bits, 0..width of the keys */
};

/**
 * Cover a table, or one page of it, with prefixes. Keys that cannot occur may match any prefix or
 * none.
 *
 * @param table the table
 * @param page one page, whose keys are netfc_table_key_bits() wide, or -1 for all pages at once,
 *   whose keys are netfc_table_index_bits() wide
 * @param cover how
 * @param prefixes receives the prefixes, shorter ones before longer ones; free() them
 * @param count receives their number
 * @return 0, NETFC_ERR_ARGUMENT (no such page or cover) or NETFC_ERR_NOMEM
 */
NETFC_API int netfc_table_cover(const struct netfc_table *table, int page, enum netfc_cover cover,
	struct netfc_prefix **prefixes, size_t *count);

/** Width in bits of an index over all pages of a table. */
NETFC_API unsigned netfc_table_index_bits(const struct netfc_table *table);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_PREFIX_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_SET_H
#define NETFC_SET_H

/**
 * @file
 * Table sets: all the tables that the four operations on one format need.
 *
 * The paper's are named `<format>_k<k>` or `<format>_k<k>_floor`, for one scale k and one rounding
 * of entries. The correctly rounded ones, whose results are IEEE 754's, are named
 * `<format>_exact`, or `<format>_exact_small` for the layout of the least memory (posits have one
 * layout only; so have binary32 and the formats of 8 bits, which have no other sets than
 * `fp32_exact`, and `fp8_e4m3_exact` and `fp8_e4m3_sat`, which differ in what becomes of results
 * that are too large). A name determines every bit of a set: entries are those of exact arithmetic,
 * whatever the C library (netfc_set_margin()).
 *
 * A set has tables, and programs that say in which order lanes go through them
 * (netfc_lanes.h). A user of a set needs to know tables and steps, not which set it is.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "netfc_error.h"
#include "netfc_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How real numbers become table entries. */
enum netfc_rounding {
	NETFC_NEAREST = 0, /**< to nearest: the default */
	NETFC_FLOOR = 1,   /**< down, as in the paper */
};

/** Families: how the tables of a set compute. */
enum netfc_family {
	NETFC_FAMILY_LOG = 0,   /**< the paper's: through logarithms, close to the exact result */
	NETFC_FAMILY_EXACT = 1, /**< the correctly rounded result, in the fewest pipeline stages */
	NETFC_FAMILY_EXACT_SMALL = 2, /**< the same, in the least memory */
};

/** The longest name of a table set, with its terminating NUL. */
#define NETFC_SET_NAME_SIZE 32

/** Tables per set at most. */
#define NETFC_MAX_TABLES 12

/** A table set. It never changes once built or loaded, so threads may share it. */
struct netfc_set;

/** One table of a set. It lives as long as its set. */
struct netfc_table;

/** A table set's name in parts. */
struct netfc_set_id {
	const struct netfc_format *format;
	unsigned scale; /**< k, a power of two; 0 in families without one */
	enum netfc_rounding rounding;
	enum netfc_family family;
};

/**
 * Parse a table set's name.
 *
 * @return 0, NETFC_ERR_NAME, NETFC_ERR_FORMAT or NETFC_ERR_SCALE
 */
NETFC_API int netfc_set_parse_name(const char *name, struct netfc_set_id *id);

/**
 * Make a table set's name.
 *
 * @param name space for NETFC_SET_NAME_SIZE characters
 */
NETFC_API void netfc_set_format_name(const struct netfc_set_id *id, char *name);

/**
 * The names of all table sets that can be built, one after the other.
 *
 * @param index 0, 1, 2, ...
 * @param name space for NETFC_SET_NAME_SIZE characters
 * @return whether there is a set of that index
 */
NETFC_API bool netfc_set_known_name(unsigned index, char *name);

/**
 * Build a table set.
 *
 * @param name the set's name
 * @param set where the new set goes; free it with netfc_set_free()
 * @return 0, NETFC_ERR_NAME, NETFC_ERR_FORMAT, NETFC_ERR_SCALE, NETFC_ERR_NOMEM, or
 *   NETFC_ERR_PRECISION if an entry is too close to a rounding boundary (no known set)
 */
NETFC_API int netfc_set_build(const char *name, struct netfc_set **set);

/** Free a table set; NULL is allowed. */
NETFC_API void netfc_set_free(struct netfc_set *set);

/** The set's name. */
NETFC_API const char *netfc_set_name(const struct netfc_set *set);

/** The format of its operands and results. */
NETFC_API const struct netfc_format *netfc_set_format(const struct netfc_set *set);

/** How the set computes. */
NETFC_API enum netfc_family netfc_set_family(const struct netfc_set *set);

/** The family's name: "log", "exact" or "exact_small". */
NETFC_API const char *netfc_family_name(enum netfc_family family);

/** The scale k; 0 where the family has none. */
NETFC_API unsigned netfc_set_scale(const struct netfc_set *set);

/** How its entries are rounded. */
NETFC_API enum netfc_rounding netfc_set_rounding(const struct netfc_set *set);

/** How far the entries of a built set are from being rounded wrongly. */
struct netfc_margin {
	/** Bound of the error of k * log2(...) before rounding, in units of a log word. */
	double log_error;
	/** The least distance of such a value from the next rounding boundary. */
	double log_distance;
	/** Bound of the relative error of 2^(n/k) before rounding. */
	double exp_error;
	/** A lower bound of the relative distance of the expTable's values from a boundary. */
	double exp_distance;
};

/**
 * The errors and distances of a built set: every entry is right if each error is below its
 * distance. Entries of the correctly rounded sets come from integer arithmetic alone and have no
 * such margin.
 *
 * @return 0, or NETFC_ERR_ARGUMENT for a set that was loaded, not built, or has no such entries
 */
NETFC_API int netfc_set_margin(const struct netfc_set *set, struct netfc_margin *margin);

/** How many tables the set has, up to NETFC_MAX_TABLES. */
NETFC_API unsigned netfc_set_table_count(const struct netfc_set *set);

/**
 * A table by its index.
 *
 * @return the table, or NULL if the set has no such table
 */
NETFC_API const struct netfc_table *netfc_set_table(const struct netfc_set *set, unsigned index);

/**
 * A table by its name, e.g. "mi".
 *
 * @return the table, or NULL if the set has no such table
 */
NETFC_API const struct netfc_table *
netfc_set_find_table(const struct netfc_set *set, const char *name);

/** The table's name, e.g. "mi". */
NETFC_API const char *netfc_table_name(const struct netfc_table *table);

/** Width of a key within a page, in bits. */
NETFC_API unsigned netfc_table_key_bits(const struct netfc_table *table);

/** Width of a value in bits, up to 32. */
NETFC_API unsigned netfc_table_value_bits(const struct netfc_table *table);

/** Whether keys are signed (two's complement); this only matters for printing. */
NETFC_API bool netfc_table_key_signed(const struct netfc_table *table);

/** Whether values are signed (two's complement); this only matters for printing. */
NETFC_API bool netfc_table_value_signed(const struct netfc_table *table);

/**
 * The number of pages: consecutive tables of the same kind. The bits above the key select one (the
 * three miTables are the three pages of "mi").
 */
NETFC_API unsigned netfc_table_pages(const struct netfc_table *table);

/** The page's name, e.g. "mi2"; the table's own name if it has only one page. */
NETFC_API const char *netfc_table_page_name(const struct netfc_table *table, unsigned page);

/** How many copies a pipeline needs: the number of look-ups in one pass. */
NETFC_API unsigned netfc_table_copies(const struct netfc_table *table);

/**
 * Whether the table sits in a match stage. The others (the decision table) are small and
 * indexed directly, like a switch's constant entries.
 */
NETFC_API bool netfc_table_is_match(const struct netfc_table *table);

/**
 * Whether nearly all entries are 0. A match stage may omit these if a miss gives 0, as with a
 * switch's default action.
 */
NETFC_API bool netfc_table_is_sparse(const struct netfc_table *table);

/** How many entries: pages << key bits. Entry i belongs to page i >> key bits. */
NETFC_API uint32_t netfc_table_size(const struct netfc_table *table);

/**
 * The entries, in the low bits of netfc_table_size() words. The entry of a key that cannot occur is
 * the value that the specification defines for it, or else 0.
 */
NETFC_API const uint32_t *netfc_table_entries(const struct netfc_table *table);

/**
 * Whether any operation can look this entry up. Other entries do not matter; compression makes use
 * of that.
 *
 * @param index page << key bits | key, less than netfc_table_size()
 */
NETFC_API bool netfc_table_reachable(const struct netfc_table *table, uint32_t index);

/**
 * A miTable's entry for "no result": operands that differ but have the same log word, in a `_floor`
 * set. No log word of a miTable is that small.
 */
#define NETFC_NO_RESULT 0x8000u

#ifdef __cplusplus
}
#endif

#endif /* NETFC_SET_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXPORT_EXACT_H
#define EXPORT_EXACT_H

/** @file What the files for the correctly rounded family in P4 (fp16) share. */

#include "export.h"

/* Widths, from those of the set's tables. */
#define EXPONENT_BITS 5
#define FRACTION_BITS 10
#define CODE_BITS 5
#define CLASS_BITS 4
#define SUM_BITS 16
#define PRODUCT_BITS 24
#define TOP_BITS 13
#define BELOW_BITS (PRODUCT_BITS - TOP_BITS)
#define EXPONENT_SUM_BITS 7
#define GREATEST_BASE (29u << FRACTION_BITS)

static inline uint32_t
slice(uint32_t word, unsigned low, unsigned bits)
{
	return word >> low & p4_low_bits(bits);
}

/** A table whose fields are slices of the library's key, highest first, and whose word is one. */
struct p4_table *p4_copy_table(const struct netfc_set *set, const char *name,
	const struct p4_table *shape, struct p4_program *program);

/** Runs of a field that raise the same flag. */
struct limit {
	struct p4_table *table;
	struct p4_entry entry;
	unsigned key; /**< the field */
};

/** Add an entry for a prefix of the field; for p4_cover_range(). */
void p4_add_limit(void *limit, uint32_t value, uint32_t mask);

/** The tables of sums, and of products and quotients. */
void p4_sum_tables(const struct netfc_set *set, struct p4_program *program);
void p4_product_tables(const struct netfc_set *set, struct p4_program *program);

#endif /* EXPORT_EXACT_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXPORT_EXACT_H
#define EXPORT_EXACT_H

/** @file What the files for the correctly rounded family in P4 (fp16, bf16) share. */

#include "export/export.h"

/* Widths that both formats share: a shift with the hidden bit, and where a product is rounded. */
#define CODE_BITS 5
#define CLASS_BITS 4

/** A set, and the widths of its tables' fields. */
struct exact_source {
	const struct netfc_set *set;
	struct p4_program *program;
	unsigned fraction_bits, exponent_bits;
	unsigned sum_bits;
	unsigned product_bits;      /**< of a product or quotient */
	unsigned top_bits;          /**< those of them that are rounded */
	unsigned below_bits;        /**< the others */
	unsigned exponent_sum_bits; /**< of a product's or quotient's exponent */
	bool halves;      /**< products are sums of two parts, else they are looked up whole */
	bool signed_exps; /**< the table of exponents tells y's effective sign, too */
	uint32_t inf;
	uint32_t greatest_base; /**< base of the greatest exponent */
};

static inline uint32_t
slice(uint32_t word, unsigned low, unsigned bits)
{
	return word >> low & p4_low_bits(bits);
}

/** A table whose fields are slices of the library's key, highest first, and whose word is one. */
struct p4_table *
p4_copy_table(const struct exact_source *source, const char *name, const struct p4_table *shape);

/** Runs of a field that raise the same flag. */
struct limit {
	struct p4_table *table;
	struct p4_entry entry;
	unsigned key; /**< the field */
};

/** Add an entry for a prefix of the field; for p4_cover_range(). */
void p4_add_limit(void *limit, uint32_t value, uint32_t mask);

/** The tables of sums, and of products and quotients. */
void p4_sum_tables(const struct exact_source *source);
void p4_product_tables(const struct exact_source *source);

#endif /* EXPORT_EXACT_H */

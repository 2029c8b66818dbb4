/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXACT_H
#define EXACT_H

/** @file A correctly rounded set (fp16, bf16) as the source of a P4 program's tables. */

#include "export/fill/fill.h"

/* Width of a shift count with the significand's hidden bit. */
#define CODE_BITS 5
/* Width of a rounding class (lib/netfc/exact/exact_family.h). */
#define CLASS_BITS 4

/** A set, the program to fill, and the widths of fields in the set's tables. */
struct exact_source {
	const struct netfc_set *set;
	struct p4_program *program;
	unsigned fraction_bits, exponent_bits;
	unsigned sum_bits;
	unsigned product_bits;      /**< of a product or quotient */
	unsigned top_bits;          /**< its upper bits, which are rounded */
	unsigned below_bits;        /**< its other bits */
	unsigned exponent_sum_bits; /**< of the exponent of a product or quotient */
	bool halves;      /**< products are sums of two parts; otherwise they are looked up whole */
	bool signed_exps; /**< the table "exps" has the signs in its key */
	uint32_t inf;
	uint32_t greatest_base; /**< base of the greatest exponent */
};

/** Add the tables for products and quotients. */
void p4_product_tables(const struct exact_source *source);

#endif /* EXACT_H */

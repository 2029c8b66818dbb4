/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FP32_H
#define FP32_H

/** @file fp32_exact as the source of a P4 program's tables. */

#include "export/fill/fill.h"

#define FP32_BITS 32
#define FP32_FRACTION_BITS 23
#define FP32_EXPONENT_BITS 8
#define FP32_EXPONENT_SUM_BITS 10 /* of products and quotients, two's complement */
#define FP32_PLACES_BITS 5        /* how far a word is shifted */
#define FP32_SQUARE_BITS 13       /* sums and differences of two digits */

/** A set and the program to fill. */
struct fp32_source {
	const struct netfc_set *set;
	struct p4_program *program;
	enum netfc_op last_op;
};

/** Some bits of a word. */
static inline uint32_t
bits_of(uint32_t word, unsigned at, unsigned bits)
{
	return word >> at & p4_low_bits(bits);
}

/** Add the tables for products (fp32_product.c). */
void fp32_product_tables(const struct fp32_source *source);

#endif /* FP32_H */

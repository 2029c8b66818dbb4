/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ORACLE_H
#define ORACLE_H

/**
 * @file
 * What aggregation has to give, by other means: one fixed-point number of 448 bits for all formats
 * but fp64, of 2304 for that one,
 * long division, rounding by looking at bits, posits by bisection. Slow and obvious.
 */

#include <stdint.h>

#include <aggregate.h>
#include <netfc.h>

struct oracle_result {
	uint64_t bits;
	uint8_t flags; /* enum netfc_flag */
};

/** The reduction of one lane, of what aggregate_has_format(). */
struct oracle_result
oracle_reduce(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers);

/** The value of an encoding; infinities and NaN (NaR) as such. */
double oracle_value(unsigned int format, uint64_t bits);

/** The value of the positive posit that `bits` are, of n bits, up to 32. */
double oracle_posit_value(uint32_t bits, int n, int exponent_bits);

/** What an IEEE format is made of. */
struct oracle_ieee {
	int fraction_bits, bias;
	uint64_t sign, inf, nan;
};

/** Of fp16, bf16, fp32, fp64 or OFP8; inf is what is too large: NaN in fp8_e4m3. */
const struct oracle_ieee *oracle_ieee(unsigned int format);

#endif /* ORACLE_H */

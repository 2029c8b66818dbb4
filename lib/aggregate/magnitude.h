/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MAGNITUDE_H
#define MAGNITUDE_H

/**
 * @file
 * Integers of many digits of 32 bits, each in an int64 that others may be added to: what is needed
 * of them to round.
 */

#include <netfc_arith.h>

#include "number.h"

#define DIGIT_BITS 32
#define MAX_DIGITS 136

/* A total's magnitude: 96 bits of it at the top, and whether there is more of it below. */
struct magnitude {
	unsigned __int128 upper; /* in units of 2^(32 digit); 0: the total is zero */
	uint32_t digit;
	bool negative, more;
};

INLINE struct magnitude
magnitude_of(const int64_t *bins, uint32_t count)
{
	uint32_t digits[MAX_DIGITS + 2], top = count + 1;
	struct magnitude result = {0, 0, false, false};
	uint64_t borrow;
	int64_t sum = 0;

	for (uint32_t b = 0; b < count; b++, sum >>= DIGIT_BITS) {
		sum += bins[b];
		digits[b] = (uint32_t)sum;
	}
	digits[count] = (uint32_t)sum;
	digits[count + 1] = (uint32_t)(sum >> DIGIT_BITS);
	result.negative = sum < 0;
	borrow = result.negative;
	for (uint32_t d = 0; result.negative && d < count + 2; d++) {
		borrow += (uint32_t)~digits[d];
		digits[d] = (uint32_t)borrow;
		borrow >>= DIGIT_BITS;
	}
	while (top > 2 && digits[top] == 0)
		top--;
	result.digit = top - 2;
	for (uint32_t d = top + 1; d-- > result.digit;)
		result.upper = result.upper << DIGIT_BITS | digits[d];
	for (uint32_t d = 0; d < result.digit; d++)
		result.more |= digits[d] != 0;
	return result;
}

/* To the nearest integer of a format, ties to even; saturated. */
INLINE uint64_t
round_integer(
	enum aggregate_format format, struct magnitude sum, unsigned int divisor, uint8_t *flags)
{
	const unsigned __int128 greatest =
		(format == AGGREGATE_INT32 ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX) +
		(uint64_t)sum.negative;
	const unsigned __int128 twice = sum.upper % divisor * 2;
	unsigned __int128 quotient = sum.upper / divisor;

	quotient += twice > divisor || (twice == divisor && (quotient & 1) != 0);
	if (sum.digit != 0 || quotient > greatest) {
		*flags |= NETFC_OVERFLOW;
		quotient = greatest;
	}
	return sum.negative ? -(uint64_t)quotient : (uint64_t)quotient;
}

#endif /* MAGNITUDE_H */

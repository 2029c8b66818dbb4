/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUND_TOTALS_H
#define ROUND_TOTALS_H

/**
 * @file
 * Totals to results, each rounded once.
 */

#include "kernels/digits_lanes.h"
#include "sums/number.h"
#include "kernels/accumulate_and_round_lanes.h"

INLINE int
unit_of(enum aggregate_format format)
{
	switch (format) {
	case AGGREGATE_FP16:
		return FP16_UNIT;
	case AGGREGATE_POSIT16:
		return POSIT16_UNIT;
	case AGGREGATE_POSIT16_ES2:
		return POSIT16_ES2_UNIT;
	case AGGREGATE_BF16:
		return -133;
	case AGGREGATE_FP32:
		return -149;
	case AGGREGATE_FP8_E4M3:
		return FP8_E4M3_UNIT;
	case AGGREGATE_FP8_E5M2:
		return FP8_E5M2_UNIT;
	default:
		return FP64_UNIT;
	}
}

INLINE uint64_t
encode_number(enum aggregate_format format, struct exact exact)
{
	switch (format) {
	case AGGREGATE_POSIT16:
		return round_posit(1, exact);
	case AGGREGATE_POSIT16_ES2:
		return round_posit(2, exact);
	case AGGREGATE_FP64:
		return round_binary(FP64_FRACTION_BITS, FP64_BIAS, FP64_INF, exact);
	default:
		return round_ieee(ieee_of(format), exact);
	}
}

INLINE uint64_t
infinity_of(enum aggregate_format format)
{
	return format == AGGREGATE_FP64 ? FP64_INF : ieee_of(format).inf;
}

INLINE uint64_t
sign_of(enum aggregate_format format)
{
	return format == AGGREGATE_FP64 ? FP64_SIGN : ieee_of(format).sign;
}

INLINE uint64_t
round_number(enum aggregate_format from, enum aggregate_format format,
	const struct aggregate_totals *totals, uint32_t i, struct magnitude sum, bool mean,
	unsigned int workers, uint8_t *flags)
{
	const bool posit = format == AGGREGATE_POSIT16 || format == AGGREGATE_POSIT16_ES2;
	struct exact exact;
	uint64_t bits;

	if (sum.upper == 0)
		return posit || (totals->marks[i] & AGGREGATE_MARK_MINUS_ZERO) != 0
			? 0
			: sign_of(format);
	if (mean) {
		exact = divide_magnitude(sum, unit_of(from), workers);
	} else {
		exact = exact_of_quire(sum.upper, unit_of(from) + DIGIT_BITS * (int)sum.digit);
		exact.significand |= sum.more;
	}
	bits = encode_number(format, exact);
	if (posit)
		return sum.negative ? -bits & 0xffff : bits;
	*flags |= bits == infinity_of(format) ? NETFC_OVERFLOW : 0;
	*flags |= bits == 0 ? NETFC_UNDERFLOW : 0;
	if (format == AGGREGATE_FP64)
		return bits | (sum.negative ? FP64_SIGN : 0);
	return with_sign(ieee_of(format), (uint32_t)bits, sum.negative);
}

INLINE void
store_any(enum aggregate_format format, uint8_t *result, uint32_t i, uint64_t bits)
{
	if (is_wide(format))
		store64(result, i, bits);
	else
		store(format, result, i, (uint32_t)bits);
}

INLINE struct magnitude
total_of(const struct aggregate_totals *totals, uint32_t i, bool is_short)
{
	const uint32_t all = totals->digits;
	const uint32_t base = totals_base(totals, all);
	int64_t bins[AGGREGATE_MAX_DIGITS];
	struct magnitude sum;

	if (is_short) {
		const __int128 total = totals_short(totals, i, base);
		const bool negative = total < 0;

		return (struct magnitude){
			.upper = negative ? -(unsigned __int128)total : (unsigned __int128)total,
			.digit = base,
			.negative = negative};
	}
	for (uint32_t b = base; b < totals->end; b++)
		bins[b - base] = totals->bins[b * totals->stride + i];
	sum = magnitude_of(bins, totals->end - base);
	sum.digit += base;
	return sum;
}

INLINE uint8_t
round_totals(enum aggregate_format from, enum aggregate_format to, bool mean,
	const struct aggregate_totals *totals, unsigned int workers, uint8_t *result)
{
	const bool integer = to == AGGREGATE_INT32 || to == AGGREGATE_INT64;
	const bool is_short = totals_are_short(totals, 0, totals->count);
	uint8_t flags = 0;

	for (uint32_t i = 0; i < totals->count; i++) {
		const uint8_t special = totals->marks[i] & (uint8_t)~AGGREGATE_MARK_MINUS_ZERO;
		struct magnitude sum;

		if (special != 0 && !integer) {
			flags |= write_special(to, special, result, i);
			continue;
		}
		sum = total_of(totals, i, is_short);
		store_any(to, result, i,
			integer ? round_integer(to, sum, mean ? workers : 1, &flags)
				: round_number(from, to, totals, i, sum, mean, workers, &flags));
	}
	return flags;
}

/* fp32 and fp64 are what trees and workers' own sums are for: the compiler knows the formats. */
static uint8_t
round_any_totals(const struct aggregate_totals *totals, unsigned int op, unsigned int workers,
	uint8_t *result)
{
	const enum aggregate_format from = aggregate_values_format(totals->format);
	const enum aggregate_format to = aggregate_results_format(totals->format);
	const bool mean = op == AGGREGATE_MEAN;

	if (totals->format == AGGREGATE_FP32)
		return round_totals(AGGREGATE_FP32, AGGREGATE_FP32, mean, totals, workers, result);
	if (totals->format == AGGREGATE_FP64)
		return round_totals(AGGREGATE_FP64, AGGREGATE_FP64, mean, totals, workers, result);
	return round_totals(from, to, mean, totals, workers, result);
}

#define TOTALS_KERNEL(round) {add_digits, bits_of_totals, write_digits, round}

#endif /* ROUND_TOTALS_H */

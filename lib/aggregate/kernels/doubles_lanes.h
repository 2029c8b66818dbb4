/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DOUBLES_LANES_H
#define DOUBLES_LANES_H

/**
 * @file
 * Sums of bf16 and fp32 in binary64, exact: what rounding a sum loses is computed, and added up in
 * a second binary64. A lane whose values need still more bits leaves for bins. For values of about
 * the same size, as those of a gradient or of weights, one binary64 is enough.
 *
 * All values are multiples of the least subnormal number of binary32, so are their sums and what
 * roundings lose: nothing here is subnormal, and nothing overflows.
 *
 * The first worker's values are kept as they came until the next one's come: that is half the
 * memory, and of two workers alone, sums and means are the processor's own.
 */

#include <netfc_arith.h>

#include "kernels/arithmetic.h"
#include "kernels/doubles_to_digits.h"
#include "kernels/fp64_pairs.h"

#if WORDS > 2

/*
 * Begin with values, or add them, to so many doubles a lane, from a lane on. Returns the first of
 * the lanes to which these are not added, as their sums need more; or `count`.
 *
 * kept: what they are added to, not in doubles yet, or NULL
 */
INLINE uint32_t
add_values(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, uint32_t lane, const unsigned int in_use, const uint8_t *kept,
	lower_halves *special)
{
	const size_t stride = bin_stride(format, lanes);

	for (; lane < count; lane += WORDS) {
		int64_t *sums = lanes->sums + lane;
		const size_t at = lane * (size_t)bytes_of(format);
		const lower_halves fields = fields_load(format, values + at, count - lane);
		/* Of one double, infinities and NaN lose NaN. */
		doubles sum[DOUBLES + 1],
			rest = in_use == 1 ? numbers_in(fields) : doubles_of(fields, special);

		for (unsigned int d = 0; d < in_use; d++)
			sum[d] = two_sum(kept == NULL
					? doubles_load(sums + d * stride)
					: numbers_in(fields_load(format, kept + at, count - lane)),
				rest, &rest);
		if (in_use == 0)
			sum[0] = rest;
		else if (in_use <= DOUBLES && words_any((words)(rest != (doubles){0})))
			return lane;
		for (unsigned int d = 0; d < in_use + (in_use == 0); d++)
			doubles_store(sums + d * stride, sum[d]);
	}
	return count;
}

/* What is kept begins the sums, from a lane on. */
INLINE void
begin_with_kept(
	enum aggregate_format format, struct aggregate_lanes *lanes, uint32_t count, uint32_t lane)
{
	const uint64_t arithmetic = begin_arithmetic();
	lower_halves special = {0};

	lanes->kept = false;
	add_values(format, lanes, lanes->common, count, lane, 0, NULL, &special);
	end_arithmetic(arithmetic);
	if (any_field(special))
		note_specials(format, lanes, lanes->common, count, false);
}

/* As add_values(), to as many as lanes have. */
INLINE uint32_t
add_to_doubles(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, uint32_t lane, lower_halves *special)
{
	if (lanes->kept) {
		lane = add_values(format, lanes, values, count, lane, 1, lanes->common, special);
		begin_with_kept(format, lanes, count, lane);
		return lane;
	}
	switch (lanes->doubles) {
	case 1:
		return add_values(format, lanes, values, count, lane, 1, NULL, special);
	case 2:
		return add_values(format, lanes, values, count, lane, 2, NULL, special);
	default:
		return add_values(format, lanes, values, count, lane, DOUBLES + 1, NULL, special);
	}
}

/* Of the first worker, or of another one if `doubles` is not 0. */
INLINE void
put_doubles(enum aggregate_format format, unsigned int lay_out, struct aggregate_lanes *lanes,
	const uint8_t *values, uint32_t count, bool first)
{
	const size_t stride = bin_stride(format, lanes);
	lower_halves special = {0};
	uint64_t arithmetic;
	uint32_t lane = 0;

	if (first) {
		memcpy(lanes->common, values, count * (size_t)bytes_of(format));
		lanes->has_specials = false;
		lanes->doubles = 1;
		lanes->kept = true;
		return;
	}
	arithmetic = begin_arithmetic();
	while ((lane = add_to_doubles(format, lanes, values, count, lane, &special)) < count)
		memset(lanes->sums + lanes->doubles++ * stride, 0, stride * sizeof(int64_t));
	end_arithmetic(arithmetic);
	if (any_field(special))
		note_specials(format, lanes, values, count, false);
	if (lanes->doubles > DOUBLES)
		leave_doubles(format, lay_out, lanes, count);
}

/*
 * Rounded to odd: towards 0, the last bit set if that lost anything. Rounded once more, to fewer
 * bits by two or more, it is what the exact number would be (Boldo and Melquiond, "Emulation of FMA
 * and correctly rounded sums", 2008).
 */
INLINE words
to_odd(words rounded, words lost)
{
	const words inexact = words_less(words_all(0), lost << 1) & 1;

	return (rounded - (inexact & (rounded ^ lost) >> 63)) | inexact;
}

INLINE doubles
sums_of_doubles(const int64_t *sums, size_t stride, const unsigned int in_use)
{
	const doubles first = doubles_load(sums);
	doubles sum, second, lost;

	if (in_use == 1)
		return first;
	second = doubles_load(sums + stride);
	sum = two_sum(first, second, &lost);
	/* -0 and +0 are +0. */
	return (doubles)(((words)first & (words)(second == (doubles){0})) |
		(to_odd((words)sum, (words)lost) & (words)(second != (doubles){0})));
}

/* Numbers in fp32, rounded to odd. */
INLINE lower_halves
to_odd_fields(doubles numbers)
{
	const floats rounded = __builtin_convertvector(numbers, floats);
	const words back = (words) __builtin_convertvector(rounded, doubles);
	const words lost = (words)(back != (words)numbers) & 1;
	const words too_far = words_less((words)numbers << 1, back << 1) & 1;

	return ((lower_halves)rounded - __builtin_convertvector(too_far, lower_halves)) |
		__builtin_convertvector(lost, lower_halves);
}

/* The bits of an encoding as those of fp32 that mean something, without the sign's. */
INLINE uint32_t
fields_of(enum aggregate_format format)
{
	return format == AGGREGATE_BF16 ? UINT32_C(0x7fff0000) : fp32.sign - 1;
}

/* Numbers of fp32 rounded to bf16, in the upper halves. */
INLINE lower_halves
bf16_fields(lower_halves numbers)
{
	return numbers + 0x7fff + (numbers >> 16 & 1);
}

/* Encodings as those of fp32, rounded once; of bf16, what is below means nothing. */
INLINE lower_halves
encode_doubles(enum aggregate_format to, doubles numbers)
{
	if (to == AGGREGATE_FP32)
		return (lower_halves) __builtin_convertvector(numbers, floats);
	return bf16_fields(to_odd_fields(numbers));
}

/*
 * Means are quotients that are rounded again: half-way between two numbers of fp32 there are 25
 * bits, and `workers` times as many no more than 31. Sums have 53 bits, the last of which tells
 * what is below, so they lie on the same side of that product as the exact ones, by a unit of that
 * bit or more: quotients, too.
 */
INLINE uint8_t
round_so_many(enum aggregate_format format, enum aggregate_format to, const bool mean,
	const struct aggregate_lanes *lanes, uint32_t count, unsigned int workers, uint8_t *result,
	const unsigned int in_use)
{
	const size_t stride = bin_stride(format, lanes);
	const struct ieee ieee = fp32;
	const uint32_t kept = fields_of(to);
	lower_halves overflow = {0};
	words underflow = {0};

	for (uint32_t lane = 0; lane < count; lane += WORDS) {
		const doubles sum = sums_of_doubles(lanes->sums + lane, stride, in_use);
		const lower_halves fields = encode_doubles(to, mean ? sum / (double)workers : sum);
		const lower_halves magnitude = fields & kept;

		overflow |= (lower_halves)(magnitude == ieee.inf);
		if (mean)
			underflow |= __builtin_convertvector(magnitude == 0, words) &
				(words)(sum != (doubles){0});
		fields_store(to, result + lane * (size_t)bytes_of(to), count - lane, fields);
	}
	return (uint8_t)((any_field(overflow) ? NETFC_OVERFLOW : 0) |
		(words_any(underflow) ? NETFC_UNDERFLOW : 0));
}

/* Lanes that are in doubles. */
INLINE uint8_t
round_doubles(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, uint32_t count, unsigned int workers, uint8_t *result)
{
	uint64_t arithmetic;
	uint8_t flags;

	if (lanes->kept)
		begin_with_kept(format, lanes, count, 0);
	if (lanes->has_specials)
		clear_specials(format, lanes, count);
	arithmetic = begin_arithmetic();
	flags = lanes->doubles == 1
		? round_so_many(format, to, mean, lanes, count, workers, result, 1)
		: round_so_many(format, to, mean, lanes, count, workers, result, 2);
	end_arithmetic(arithmetic);
	if (lanes->has_specials)
		flags |= write_specials(to, lanes, count, result);
	return flags;
}

/*
 * Two workers' sums and means, as finish_pairs() has them. Those of bf16 may be rounded twice: fp32
 * has more than twice as many bits and two (Figueroa, "When is double rounding innocuous?", 1995).
 * False: the first worker's are kept no more, the results are where `values` are, or one is an
 * infinity or NaN, and nothing has changed but results.
 */
INLINE bool
reduce_two(enum aggregate_format format, enum aggregate_format to, const bool mean,
	const struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, uint8_t *result,
	uint8_t *flags)
{
	const lower_halves inf = fp32.inf - (lower_halves){0},
			   kept = fields_of(to) - (lower_halves){0};
	lower_halves special = {0}, vanished = {0};
	uint64_t arithmetic;

	if (!lanes->kept || result == values)
		return false;
	arithmetic = begin_arithmetic();
	for (uint32_t lane = 0; lane < count; lane += WORDS) {
		const size_t at = lane * (size_t)bytes_of(format);
		const floats sum = (floats)fields_load(format, lanes->common + at, count - lane) +
			(floats)fields_load(format, values + at, count - lane);
		const lower_halves reduced = (lower_halves)(mean ? sum * 0.5f : sum);
		const lower_halves fields = to == AGGREGATE_FP32 ? reduced : bf16_fields(reduced);

		special |= (lower_halves)(((lower_halves)sum & inf) == inf) |
			(lower_halves)((fields & inf) == inf);
		if (mean)
			vanished |= (lower_halves)(sum != 0) & (lower_halves)((fields & kept) == 0);
		fields_store(to, result + lane * (size_t)bytes_of(to), count - lane, fields);
	}
	end_arithmetic(arithmetic);
	*flags = any_field(vanished) ? NETFC_UNDERFLOW : 0;
	return !any_field(special);
}

#endif

/* Whatever there is, in the plain lay-out. */

INLINE bool
is_in_doubles(const struct aggregate_lanes *lanes)
{
	return WORDS > 2 && lanes->doubles != 0;
}

INLINE void
put_binary(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
#if WORDS > 2
	if (first || is_in_doubles(lanes)) {
		put_doubles(format, PLAIN_LAY_OUT, lanes, values, count, first);
		return;
	}
#endif
	put(format, lanes, values, count, first);
}

INLINE uint8_t
finish_binary(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, unsigned int workers,
	uint8_t *result)
{
#if WORDS > 2
	uint8_t flags;

	if (values != NULL && reduce_two(format, to, mean, lanes, values, count, result, &flags))
		return flags;
#endif
	if (values != NULL)
		put_binary(format, lanes, values, count, false);
#if WORDS > 2
	if (is_in_doubles(lanes))
		return round_doubles(format, to, mean, lanes, count, workers, result);
#endif
	return finish_sums(format, to, mean, lanes, NULL, count, workers, result);
}

/* In any lay-out. */
INLINE void
totals_from(enum aggregate_format format, unsigned int lay_out, struct aggregate_lanes *lanes,
	struct aggregate_totals *totals)
{
#if WORDS > 2
	if (has_bins(format) && is_in_doubles(lanes)) {
		if (lanes->kept)
			begin_with_kept(format, lanes, totals->count, 0);
		totals_from_doubles(format, lanes, totals);
		return;
	}
#endif
	if (format == AGGREGATE_FP64)
		leave_all_pairs(lanes, totals->count);
	totals_from_sums(format, lay_out, lanes, totals);
}

#endif /* DOUBLES_LANES_H */

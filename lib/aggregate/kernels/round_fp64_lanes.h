/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROUND_FP64_LANES_H
#define ROUND_FP64_LANES_H

/**
 * @file
 * Sums of fp64 to results, each rounded once.
 */

#include "kernels/fp64_pairs.h"

/* A sum in 128 bits, and whether there is more of it below. */
struct fp64_sum {
	__int128 integer;
	bool more;
	int unit;
};

/* A bin may hold less than 2^59. */
#define FP64_BIN_BITS 59

INLINE int64_t
bin_or_zero(const int64_t *bins, uint64_t in_use, uint32_t bin)
{
	return (in_use | in_use << 1) >> bin & 1 ? bins[bin] : 0;
}

/*
 * The bins below, as what they carry into the next one: their sum divided by its weight, rounded
 * down.
 */
static __attribute__((noinline)) int64_t
carry_from_below(const int64_t *bins, uint64_t in_use, uint32_t end, bool *more)
{
	int64_t carry = 0;

	for (uint32_t bin = (uint32_t)__builtin_ctzll(in_use); bin < end; bin++) {
		carry += bin_or_zero(bins, in_use, bin);
		*more |= (uint32_t)carry != 0;
		carry >>= 32;
	}
	return carry;
}

/*
 * Bins below what has been taken carry less than 2^28 into it: as a sum of more than 84 bits is
 * rounded at its 31st at the lowest, they matter only where what it has below is close to 0, seen
 * from either side. Where it is 0, it suffices to know on which side they are.
 */
#define ENOUGH ((__int128)1 << 84)
#define ROUNDED_BITS 31
#define CARRY_BITS (FP64_BIN_BITS - 32 + 1)

/* The sign of what is in the bins below; 0: not known at once. */
INLINE int
sign_from_below(const int64_t *bins, uint64_t in_use, uint32_t end)
{
	const uint64_t below = in_use & ((UINT64_C(1) << end) - 1); /* end is 63 at most */
	const __int128 enough = (__int128)1 << (CARRY_BITS + 1);
	uint32_t bin;
	__int128 sum;

	if (below == 0)
		return 0;
	bin = 63 - (uint32_t)__builtin_clzll(below);
	sum = bins[bin];
	if (bin + 1 < end)
		sum += bins[bin + 1] * ((__int128)1 << 32);
	return sum > enough ? 1 : sum < -enough ? -1 : 0;
}

INLINE struct fp64_sum
sum_of_fp64_bins(const int64_t *bins, uint64_t in_use, bool mean)
{
	struct fp64_sum sum = {0, false, FP64_UNIT};
	uint32_t lowest, bin;
	uint64_t below;
	int sign;

	if (in_use == 0)
		return sum;
	lowest = (uint32_t)__builtin_ctzll(in_use);
	bin = 64 - (uint32_t)__builtin_clzll(in_use);
	sum.integer = bins[bin];
	while (bin > lowest && sum.integer < ENOUGH && sum.integer > -ENOUGH) {
		bin--;
		sum.integer = sum.integer * (INT64_C(1) << 32) + bin_or_zero(bins, in_use, bin);
	}
	sum.unit += (int)(BIN_PLACES * bin);
	if (bin == lowest)
		return sum;
	below = (uint64_t)sum.integer & ((UINT64_C(1) << ROUNDED_BITS) - 1);
	sign = below == 0 && !mean ? sign_from_below(bins, in_use, bin) : 0;
	if (sign != 0) {
		sum.integer -= sign < 0;
		sum.more = true;
		return sum;
	}
	below = (below + (UINT64_C(1) << CARRY_BITS)) & ((UINT64_C(1) << ROUNDED_BITS) - 1);
	if (mean || below <= UINT64_C(1) << (CARRY_BITS + 1))
		sum.integer += carry_from_below(bins, in_use, bin, &sum.more);
	return sum;
}

INLINE uint64_t
encode_fp64(struct fp64_sum sum, bool mean, unsigned int workers, bool all_negative, uint8_t *flags)
{
	const __int128 sign = sum.integer >> 127;
	/* Rounded down: the magnitude of a negative sum is less, if there is more of it. */
	const __int128 magnitude = (sum.integer ^ sign) - (sum.more ? 0 : sign);
	struct exact exact;
	uint64_t bits;

	if (sum.integer == 0)
		return all_negative ? FP64_SIGN : 0;
	exact = exact_of_quire((unsigned __int128)magnitude, sum.unit);
	exact.significand |= sum.more;
	if (mean)
		exact = divide_finely(exact, workers);
	bits = round_binary(FP64_FRACTION_BITS, FP64_BIAS, FP64_INF, exact);
	*flags |= bits == FP64_INF ? NETFC_OVERFLOW : 0;
	*flags |= bits == 0 ? NETFC_UNDERFLOW : 0;
	return bits | ((uint64_t)sign & FP64_SIGN);
}

INLINE struct fp64_sum
fp64_sum_of(const struct aggregate_lanes *lanes, uint32_t i, bool mean)
{
	if (lanes->windowed)
		return (struct fp64_sum){
			window_of_lane(lanes, i), false, (int)lanes->window + FP64_UNIT};
	return sum_of_fp64_bins(bins_of_lane(lanes, i), bins_in_use(lanes)[i], mean);
}

INLINE uint8_t
round_fp64(bool mean, const struct aggregate_lanes *lanes, uint32_t count, unsigned int workers,
	uint8_t *result)
{
	const uint64_t *common = (const uint64_t *)(const void *)lanes->common;
	uint8_t flags = 0;

	for (uint32_t i = 0; i < count; i++)
		store64(result, i,
			encode_fp64(fp64_sum_of(lanes, i, mean), mean, workers, common[i] >> 63,
				&flags));
	return flags;
}

/* Sums that are all in the window may have a quicker way. */
INLINE uint8_t
finish_fp64_by(uint8_t (*round_window)(const struct aggregate_lanes *, uint32_t, uint8_t *),
	bool mean, struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count,
	unsigned int workers, uint8_t *result)
{
	uint8_t flags;

	if (finish_with_pairs(mean, lanes, values, count, result, &flags))
		return flags;
	if (lanes->has_specials)
		clear_specials(AGGREGATE_FP64, lanes, count);
	flags = round_window != NULL && !mean && lanes->windowed
		? round_window(lanes, count, result)
		: round_fp64(mean, lanes, count, workers, result);
	if (lanes->has_specials)
		flags |= write_specials(AGGREGATE_FP64, lanes, count, result);
	return flags;
}

INLINE uint8_t
finish_fp64(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, unsigned int workers,
	uint8_t *result)
{
	(void)format, (void)to;
	return finish_fp64_by(NULL, mean, lanes, values, count, workers, result);
}

#endif /* ROUND_FP64_LANES_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef KERNELS_LANES_H
#define KERNELS_LANES_H

/**
 * @file
 * Kernels in plain C, compiled for each instruction set by who includes this. Formats are constants
 * in each function that is made here; loops have no branches, so that compilers make vectors of
 * them where there are instructions for it.
 */

#include <netfc_arith.h>

#include "kernels/doubles_lanes.h"
#include "kernels/keys_lanes.h"
#include "kernels/round_fp64_lanes.h"
#include "sums/lanes.h"
#include "sums/wide_lanes.h"

/* Sums of int64: 128 bits a lane, lower words first, saturated at the end. */

INLINE void
put_int64(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	uint64_t *lower = (uint64_t *)lanes->sums, *upper = lower + lanes->widest;

	(void)format;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t value = load64(values, i), above = -(value >> 63);
		uint64_t sum = (first ? 0 : lower[i]) + value;

		upper[i] = (first ? 0 : upper[i]) + above + (sum < value);
		lower[i] = sum;
	}
}

INLINE __int128
int64_sum(const struct aggregate_lanes *lanes, uint32_t i)
{
	uint64_t upper = (uint64_t)lanes->sums[lanes->widest + i];

	return (__int128)((unsigned __int128)upper << 64 | (uint64_t)lanes->sums[i]);
}

/* Whether a sum fits is told by its upper word: nothing but sign. */
INLINE uint8_t
saturate_int64(const struct aggregate_lanes *lanes, uint32_t count, uint8_t *result)
{
	const int64_t *lower = lanes->sums, *upper = lower + lanes->widest;
	int64_t changed = 0;

	for (uint32_t i = 0; i < count; i++) {
		int64_t differs = upper[i] ^ -(int64_t)(lower[i] < 0);
		int64_t most = INT64_MAX ^ -(int64_t)(upper[i] < 0);

		changed |= differs;
		store64(result, i, (uint64_t)(differs != 0 ? most : lower[i]));
	}
	return changed != 0 ? NETFC_OVERFLOW : 0;
}

/* To nearest, ties to even; a mean of int64 is one. */
INLINE int64_t
mean_of_int64(__int128 sum, unsigned int workers)
{
	__int128 sign = -(__int128)(sum < 0), magnitude = (sum ^ sign) - sign;
	__int128 quotient, twice;

	if (sum == (int64_t)sum && sum > INT64_MIN)
		return mean_of((int64_t)sum, workers);
	quotient = magnitude / workers;
	twice = 2 * (magnitude % workers);
	quotient += twice > workers || (twice == workers && (quotient & 1) != 0);
	return (int64_t)((quotient ^ sign) - sign);
}

INLINE uint8_t
finish_int64(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, unsigned int workers,
	uint8_t *result)
{
	(void)to;
	if (values != NULL)
		put_int64(format, lanes, values, count, false);
	if (!mean)
		return saturate_int64(lanes, count, result);
	for (uint32_t i = 0; i < count; i++)
		store64(result, i, (uint64_t)mean_of_int64(int64_sum(lanes, i), workers));
	return 0;
}

/* Functions of a format, and the table of them all. */

#define SUM_FUNCTIONS(format, name) SUM_FUNCTIONS_BY(put, finish_sums, PLAIN_LAY_OUT, format, name)
#define PAIR_FUNCTIONS(format, name, to, to_name) \
	PAIR_FUNCTIONS_BY(finish_sums, format, name, to, to_name)

/* `put` takes values in, `finish` the last ones, too, and rounds; `lay_out` is put's. */
#define SUM_FUNCTIONS_BY(put, finish, lay_out, format, name)                          \
	static void begin_##name(                                                     \
		struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count) \
	{                                                                             \
		put(format, lanes, values, count, true);                              \
	}                                                                             \
	static void add_##name(                                                       \
		struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count) \
	{                                                                             \
		put(format, lanes, values, count, false);                             \
	}                                                                             \
	static void lanes_to_totals_##name(                                           \
		struct aggregate_lanes *lanes, struct aggregate_totals *totals)       \
	{                                                                             \
		totals_from(format, lay_out, lanes, totals);                          \
	}                                                                             \
	FINISH_FUNCTIONS(finish, format, format, name)

/* Results are of another format. */
#define PAIR_FUNCTIONS_BY(finish, format, name, to, to_name) \
	FINISH_FUNCTIONS(finish, format, to, name##_##to_name)

#define FINISH_FUNCTIONS(finish, format, to, name)                                              \
	static uint8_t finish_sum_##name(struct aggregate_lanes *lanes, const uint8_t *values,  \
		uint32_t count, unsigned int workers, uint8_t *result)                          \
	{                                                                                       \
		return finish(format, to, false, lanes, values, count, workers, result);        \
	}                                                                                       \
	static uint8_t finish_mean_##name(struct aggregate_lanes *lanes, const uint8_t *values, \
		uint32_t count, unsigned int workers, uint8_t *result)                          \
	{                                                                                       \
		return finish(format, to, true, lanes, values, count, workers, result);         \
	}

#define KEY_FUNCTIONS(format, name, op, greatest)                                                 \
	static void begin_##op##_##name(                                                          \
		struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count)             \
	{                                                                                         \
		put_keys(format, greatest, lanes, values, count, true);                           \
	}                                                                                         \
	static void add_##op##_##name(                                                            \
		struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count)             \
	{                                                                                         \
		put_keys(format, greatest, lanes, values, count, false);                          \
	}                                                                                         \
	static uint8_t finish_##op##_##name(struct aggregate_lanes *lanes, const uint8_t *values, \
		uint32_t count, unsigned int workers, uint8_t *result)                            \
	{                                                                                         \
		(void)workers;                                                                    \
		return finish_keys(format, greatest, lanes, values, count, result);               \
	}

#define LEAST_AND_GREATEST(format, name)        \
	KEY_FUNCTIONS(format, name, min, false) \
	KEY_FUNCTIONS(format, name, max, true)

/* Made of plain C for all instruction sets. */
PAIR_FUNCTIONS(AGGREGATE_FP8_E4M3, fp8_e4m3, AGGREGATE_FP16, fp16)
PAIR_FUNCTIONS(AGGREGATE_FP8_E4M3, fp8_e4m3, AGGREGATE_BF16, bf16)
PAIR_FUNCTIONS(AGGREGATE_FP8_E4M3, fp8_e4m3, AGGREGATE_FP32, fp32)
PAIR_FUNCTIONS(AGGREGATE_FP8_E5M2, fp8_e5m2, AGGREGATE_FP16, fp16)
PAIR_FUNCTIONS(AGGREGATE_FP8_E5M2, fp8_e5m2, AGGREGATE_BF16, bf16)
PAIR_FUNCTIONS(AGGREGATE_FP8_E5M2, fp8_e5m2, AGGREGATE_FP32, fp32)

/* A row of the table; X(format, name). */
#define ALL_FORMATS(X)                        \
	X(AGGREGATE_FP16, fp16)               \
	X(AGGREGATE_POSIT16, posit16)         \
	X(AGGREGATE_BF16, bf16)               \
	X(AGGREGATE_POSIT16_ES2, posit16_es2) \
	X(AGGREGATE_FP32, fp32)               \
	X(AGGREGATE_INT32, int32)             \
	X(AGGREGATE_FP64, fp64)               \
	X(AGGREGATE_FP8_E4M3, fp8_e4m3)       \
	X(AGGREGATE_FP8_E5M2, fp8_e5m2)       \
	X(AGGREGATE_INT64, int64)

ALL_FORMATS(LEAST_AND_GREATEST)

/* Those with results of another format; X(format, name, to, to_name). */
#define ALL_PAIRS(X)                                          \
	X(AGGREGATE_FP16, fp16, AGGREGATE_FP32, fp32)         \
	X(AGGREGATE_BF16, bf16, AGGREGATE_FP32, fp32)         \
	X(AGGREGATE_FP8_E4M3, fp8_e4m3, AGGREGATE_FP16, fp16) \
	X(AGGREGATE_FP8_E4M3, fp8_e4m3, AGGREGATE_BF16, bf16) \
	X(AGGREGATE_FP8_E4M3, fp8_e4m3, AGGREGATE_FP32, fp32) \
	X(AGGREGATE_FP8_E5M2, fp8_e5m2, AGGREGATE_FP16, fp16) \
	X(AGGREGATE_FP8_E5M2, fp8_e5m2, AGGREGATE_BF16, bf16) \
	X(AGGREGATE_FP8_E5M2, fp8_e5m2, AGGREGATE_FP32, fp32)

#define SUM_ENTRY(format, name) \
	[format] = {begin_##name, add_##name, finish_sum_##name, lanes_to_totals_##name},
#define MEAN_ENTRY(format, name) \
	[format] = {begin_##name, add_##name, finish_mean_##name, lanes_to_totals_##name},
#define SUM_PAIR(format, name, to, to_name) \
	[AGGREGATE_INTO(format, to)] = {    \
		begin_##name, add_##name, finish_sum_##name##_##to_name, lanes_to_totals_##name},
#define MEAN_PAIR(format, name, to, to_name) \
	[AGGREGATE_INTO(format, to)] = {     \
		begin_##name, add_##name, finish_mean_##name##_##to_name, lanes_to_totals_##name},
#define MIN_ENTRY(format, name) \
	[format] = {begin_min_##name, add_min_##name, finish_min_##name, NULL},
#define MAX_ENTRY(format, name) \
	[format] = {begin_max_##name, add_max_##name, finish_max_##name, NULL},

/* In the order of enum aggregate_op. */
#define KERNEL_TABLE                                                                              \
	{                                                                                         \
		{ALL_FORMATS(SUM_ENTRY) ALL_PAIRS(SUM_PAIR)},                                     \
			{ALL_FORMATS(MEAN_ENTRY) ALL_PAIRS(MEAN_PAIR)}, {ALL_FORMATS(MIN_ENTRY)}, \
		{                                                                                 \
			ALL_FORMATS(MAX_ENTRY)                                                    \
		}                                                                                 \
	}

#endif /* KERNELS_LANES_H */

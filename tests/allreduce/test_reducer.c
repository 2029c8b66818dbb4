/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions in memory, of fewer and of more ranks than a switch has workers, lane by lane. */
#include <stdlib.h>
#include <string.h>

#include <aggregate_exact.h>
#include <aggregate_format.h>

#include "cases.h"
#include "memory/reducer.h"

#define MAX_RANKS 200
#define MAX_COUNT 1500 /* blocks, and a part of one */

static uint64_t
draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 11 ^ *state << 40;
}

/* Any bits; or of a few magnitudes, or zeros, in lanes that no rank gives anything else in. */
static uint64_t
value_of(size_t lane, uint64_t *state, unsigned int format)
{
	const uint64_t bits = draw(state);
	const bool wide = format == AGGREGATE_FP64;

	switch (lane % 4) {
	case 0:
		return wide ? bits : bits >> 32;
	case 1:
		return wide ? UINT64_C(1) << 63 : UINT64_C(1) << 31; /* -0 */
	case 2:
		return wide ? (bits & 0x801fffffffffffff) : (bits >> 32 & 0x80ffffff);
	default:
		return wide ? (bits & 0x803fffffffffffff) | UINT64_C(0x7fc) << 52
			    : (bits >> 32 & 0x81ffffff) | UINT64_C(0x7d) << 24;
	}
}

static bool
is_nan(uint64_t bits, unsigned int format)
{
	return format == AGGREGATE_FP64 ? (bits & INT64_MAX) > UINT64_C(0x7ff) << 52
					: (bits & INT32_MAX) > UINT64_C(0xff) << 23;
}

/* Signed integers in the order of the numbers. */
static int64_t
order(uint64_t bits, unsigned int format)
{
	const int64_t all = format == AGGREGATE_FP64 ? (int64_t)bits
						     : (int64_t)((uint64_t)(uint32_t)bits << 32);

	return all < 0 ? all ^ INT64_MAX : all;
}

/* Of a lane: whether the result is the least or greatest, or the exact sum. */
static void
check_lane(uint64_t result, const uint64_t *values, unsigned int ranks, unsigned int format,
	unsigned int op)
{
	const unsigned int bytes = aggregate_value_bytes(format);
	struct aggregate_exact sum = {0};
	uint64_t wanted = 0;
	bool has_nan = false;

	for (unsigned int r = 0; r < ranks; r++) {
		aggregate_exact_add(&sum, format, &values[r], 1);
		has_nan = has_nan || is_nan(values[r], format);
		if (r == 0 ||
			(op == AGGREGATE_MAX) == (order(values[r], format) > order(wanted, format)))
			wanted = values[r];
	}
	if (op == AGGREGATE_SUM) {
		wanted = 0;
		aggregate_exact_round(&sum, format, &wanted);
		has_nan = is_nan(wanted, format);
	}
	if (has_nan)
		assert_true(is_nan(result, format));
	else
		assert_memory_equal(&result, &wanted, bytes);
}

static void
check(struct reducer *reducer, unsigned int format, unsigned int op, unsigned int ranks,
	size_t count)
{
	static uint8_t given[MAX_RANKS * MAX_COUNT * 8], results[MAX_COUNT * 8];
	static uint64_t values[MAX_COUNT][MAX_RANKS];
	const unsigned int bytes = aggregate_value_bytes(format);
	uint64_t state = ranks * count + op, result;

	for (size_t i = 0; i < count; i++) {
		for (unsigned int r = 0; r < ranks; r++) {
			values[i][r] = value_of(i, &state, format);
			aggregate_swap_values(given + (r * count + i) * bytes,
				(const uint8_t *)&values[i][r], 1, bytes);
		}
	}
	reducer_reduce(reducer, format, op,
		&(struct reducer_values){given, count * bytes, ranks, count}, results);
	for (size_t i = 0; i < count; i++) {
		result = 0;
		memcpy(&result, results + i * bytes, bytes);
		check_lane(result, values[i], ranks, format, op);
	}
}

TEST(test_reductions)
{
	static const unsigned int ranks[] = {2, 3, 64, 65, 128, 129, MAX_RANKS};
	static const size_t counts[] = {0, 1, 64, MAX_COUNT};
	static const unsigned int ops[] = {AGGREGATE_SUM, AGGREGATE_MIN, AGGREGATE_MAX};
	struct reducer *reducer = reducer_new();

	assert_non_null(reducer);
	for (size_t i = 0; i < 7 * 4 * 3; i++) {
		check(reducer, AGGREGATE_FP32, ops[i % 3], ranks[i / 12], counts[i / 3 % 4]);
		check(reducer, AGGREGATE_FP64, ops[i % 3], ranks[i / 12], counts[i / 3 % 4]);
	}
	reducer_free(reducer);
}

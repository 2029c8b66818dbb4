/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums in two integers of 32 bits, rounded, against the oracle. */
#include <string.h>

#include <aggregate_registers.h>

#include "cases.h"
#include "exact.h"
#include "registers.h"

#define LANES 1000
#define ROUNDS 20

static uint64_t values[LANES][AGGREGATE_SUMS_WORKERS];
static uint8_t sums[LANES * AGGREGATE_SUMS_BYTES + 1];

/* The lane's values in registers, by the way in which they come. */
static void
add_up(enum aggregate_format format, uint32_t lane, unsigned int workers, uint8_t *bytes)
{
	struct registers registers;

	for (unsigned int w = 0; w < workers; w++)
		registers_add(&registers, format, values[lane][w], w == 0);
	registers_write(&registers, format, bytes);
}

/* At odd addresses. */
static void
check(enum aggregate_format format, unsigned int op, unsigned int workers, uint32_t count)
{
	const size_t width = aggregate_value_bytes(format);
	uint8_t result[4 * LANES + 1];
	uint8_t flags, all = 0;

	for (uint32_t lane = 0; lane < count; lane++)
		add_up(format, lane, workers, sums + 1 + lane * aggregate_registers_bytes(format));
	memset(result, 0xaa, sizeof(result));
	assert_int_equal(
		aggregate_registers_round(format, op, workers, sums + 1, 0, result + 1), 0);
	assert_int_equal(result[1], 0xaa);
	flags = aggregate_registers_round(format, op, workers, sums + 1, count, result + 1);
	for (uint32_t lane = 0; lane < count; lane++) {
		struct oracle_result expected = oracle_reduce(op, format, values[lane], workers);
		uint32_t bits = 0;

		memcpy(&bits, result + 1 + width * lane, width);
		assert_int_equal(bits, expected.bits);
		all |= expected.flags;
	}
	assert_int_equal(flags, all);
}

static void
all_kinds_of_values(enum aggregate_format format)
{
	uint64_t seed = 1;

	for (enum data_kind kind = 0; kind < DATA_KINDS; kind++) {
		for (unsigned int workers = 1; workers <= AGGREGATE_SUMS_WORKERS; workers++) {
			for (uint32_t lane = 0; lane < LANES; lane++)
				data_fill(kind, format, values[lane], workers, &seed);
			check(format, AGGREGATE_SUM, workers, LANES);
			check(format, AGGREGATE_MEAN, workers, LANES);
		}
	}
}

TEST(all_kinds_of_fp16)
{
	all_kinds_of_values(AGGREGATE_FP16);
}

TEST(all_kinds_of_int32)
{
	all_kinds_of_values(AGGREGATE_INT32);
}

TEST(all_kinds_of_fp8_e4m3)
{
	all_kinds_of_values(AGGREGATE_FP8_E4M3);
}

/* A lane alone: its flags are all there are. */
TEST(flags_of_single_lanes)
{
	uint64_t seed = 2;

	for (unsigned int i = 0; i < 50000; i++) {
		static const enum aggregate_format formats[] = {
			AGGREGATE_FP16, AGGREGATE_INT32, AGGREGATE_FP8_E4M3};
		const enum aggregate_format format = formats[i / 10 % 3];
		unsigned int workers = 1 + i % 5, op = AGGREGATE_SUM + i / 5 % 2;
		uint8_t result[4];

		data_fill(i % DATA_KINDS, format, values[0], workers, &seed);
		check(format, op, workers, 1);
		assert_int_equal(
			aggregate_registers_round(format, op, workers, sums + 1, 1, result),
			oracle_reduce(op, format, values[0], workers).flags);
	}
}

/* What the order of the workers is cannot be seen in the registers either. */
TEST(any_order_gives_the_same_registers)
{
	uint8_t first[AGGREGATE_SUMS_BYTES], again[AGGREGATE_SUMS_BYTES];
	struct {
		uint8_t result[2], flags;
	} one, other;
	uint64_t seed = 3;

	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int workers = 2 + i % 31;

		data_fill(i % 2 ? DATA_SPECIAL : DATA_ZEROS, AGGREGATE_FP16, values[0], workers,
			&seed);
		add_up(AGGREGATE_FP16, 0, workers, first);
		one.flags = aggregate_registers_round(
			AGGREGATE_FP16, AGGREGATE_SUM, workers, first, 1, one.result);
		for (unsigned int round = 0; round < ROUNDS; round++) {
			data_shuffle(values[0], workers, &seed);
			add_up(AGGREGATE_FP16, 0, workers, again);
			other.flags = aggregate_registers_round(
				AGGREGATE_FP16, AGGREGATE_SUM, workers, again, 1, other.result);
			assert_memory_equal(&other, &one, sizeof(one));
		}
	}
}

/* The greatest sums of 32 workers are still numbers. */
TEST(the_greatest_sums)
{
	static const uint32_t greatest[][5] = {
		{AGGREGATE_FP16, 0x7bff, 0xfbff, 0x3fff, 0xbfff},
		{AGGREGATE_INT32, 0x7fffffff, 0x80000000, 0x0000ffff, 0xffffffff},
		{AGGREGATE_FP8_E4M3, 0x7e, 0xfe, 0x01, 0x81},
	};

	for (unsigned int f = 0; f < 3; f++) {
		for (unsigned int i = 1; i < 5; i++) {
			for (unsigned int w = 0; w < AGGREGATE_SUMS_WORKERS; w++)
				values[0][w] = greatest[f][i];
			check(greatest[f][0], AGGREGATE_SUM, AGGREGATE_SUMS_WORKERS, 1);
			check(greatest[f][0], AGGREGATE_MEAN, AGGREGATE_SUMS_WORKERS, 1);
		}
	}
}

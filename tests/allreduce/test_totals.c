/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact sums that a worker has alone: the oracle's bits, of numbers that are alike and of others,
 * lane by lane or many at once, and how much memory they take.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aggregate_digits.h>

#include "cases.h"
#include "exact.h"
#include "workers.h"

#define VECTORS 12
#define LANES 1500

static const struct {
	unsigned int format, bits, fraction_bits;
} binaries[] = {
	{NETFC_ALLREDUCE_FP16, 16, 10},
	{NETFC_ALLREDUCE_BF16, 16, 7},
	{NETFC_ALLREDUCE_FP32, 32, 23},
	{NETFC_ALLREDUCE_FP64, 64, 52},
};

/* In pieces of any length. */
static void
add_pieces(struct netfc_allreduce_totals *totals, uint64_t count, unsigned int bytes,
	const uint8_t *values, uint64_t *seed)
{
	for (uint64_t first = 0; first < count;) {
		uint64_t left = count - first, some = 1 + next_random(seed) % left;

		netfc_allreduce_totals_add_some(totals, first, some, values + first * bytes);
		first += some;
	}
}

static void
check(const struct netfc_allreduce_totals *totals, const struct vector *vector)
{
	uint8_t *result = malloc((size_t)vector->count * 8);
	unsigned int flags = ~0u;

	assert_non_null(result);
	netfc_allreduce_totals_round(totals, result, &flags);
	assert_int_equal(vector_differs(vector, result), 0);
	assert_int_equal(flags, vector->flags);
	free(result);
}

/* Every format, with results of another as well, of numbers of all kinds; means are of vectors. */
static void
check_any_numbers(unsigned int op)
{
	uint64_t seed = 1;

	for (unsigned int format = 1; format < AGGREGATE_PAIR_END; format++) {
		struct netfc_allreduce_totals *totals;
		struct vector *vector;
		unsigned int bytes = aggregate_value_bytes(format);

		if (!aggregate_has_format(AGGREGATE_SUM, format))
			continue;
		vector = vector_new(format, op, VECTORS, LANES, format);
		totals = netfc_allreduce_totals_new(format, LANES);
		assert_non_null(totals);
		assert_int_equal(netfc_allreduce_totals_divide(
					 totals, op == NETFC_ALLREDUCE_MEAN ? VECTORS : 0),
			NETFC_ALLREDUCE_OK);
		for (unsigned int round = 0; round < 2; round++) {
			for (unsigned int v = 0; v < VECTORS; v++)
				add_pieces(totals, LANES, bytes, vector->values[v], &seed);
			check(totals, vector);
			netfc_allreduce_totals_clear(totals);
		}
		netfc_allreduce_totals_free(totals);
		vector_free(vector);
	}
}

TEST(test_any_numbers)
{
	check_any_numbers(NETFC_ALLREDUCE_SUM);
	check_any_numbers(NETFC_ALLREDUCE_MEAN);
}

/* What was said before stays. */
TEST(test_divisors_out_of_range)
{
	struct netfc_allreduce_totals *totals = netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP32, 1);
	const uint32_t most = NETFC_ALLREDUCE_MAX_DIVISOR;
	const float one = 1;
	float result;

	netfc_allreduce_totals_add(totals, &one);
	assert_int_equal(netfc_allreduce_totals_divide(totals, most), NETFC_ALLREDUCE_OK);
	assert_int_equal(netfc_allreduce_totals_divide(totals, most + 1), NETFC_ALLREDUCE_ARGUMENT);
	netfc_allreduce_totals_round(totals, &result, NULL);
	assert_true(result == 0x1p-24f);
	netfc_allreduce_totals_free(totals);
}

static void
put(uint8_t *at, unsigned int bytes, uint64_t bits)
{
	memcpy(at, &bits, bytes); /* little-endian, as all processors that this is built for */
}

/* Numbers within some powers of two, zeros of both signs among them. */
static struct vector *
similar(unsigned int b, unsigned int powers, uint64_t *seed)
{
	const unsigned int format = binaries[b].format, bytes = binaries[b].bits / 8;
	const unsigned int fraction = binaries[b].fraction_bits;
	const uint64_t exponents = (UINT64_C(1) << (binaries[b].bits - 1 - fraction)) - 1;
	struct vector *vector = vector_new(format, NETFC_ALLREDUCE_SUM, VECTORS, LANES, 1);
	const uint64_t some = powers < exponents ? powers : exponents;
	const uint64_t lowest = next_random(seed) % (exponents - some + 1);

	vector->flags = 0;
	for (uint32_t lane = 0; lane < LANES; lane++) {
		uint64_t values[VECTORS];
		struct oracle_result result;

		for (unsigned int v = 0; v < VECTORS; v++) {
			uint64_t random = next_random(seed);

			values[v] = (lowest + random % some) << fraction |
				(next_random(seed) & ((UINT64_C(1) << fraction) - 1));
			if (random >> 60 == 0 || lane % 32 == 0)
				values[v] = 0;
			values[v] |= (random >> 40 & 1) << (binaries[b].bits - 1);
			put(vector->values[v] + (size_t)lane * bytes, bytes, values[v]);
		}
		result = oracle_reduce(NETFC_ALLREDUCE_SUM, format, values, VECTORS);
		put(vector->expected + (size_t)lane * bytes, bytes, result.bits);
		vector->flags |= result.flags;
	}
	return vector;
}

TEST(test_similar_numbers)
{
	static const unsigned int powers[] = {1, 8, 20, 40, 64};
	uint64_t seed = 1;

	for (unsigned int b = 0; b < 4; b++) {
		for (unsigned int p = 0; p < 5; p++) {
			struct vector *vector = similar(b, powers[p], &seed);
			struct netfc_allreduce_totals *totals =
				netfc_allreduce_totals_new(vector->format, LANES);

			for (unsigned int v = 0; v < VECTORS; v++)
				add_pieces(totals, LANES, binaries[b].bits / 8, vector->values[v],
					&seed);
			check(totals, vector);
			netfc_allreduce_totals_free(totals);
			vector_free(vector);
		}
	}
}

/* Or what is measured as the fast way would not be it. */
TEST(test_similar_numbers_are_added_at_once)
{
	uint64_t seed = 3;

	for (unsigned int b = 0; b < 4; b++) {
		struct vector *vector = similar(b, 32, &seed);
		void *memory = calloc(1, aggregate_totals_bytes(vector->format, 256));
		struct aggregate_totals totals = aggregate_totals_init(vector->format, 256, memory);

		assert_true(aggregate_totals_add_similar(&totals, vector->values[0]));
		put(vector->values[0] + binaries[b].bits, binaries[b].bits / 8, UINT64_MAX >> 1);
		assert_false(aggregate_totals_add_similar(&totals, vector->values[0]));
		free(memory);
		vector_free(vector);
	}
}

#define TIMES 5000 /* more than bins have room for without a carry */

/* 0x1.fffffep23 * 2^12 * TIMES, and its negative: bins are as full as they can be. */
TEST(test_many_additions)
{
	struct netfc_allreduce_totals *totals =
		netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP32, LANES);
	static float values[LANES], result[LANES];

	for (int i = 0; i < LANES; i++)
		values[i] = (i % 2 == 0 ? 0x1.fffffep0f : -0x1.fffffep0f) *
			(float)(UINT32_C(1) << i % 31);
	for (int t = 0; t < TIMES; t++)
		netfc_allreduce_totals_add(totals, values);
	netfc_allreduce_totals_round(totals, result, NULL);
	for (int i = 0; i < LANES; i++)
		assert_true(result[i] == (float)((double)values[i] * TIMES));
	netfc_allreduce_totals_free(totals);
}

/* All lanes into one, as if their numbers had been added there. */
TEST(test_folding)
{
	uint64_t seed = 9;

	for (unsigned int b = 0; b < 4; b++) {
		struct vector *vector = similar(b, 8, &seed);
		const unsigned int bytes = binaries[b].bits / 8;
		struct netfc_allreduce_totals *lanes =
			netfc_allreduce_totals_new(vector->format, LANES);
		struct netfc_allreduce_totals *one = netfc_allreduce_totals_new(vector->format, 3);
		struct netfc_allreduce_totals *other =
			netfc_allreduce_totals_new(vector->format, 3);
		uint8_t folded[3 * 8], added[3 * 8];

		for (unsigned int v = 0; v < VECTORS; v++) {
			netfc_allreduce_totals_add(lanes, vector->values[v]);
			for (unsigned int lane = 0; lane < LANES; lane++)
				netfc_allreduce_totals_add_some(
					other, 1, 1, vector->values[v] + lane * bytes);
		}
		netfc_allreduce_totals_add(one, vector->values[0]);
		netfc_allreduce_totals_add(other, vector->values[0]);
		netfc_allreduce_totals_fold(one, 1, lanes);
		netfc_allreduce_totals_round(one, folded, NULL);
		netfc_allreduce_totals_round(other, added, NULL);
		assert_memory_equal(folded, added, 3 * bytes);
		check(lanes, vector);
		netfc_allreduce_totals_free(lanes);
		netfc_allreduce_totals_free(one);
		netfc_allreduce_totals_free(other);
		vector_free(vector);
	}
}

/* Bytes of memory that this process has. */
static size_t
resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long size, pages;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu %lu", &size, &pages), 2);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#define MANY (1u << 20)
#ifdef __SANITIZE_THREAD__
#define SHADOWED 3 /* memory and the sanitizer's shadow of it, in multiples of the former */
#else
#define SHADOWED 1
#endif

/* Numbers as gradients are: sums of random ones have a bell's shape, and some are very small. */
TEST(test_memory_of_gradients)
{
	struct netfc_allreduce_totals *totals =
		netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP32, MANY);
	float *values = malloc(MANY * sizeof(*values));
	size_t before, after;
	uint64_t seed = 5;

	assert_non_null(values);
	for (unsigned int i = 0; i < MANY; i++) {
		float sum = 0;

		for (unsigned int n = 0; n < 4; n++)
			sum += (float)(int32_t)next_random(&seed) * 0x1p-31f;
		values[i] = sum * 0x1p-9f;
	}
	before = resident();
	for (unsigned int unit = 0; unit < 8; unit++)
		netfc_allreduce_totals_add(totals, values);
	after = resident();
	print_message("# %.1f bytes a lane\n", (double)(after - before) / MANY);
	assert_true(after - before <= 28 * SHADOWED * (size_t)MANY);
	netfc_allreduce_totals_free(totals);
	free(values);
}

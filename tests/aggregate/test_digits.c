/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals and digits against the oracle, in every format and with results of another. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate_digits.h>

#include "cases.h"
#include "exact.h"

#define LANES 60
#define MAX_MEMBERS 6
#define ROOM (AGGREGATE_PART_BYTES + LANES * (4 * (AGGREGATE_MAX_DIGITS + 1) + 1))

#define FOREACH_FORMAT(format)                                               \
	for (unsigned int format = 1; format < AGGREGATE_PAIR_END; format++) \
		if (aggregate_has_format(AGGREGATE_SUM, format))

static uint64_t values[LANES][AGGREGATE_MAX_WORKERS];
static uint8_t part[ROOM];

/* Totals of each instruction set in turn: what one has written, another adds. */
static struct aggregate_totals
new_totals(unsigned int format)
{
	static unsigned int made;
	void *memory = malloc(aggregate_totals_bytes(format, LANES));
	struct aggregate_totals totals;

	assert_non_null(memory);
	totals = aggregate_totals_init(format, LANES, memory);
	aggregate_totals_choose(&totals, made++ % (aggregate_isa_best() + 1));
	return totals;
}

static void
add_worker(struct aggregate_totals *totals, unsigned int w)
{
	uint8_t packet[LANES * 8];

	for (uint32_t lane = 0; lane < LANES; lane++)
		data_put(totals->format, packet, lane, values[lane][w]);
	aggregate_totals_add_values(totals, packet);
}

static void
check(const struct aggregate_totals *totals, unsigned int op, unsigned int workers)
{
	uint8_t result[LANES * 8 + 1], expected_flags = 0, flags;

	flags = aggregate_totals_round(totals, op, workers, result + 1);
	for (uint32_t lane = 0; lane < LANES; lane++) {
		struct oracle_result expected =
			oracle_reduce(op, totals->format, values[lane], workers);
		uint64_t bits =
			data_get(aggregate_results_format(totals->format), result + 1, lane);

		if (bits != expected.bits)
			print_message("%s %s of %u, lane %u: %#lx, not %#lx\n",
				aggregate_format_name(totals->format), aggregate_op_name(op),
				workers, lane, (unsigned long)bits, (unsigned long)expected.bits);
		assert_true(bits == expected.bits);
		expected_flags |= expected.flags;
	}
	assert_int_equal(flags, expected_flags);
}

/* In so many parts, which are of any length. */
static void
hand_on(const struct aggregate_totals *from, struct aggregate_totals *to, unsigned int parts,
	uint64_t *seed)
{
	uint32_t first = 0;

	for (unsigned int p = 0; p < parts; p++) {
		uint32_t most = LANES - first - (parts - 1 - p);
		uint32_t lanes = p + 1 < parts ? 1 + next_random(seed) % most : most;
		size_t bytes = aggregate_totals_write_part(from, (uint16_t)first, (uint16_t)lanes,
			(uint8_t)p, (uint8_t)parts, part, sizeof(part));
		struct aggregate_part read;

		assert_true(bytes > 0);
		assert_int_equal(aggregate_totals_write_part(from, (uint16_t)first, (uint16_t)lanes,
					 (uint8_t)p, (uint8_t)parts, part, bytes - 1),
			0);
		assert_int_equal(aggregate_part_read(part, bytes, &read), 0);
		assert_int_equal(aggregate_part_read(part, bytes - 1, &read), -1);
		assert_int_equal(aggregate_part_read(part, bytes, &read), 0);
		assert_int_equal(aggregate_part_bytes(&read), bytes);
		assert_true(aggregate_part_fits(&read, to->format, LANES));
		assert_false(aggregate_part_fits(&read, to->format, first + lanes - 1));
		aggregate_totals_add_part(to, &read);
		first += lanes;
	}
}

/* Workers behind members, which hand on what they have, through two levels. */
static void
check_tree(unsigned int format, unsigned int workers, uint64_t *seed)
{
	struct aggregate_totals member[MAX_MEMBERS], top = new_totals(format);
	struct aggregate_totals whole = new_totals(format), again = new_totals(format);
	unsigned int members = 1 + next_random(seed) % MAX_MEMBERS;

	for (unsigned int m = 0; m < members; m++)
		member[m] = new_totals(format);
	for (unsigned int w = 0; w < workers; w++) {
		add_worker(&member[next_random(seed) % members], w);
		add_worker(&whole, w);
	}
	for (unsigned int m = 0; m < members; m++) {
		hand_on(&member[m], &top, 1 + next_random(seed) % 5, seed);
		free(member[m].bins);
	}
	hand_on(&top, &again, 3, seed);
	for (unsigned int op = AGGREGATE_SUM; op <= AGGREGATE_MEAN; op++)
		for (enum aggregate_isa isa = 0; isa <= aggregate_isa_best(); isa++) {
			aggregate_totals_choose(&whole, isa);
			aggregate_totals_choose(&top, isa);
			aggregate_totals_choose(&again, isa);
			check(&whole, op, workers);
			check(&top, op, workers);
			check(&again, op, workers);
		}
	free(top.bins);
	free(whole.bins);
	free(again.bins);
}

TEST(digits_of_members_give_what_values_give)
{
	uint64_t seed = 1;

	FOREACH_FORMAT(format)
	for (enum data_kind kind = 0; kind < DATA_KINDS; kind++)
		for (unsigned int workers = 1; workers <= AGGREGATE_MAX_WORKERS;
			workers += workers < 8 ? 1 : 14) {
			for (uint32_t lane = 0; lane < LANES; lane++)
				data_fill(kind, format, values[lane], workers, &seed);
			check_tree(format, workers, &seed);
		}
}

/* A part by itself is as wide as its lanes need. */
TEST(parts_are_narrow)
{
	struct aggregate_totals totals = new_totals(AGGREGATE_INT64);
	struct aggregate_part read;
	uint8_t packet[LANES * 8] = {0};
	size_t bytes;

	data_put(AGGREGATE_INT64, packet, 1, UINT64_MAX);
	data_put(AGGREGATE_INT64, packet, 2, INT32_MAX);
	data_put(AGGREGATE_INT64, packet, 3, UINT64_C(1) << 31);
	data_put(AGGREGATE_INT64, packet, 4, UINT64_C(5) << 32);
	aggregate_totals_add_values(&totals, packet);
	for (uint16_t first = 0; first < 5; first++) {
		static const uint8_t widths[] = {1, 1, 1, 2, 1}, lowest[] = {0, 0, 0, 0, 1};

		bytes = aggregate_totals_write_part(&totals, first, 1, 0, 1, part, sizeof(part));
		assert_int_equal(aggregate_part_read(part, bytes, &read), 0);
		assert_int_equal(read.width, widths[first]);
		assert_int_equal(read.lowest, lowest[first]);
		assert_null(read.marks);
	}
	free(totals.bins);
}

TEST(what_is_no_part_is_refused)
{
	/* Lanes 0 to 1 of a digit each, part 0 of 1. */
	const uint8_t good[16] = {0, 0, 0, 2, 0, 1, 0, 1, 0, 0, 0, 7, 0, 0, 0, 8};
	static const struct {
		unsigned int at;
		uint8_t is;
	} bad[] = {{3, 0}, {3, 3}, {4, 1}, {5, 0}, {5, 65}, {5, 0x80}, {5, 0x81}, {7, 0}, {7, 0x81},
		{7, 0x80}, {7, 2}};
	struct aggregate_part read;
	uint8_t bytes[16];

	for (size_t length = 0; length < sizeof(good); length++)
		assert_int_equal(aggregate_part_read(good, length, &read), -1);
	assert_int_equal(aggregate_part_read(good, sizeof(good), &read), 0);
	assert_true(aggregate_part_fits(&read, AGGREGATE_FP16, 2));
	read.lowest = 3;
	assert_true(aggregate_part_fits(&read, AGGREGATE_FP16, 2));
	assert_false(aggregate_part_exceeds(&read, AGGREGATE_FP16));
	/* Of several workers, as long as it is that small. */
	read.lowest = 4;
	assert_true(aggregate_part_fits(&read, AGGREGATE_FP16, 2));
	assert_true(aggregate_part_exceeds(&read, AGGREGATE_FP16));
	read.lowest = 5;
	assert_false(aggregate_part_fits(&read, AGGREGATE_FP16, 2));
	read.lowest = 4;
	memcpy(bytes, good, sizeof(good));
	bytes[12] = 2; /* 2^25 and 8 */
	read.digits = bytes + AGGREGATE_PART_BYTES;
	assert_false(aggregate_part_fits(&read, AGGREGATE_FP16, 2));
	for (unsigned int b = 0; b < sizeof(bad) / sizeof(bad[0]); b++) {
		memcpy(bytes, good, sizeof(good));
		bytes[bad[b].at] = bad[b].is;
		assert_int_equal(aggregate_part_read(bytes, sizeof(bytes), &read), -1);
	}
}

/* After marks, too. */
TEST(divisors_are_behind_parts)
{
	static const uint32_t good[] = {1, 6, AGGREGATE_MAX_DIVISOR};
	static const uint32_t bad[] = {0, AGGREGATE_MAX_DIVISOR + 1, UINT32_MAX};
	struct aggregate_totals totals = new_totals(AGGREGATE_FP32);
	uint8_t packet[LANES * 4] = {0x7f, 0x80};
	struct aggregate_part read;
	size_t bytes, whole;

	aggregate_totals_add_values(&totals, packet);
	bytes = aggregate_totals_write_part(&totals, 0, LANES, 0, 1, part, sizeof(part));
	assert_int_equal(aggregate_part_put_divisor(part, bytes, 0), bytes);
	assert_int_equal(aggregate_part_read(part, bytes, &read), 0);
	assert_int_equal(read.divisor, 0);
	for (unsigned int d = 0; d < 3; d++) {
		uint32_t divisor = htobe32(bad[d]);

		whole = aggregate_part_put_divisor(part, bytes, good[d]);
		assert_int_equal(whole, bytes + AGGREGATE_DIVISOR_BYTES);
		assert_int_equal(aggregate_part_read(part, whole - 1, &read), -1);
		assert_int_equal(aggregate_part_read(part, whole, &read), 0);
		assert_int_equal(read.divisor, good[d]);
		assert_int_equal(read.parts, 1);
		assert_int_equal(read.marks[0], AGGREGATE_MARK_PLUS_INF);
		assert_int_equal(aggregate_part_bytes(&read), whole);
		memcpy(part + bytes, &divisor, sizeof(divisor));
		assert_int_equal(aggregate_part_read(part, whole, &read), -1);
	}
	free(totals.bins);
}

/* Whole doubles that add up to a number of up to 2^80. */
static void
add_whole(struct aggregate_totals *totals, unsigned __int128 number)
{
	uint8_t packet[LANES * 8] = {0};

	for (int shift = 0; shift < 80; shift += 40) {
		const double value = (double)((uint64_t)(number >> shift) & 0xffffffffff) *
			(double)(UINT64_C(1) << shift);
		uint64_t bits;

		memcpy(&bits, &value, sizeof(bits));
		data_put(AGGREGATE_FP64, packet, 0, bits);
		aggregate_totals_add_values(totals, packet);
	}
}

/* Half-way between two doubles, or one in the sum beside it, divided among many workers. */
TEST(means_beside_the_middle)
{
	uint64_t seed = 1;

	for (unsigned int trial = 0; trial < 3000; trial++) {
		const uint32_t workers = 1 + (uint32_t)next_random(&seed) % ((1u << 24) - 1);
		const uint64_t even = UINT64_C(1) << 52 | (next_random(&seed) >> 12 & ~1ull);

		for (int beside = -1; beside <= 1; beside++) {
			const double expected = (double)(even + (beside > 0));
			struct aggregate_totals totals = new_totals(AGGREGATE_FP64);
			uint8_t result[LANES * 8];
			uint64_t bits;

			add_whole(&totals, (unsigned __int128)workers * (2 * even + 1) + beside);
			aggregate_totals_round(&totals, AGGREGATE_MEAN, workers, result);
			memcpy(&bits, &expected, sizeof(bits));
			/* In halves. */
			assert_int_equal(
				data_get(AGGREGATE_FP64, result, 0), bits + (UINT64_C(1) << 52));
			free(totals.bins);
		}
	}
}

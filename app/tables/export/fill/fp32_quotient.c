/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quotients of binary32 in P4: two digits of 13 bits (docs/p4.md), which the library has in other
 * pieces. The entries do not depend on a set.
 */

#include <string.h>

#include "export/fill/fill.h"

#define BITS 32
#define FRACTION_BITS 23

/* The bits behind a leading one, of a dividend and, for its reciprocal, a divisor. */
#define UPPER_KEY_BITS 15
/* How many places up reciprocals stand. */
#define RECIP_PLACES 10
#define RECIP_LEAD (1 << 14) /* its leading one, which words lack */

/* The reciprocal of the middle of the divisors that have these bits: 2^38 / it, rounded. */
static void
recip_table(struct p4_program *program)
{
	static const struct p4_table pattern = {
		.instance = {"begin.recip.place"},
		.key_count = 1,
		.key = {{"digit", UPPER_KEY_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"add", 1, {{"part", BITS}}}},
	};
	struct p4_table *table = p4_add_table(program, &pattern);
	const unsigned rest = FRACTION_BITS - UPPER_KEY_BITS;

	for (uint32_t key = 0; key < 1u << UPPER_KEY_BITS; key++) {
		const uint64_t least = (uint64_t)(1u << UPPER_KEY_BITS | key) << rest;
		const uint64_t recip = ((1ull << 40) / (2 * least + p4_low_bits(rest)) + 1) / 2;
		const uint64_t most = 2 * RECIP_LEAD - 1;

		p4_add_word(table, key,
			(uint32_t)((recip < most ? recip : most) - RECIP_LEAD) << RECIP_PLACES);
	}
}

/*
 * Tables for a product of two numbers, by a key that is their sum or difference n, less `offset`:
 * factor times a quarter of n^2, or, of an estimate, half of n (n + 1), which is the product with
 * 1/2 added to the first number, twice.
 */
struct product_part {
	const char *instance;
	int32_t first, last; /* keys */
	int32_t offset;
	int32_t factor;
	bool estimate;
	int32_t more; /* 1/2 to round by, and the digit's offset, both where the digit stands */
};

/* Estimates are 17 places up. */
#define DIGIT(number) ((int32_t)((number) * (1 << 17)))
/* What is taken off a digit of the quotient; their least and greatest values, so reduced. */
#define FIRST_OFFSET 2
#define FIRST_LEAST (4095 - FIRST_OFFSET)
#define FIRST_MOST (16385 - FIRST_OFFSET)
#define SECOND_OFFSET (-8192)
#define SECOND_LEAST (-5121 - SECOND_OFFSET)
#define SECOND_MOST (5121 - SECOND_OFFSET)
/* The second remainder's upper bits are so many, either side of 0. */
#define REMAINDERS 20480
/* A divisor's digits: the leading one, which the high one lacks; the greatest values. */
#define HIGH_LEAD (1 << 11)
#define HIGH_MOST (HIGH_LEAD - 1)
#define LOW_MOST 4095
#define HIGH_PLACES 12

static const struct product_part product_parts[] = {
	{"quotient.first.guess.square", 0, 2 * RECIP_LEAD - 2, 2 * RECIP_LEAD, 1, true,
		DIGIT(0.5 - FIRST_OFFSET)},
	{"quotient.first.guess.differ", 1 - RECIP_LEAD, RECIP_LEAD - 1, 0, -1, true, 0},
	{"quotient.first.by_high.square", FIRST_LEAST, FIRST_MOST + HIGH_MOST,
		FIRST_OFFSET + HIGH_LEAD, -(1 << HIGH_PLACES), false, 0},
	{"quotient.first.by_high.differ", FIRST_LEAST - HIGH_MOST, FIRST_MOST,
		FIRST_OFFSET - HIGH_LEAD, 1 << HIGH_PLACES, false, 0},
	{"quotient.first.by_low.square", FIRST_LEAST, FIRST_MOST + LOW_MOST, FIRST_OFFSET, -1,
		false, 0},
	{"quotient.first.by_low.differ", FIRST_LEAST - LOW_MOST, FIRST_MOST, FIRST_OFFSET, 1, false,
		0},
	{"quotient.second.guess.square", -REMAINDERS, REMAINDERS + RECIP_LEAD - 2, RECIP_LEAD, 1,
		true, DIGIT(0.5 - SECOND_OFFSET)},
	{"quotient.second.guess.differ", 1 - REMAINDERS - RECIP_LEAD, REMAINDERS - 1, -RECIP_LEAD,
		-1, true, 0},
	{"quotient.second.by_high.square", SECOND_LEAST, SECOND_MOST + HIGH_MOST,
		SECOND_OFFSET + HIGH_LEAD, -(1 << HIGH_PLACES), false, 0},
	{"quotient.second.by_high.differ", SECOND_LEAST - HIGH_MOST, SECOND_MOST,
		SECOND_OFFSET - HIGH_LEAD, 1 << HIGH_PLACES, false, 0},
	{"quotient.second.by_low.square", SECOND_LEAST, SECOND_MOST + LOW_MOST, SECOND_OFFSET, -1,
		false, 0},
	{"quotient.second.by_low.differ", SECOND_LEAST - LOW_MOST, SECOND_MOST, SECOND_OFFSET, 1,
		false, 0},
};

static void
product_table(struct p4_program *program, const struct product_part *part)
{
	const unsigned key_bits = part->estimate ? 16 : 15;
	const char *key = strstr(part->instance, "square") != NULL ? "sum" : "difference";
	const struct p4_table pattern = {
		.instance = {part->instance},
		.key_count = 1,
		.key = {{key, key_bits, P4_EXACT}},
		.action_count = 1,
		.action = {{"add", 1, {{"part", BITS}}}},
	};
	struct p4_table *table = p4_add_table(program, &pattern);

	for (int64_t index = part->first; index <= part->last; index++) {
		const int64_t n = index + part->offset;
		const int64_t product = part->estimate ? n * (n + 1) / 2 : n * n / 4;

		p4_add_word(table, p4_slice((uint32_t)index, 0, key_bits),
			(uint32_t)(part->factor * product + part->more));
	}
}

/*
 * Digits, of numbers and of the quotient, and how many places up they go. Those of the quotient,
 * too, in a word of 16 bits, a place up.
 */
struct placed {
	const char *instance;
	unsigned key_bits;
	int32_t first, last;
	unsigned places;
	bool cut;
};

static const struct placed placed[] = {
	{"begin.upper.place", UPPER_KEY_BITS, 0, (1 << UPPER_KEY_BITS) - 1, 9, false},
	{"quotient.dividend_high.place", 13, 0, HIGH_MOST, 25, false},
	{"quotient.dividend_low.place", 13, 0, LOW_MOST, 13, false},
	{"quotient.divisor_high.place", 13, 0, HIGH_MOST, 17, false},
	{"quotient.divisor_low.place", 13, 0, LOW_MOST, 17, false},
	{"quotient.first.digit.place", 15, FIRST_LEAST, FIRST_MOST, 18, true},
	{"quotient.second.digit.place", 15, SECOND_LEAST, SECOND_MOST, 6, true},
};

static void
placed_table(struct p4_program *program, const struct placed *digits)
{
	const struct p4_table pattern = {
		.instance = {digits->instance},
		.key_count = 1,
		.key = {{"digit", digits->key_bits, P4_EXACT}},
		.action_count = 1,
		.action = {{"add", digits->cut ? 2 : 1, {{"part", BITS}, {"cut", BITS / 2}}}},
	};
	struct p4_table *table = p4_add_table(program, &pattern);

	for (int32_t digit = digits->first; digit <= digits->last; digit++) {
		const uint32_t key = (uint32_t)digit;

		p4_add_exact(table, P4_WORDS(key), P4_WORDS(key << digits->places, key << 1));
	}
}

void
p4_fp32_quotient_tables(struct p4_program *program)
{
	recip_table(program);
	for (size_t d = 0; d < sizeof(placed) / sizeof(placed[0]); d++)
		placed_table(program, &placed[d]);
	for (size_t p = 0; p < sizeof(product_parts) / sizeof(product_parts[0]); p++)
		product_table(program, &product_parts[p]);
}

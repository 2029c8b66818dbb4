/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binary32 in P4. Hardware finds leading ones by ternary entries, and a table's entries tell
 * actions that shift by constants how far; what the library's programs do in several steps is one
 * there.
 */

#include <string.h>

#include "export/fill/fill.h"

#define BITS 32
#define FRACTION_BITS 23
#define EXPONENT_BITS 8
#define EXPONENT_SUM_BITS 10 /* of products and quotients, two's complement */
#define PLACES_BITS 5        /* how far a word is shifted */
#define SQUARE_BITS 13       /* sums and differences of two digits */

/* A set and the program to fill. */
struct fp32_source {
	const struct netfc_set *set;
	struct p4_program *program;
	enum netfc_op last_op;
};

/* ---- sums ------------------------------------------------------------------------------------ */

/* A sum's magnitude has so many bits. */
#define SUM_BITS 28
/* The library finds the leading one in two steps, the first of which is so wide. */
#define COARSE_PLACES 14

static void
exps_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"sum.exps"},
		.key = {{"exponent_x", EXPONENT_BITS, P4_EXACT},
			{"exponent_y", EXPONENT_BITS, P4_EXACT}},
		.action = {{"set_exps",
			{{"align_x", PLACES_BITS}, {"align_y", PLACES_BITS},
				{"greater", EXPONENT_BITS}}}},
	};
	static const struct p4_bits slices[] = {
		{8, PLACES_BITS}, {13, PLACES_BITS}, {0, EXPONENT_BITS}};

	p4_copy_table(source->set, "exps", &pattern, slices, source->program);
}

/* The table's actions. */
enum lead_action {
	ACTION_POSITIVE,
	ACTION_NEGATIVE
};

/* Sums with the same bits down to the leading one, which is bit `lead` of their magnitude. */
static void
add_lead(struct p4_table *table, enum lead_action action, unsigned lead, uint32_t value,
	uint32_t mask)
{
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {value},
			.mask = {mask},
			.arg = {SUM_BITS - 1 - lead},
			.priority = (uint16_t)table->count,
			.action = (uint8_t)action,
		});
}

/*
 * A negative sum has the complement of its magnitude's leading bits, but for powers of two, which
 * come first.
 */
static void
lead_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"sum.lead"},
		.key = {{"sum", BITS, P4_TERNARY}},
		.action = {[ACTION_POSITIVE] = {"positive", {{"zeros", PLACES_BITS}}},
			[ACTION_NEGATIVE] = {"negative", {{"zeros", PLACES_BITS}}}},
	};
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (unsigned lead = 0; lead < SUM_BITS; lead++)
		add_lead(table, ACTION_NEGATIVE, lead, -(1u << lead), p4_low_bits(BITS));
	for (unsigned lead = 0; lead < SUM_BITS; lead++) {
		const uint32_t mask = ~p4_low_bits(lead);

		add_lead(table, ACTION_POSITIVE, lead, 1u << lead, mask);
		add_lead(table, ACTION_NEGATIVE, lead, ~(1u << lead) & mask, mask);
	}
}

/* The library's places are 0 or 14, a bit of the key, and others. */
static void
norm_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"sum.norm"},
		.key = {{"negative", 1, P4_EXACT}, {"places", PLACES_BITS, P4_EXACT},
			{"exponent", EXPONENT_BITS, P4_EXACT}},
		.action = {{"set_norm", {{"left", PLACES_BITS}, {"base", BITS}}}},
	};
	const struct netfc_table *norm = netfc_set_find_table(source->set, "norm");
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (uint32_t key = 0; key < netfc_table_size(norm); key++) {
		const uint32_t word = netfc_table_entries(norm)[key];
		const uint32_t places =
			p4_slice(key, 8, 4) + (p4_slice(key, 12, 1) != 0 ? COARSE_PLACES : 0);

		if (netfc_table_reachable(norm, key))
			p4_add_exact(table,
				P4_WORDS(p4_slice(key, 13, 1), places,
					p4_slice(key, 0, EXPONENT_BITS)),
				P4_WORDS(p4_slice(word, 0, PLACES_BITS),
					word >> PLACES_BITS << FRACTION_BITS));
	}
}

/* ---- products, and what quotients share with them -------------------------------------------- */

/* Of a significand, in its high digit. */
#define LEADING_ONE (1u << 11)

/* Places that leave nothing to round by, and more: the program has a code for all of them. */
#define MAX_PLACES 25
/* Codes besides places: see ShiftProduct in p4/include/product_fp32.p4. */
#define CODE_NORMAL 0
#define CODE_OVERFLOW 26
#define CODE_CLEAR 31

/* The exponent that a field stands for: subnormal numbers have that of the least normal. */
static void
exponent_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"factors.factor_x.exponent_of", "factors.factor_y.exponent_of"},
		.key = {{"field", EXPONENT_BITS, P4_EXACT}},
		.action = {{"set_exponent", {{"word", 16}}}},
	};
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (uint32_t field = 0; field < 1u << EXPONENT_BITS; field++)
		p4_add_word(table, field, field == 0 ? 1 : field);
}

/* Words of the library's table for an exponent: places, and above them the exponent's field. */
struct scaling {
	uint32_t other; /* where the second bit is the leading one */
	uint32_t first; /* where the first is */
};

/* Where only one of the two occurs, the other one may be the same. */
static struct scaling
scaling_of(const struct netfc_table *scale, uint32_t other, uint32_t first)
{
	const uint32_t *entries = netfc_table_entries(scale);

	if (!netfc_table_reachable(scale, other))
		other = first;
	if (!netfc_table_reachable(scale, first))
		first = other;
	return (struct scaling){entries[other], entries[first]};
}

static uint32_t
places_of(uint32_t word)
{
	return p4_slice(word, 0, PLACES_BITS);
}

/*
 * With its first bit leading, a normal result is shifted by a place more, and its exponent is one
 * more; a subnormal one is the same number of units of the least place.
 */
static uint32_t
code_of(struct scaling scaling)
{
	if (places_of(scaling.other) > MAX_PLACES)
		return CODE_CLEAR;
	if (places_of(scaling.other) == places_of(scaling.first))
		return places_of(scaling.other);
	return places_of(scaling.first) > MAX_PLACES ? CODE_OVERFLOW : CODE_NORMAL;
}

static void
add_scaling(const struct fp32_source *source, struct p4_table *table, uint32_t div,
	uint32_t exponent, struct scaling scaling)
{
	const uint32_t base = scaling.other >> PLACES_BITS << FRACTION_BITS;

	for (uint32_t signs = 0; signs < 4; signs++) {
		const uint32_t x = signs >> 1, y = signs & 1;

		/* Without quotients the first key field is missing. */
		p4_add_exact(table, P4_WORDS(div, x, y, exponent) + (source->last_op < NETFC_DIV),
			P4_WORDS(code_of(scaling), base | (x ^ y) << 31));
	}
}

static void
scale_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"factors.scale"},
		.key = {{"div", 1, P4_EXACT}, {"sign_x", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent", EXPONENT_SUM_BITS, P4_EXACT}},
		.action = {{"set_scale", {{"code", PLACES_BITS}, {"base", BITS}}}},
	};
	const struct netfc_table *scale = netfc_set_find_table(source->set, "scale");
	const uint32_t lead = 1u << EXPONENT_SUM_BITS;
	const bool quotients = source->last_op >= NETFC_DIV;
	struct p4_table *table = p4_add_table(source->program, &pattern);

	if (!quotients)
		memmove(table->key, table->key + 1, --table->key_count * sizeof(*table->key));
	for (uint32_t div = 0; div <= (quotients ? 1 : 0); div++) {
		for (uint32_t exponent = 0; exponent < lead; exponent++) {
			const uint32_t key = div * 2 * lead | exponent;

			if (netfc_table_reachable(scale, key) ||
				netfc_table_reachable(scale, lead | key))
				add_scaling(source, table, div, exponent,
					scaling_of(scale, key, lead | key));
		}
	}
}

/*
 * a * b = square[a + b] - differ[a - b], digits of 12 bits. Significands' high digits come without
 * their leading one, which the entries add: a key of 0 stands for `first`.
 */
static void
digit_table(const struct fp32_source *source, const char *name, uint32_t first,
	const char *instance, const char *other)
{
	const struct netfc_table *from = netfc_set_find_table(source->set, name);
	const bool square = strcmp(name, "square") == 0;
	const struct p4_table pattern = {
		.instance = {instance, other},
		.key = {{square ? "sum" : "difference", SQUARE_BITS, P4_EXACT}},
		.action = {{square ? "set_square" : "set_differ", {{"word", BITS}}}},
	};
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (uint32_t key = 0; key < netfc_table_size(from); key++) {
		/* Sums that would begin again at 0 do not occur. */
		const uint32_t index = key + first, digits = p4_slice(index, 0, SQUARE_BITS);

		if ((!square || index == digits) && netfc_table_reachable(from, digits))
			p4_add_word(table, key, netfc_table_entries(from)[digits]);
	}
}

static void
digit_tables(const struct fp32_source *source)
{
	digit_table(source, "square", 2 * LEADING_ONE, "product.high.square", NULL);
	digit_table(
		source, "square", LEADING_ONE, "product.cross_x.square", "product.cross_y.square");
	digit_table(source, "square", 0, "product.low.square", NULL);
	digit_table(
		source, "differ", LEADING_ONE, "product.cross_x.differ", "product.cross_y.differ");
	/* Both high digits lack their leading one, so that their difference does not. */
	digit_table(source, "differ", 0, "product.high.differ", "product.low.differ");
}

/*
 * ---- quotients: two digits of 13 bits (docs/p4.md), which the library has in other pieces. The
 * entries do not depend on a set.
 */

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
		.key = {{"digit", UPPER_KEY_BITS, P4_EXACT}},
		.action = {{"add", {{"part", BITS}}}},
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

/* A digit's products with those of the divisor. */
#define BY_DIVISOR(digit, least, most, offset)                                                     \
	{"quotient." digit ".by_high.square", least, most + HIGH_MOST, offset + HIGH_LEAD,         \
		-(1 << HIGH_PLACES), false, 0},                                                    \
		{"quotient." digit ".by_high.differ", least - HIGH_MOST, most, offset - HIGH_LEAD, \
			1 << HIGH_PLACES, false, 0},                                               \
		{"quotient." digit ".by_low.square", least, most + LOW_MOST, offset, -1, false,    \
			0},                                                                        \
		{"quotient." digit ".by_low.differ", least - LOW_MOST, most, offset, 1, false, 0}

static const struct product_part product_parts[] = {
	{"quotient.first.guess.square", 0, 2 * RECIP_LEAD - 2, 2 * RECIP_LEAD, 1, true,
		DIGIT(0.5 - FIRST_OFFSET)},
	{"quotient.first.guess.differ", 1 - RECIP_LEAD, RECIP_LEAD - 1, 0, -1, true, 0},
	BY_DIVISOR("first", FIRST_LEAST, FIRST_MOST, FIRST_OFFSET),
	{"quotient.second.guess.square", -REMAINDERS, REMAINDERS + RECIP_LEAD - 2, RECIP_LEAD, 1,
		true, DIGIT(0.5 - SECOND_OFFSET)},
	{"quotient.second.guess.differ", 1 - REMAINDERS - RECIP_LEAD, REMAINDERS - 1, -RECIP_LEAD,
		-1, true, 0},
	BY_DIVISOR("second", SECOND_LEAST, SECOND_MOST, SECOND_OFFSET),
};

static void
product_table(struct p4_program *program, const struct product_part *part)
{
	const unsigned key_bits = part->estimate ? 16 : 15;
	const char *key = strstr(part->instance, "square") != NULL ? "sum" : "difference";
	const struct p4_table pattern = {
		.instance = {part->instance},
		.key = {{key, key_bits, P4_EXACT}},
		.action = {{"add", {{"part", BITS}}}},
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
		.key = {{"digit", digits->key_bits, P4_EXACT}},
		.action = {{"add", {{"part", BITS}, {digits->cut ? "cut" : NULL, BITS / 2}}}},
	};
	struct p4_table *table = p4_add_table(program, &pattern);

	for (int32_t digit = digits->first; digit <= digits->last; digit++) {
		const uint32_t key = (uint32_t)digit;

		p4_add_exact(table, P4_WORDS(key), P4_WORDS(key << digits->places, key << 1));
	}
}

static void
quotient_tables(struct p4_program *program)
{
	recip_table(program);
	for (size_t d = 0; d < sizeof(placed) / sizeof(placed[0]); d++)
		placed_table(program, &placed[d]);
	for (size_t p = 0; p < sizeof(product_parts) / sizeof(product_parts[0]); p++)
		product_table(program, &product_parts[p]);
}

/* ---- all of them ----------------------------------------------------------------------------- */

const char *
p4_fp32_tables(const struct netfc_set *set, enum p4_layout layout, enum netfc_op last_op,
	struct p4_program *program)
{
	const struct fp32_source source = {set, program, last_op};

	if (layout != P4_DIRECT)
		return "it has the direct layout only";
	exps_table(&source);
	lead_table(&source);
	norm_table(&source);
	if (last_op >= NETFC_MUL) {
		exponent_table(&source);
		scale_table(&source);
		digit_tables(&source);
	}
	if (last_op >= NETFC_DIV)
		quotient_tables(program);
	p4_decide_table(set, layout, program);
	return NULL;
}

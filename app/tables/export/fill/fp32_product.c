/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of binary32 numbers in P4, and what quotients share with them. */
#include <string.h>

#include "export/fill/fp32.h"

/* Of a significand, in its high digit. */
#define LEADING_ONE (1u << 11)

/* Places that leave nothing to round by, and more: the program has a code for all of them. */
#define MAX_PLACES 25
/* Codes besides places: see ShiftProduct in p4/include/product_fp32.p4. */
#define CODE_NORMAL 0
#define CODE_OVERFLOW 26
#define CODE_CLEAR 31

/* The exponent that a number's field stands for: subnormal numbers have that of the least normal.
 */
static void
exponent_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"factors.factor_x.exponent_of", "factors.factor_y.exponent_of"},
		.key_count = 1,
		.key = {{"field", FP32_EXPONENT_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_exponent", 1, {{"word", 16}}}},
	};
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (uint32_t field = 0; field < 1u << FP32_EXPONENT_BITS; field++)
		p4_add_word(table, field, field == 0 ? 1 : field);
}

/* What the library's table has for an exponent: places below, and above them the exponent's field.
 */
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
	return bits_of(word, 0, FP32_PLACES_BITS);
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
	const uint32_t base = scaling.other >> FP32_PLACES_BITS << FP32_FRACTION_BITS;

	for (uint32_t signs = 0; signs < 4; signs++) {
		const uint32_t x = signs >> 1, y = signs & 1;
		struct p4_entry entry = {.arg = {code_of(scaling), base | (x ^ y) << 31}};
		unsigned key = 0;

		if (source->last_op >= NETFC_DIV)
			entry.value[key++] = div;
		entry.value[key++] = x;
		entry.value[key++] = y;
		entry.value[key] = exponent;
		for (key = 0; key < table->key_count; key++)
			entry.mask[key] = p4_low_bits(table->key[key].bits);
		p4_add_entry(table, &entry);
	}
}

static void
scale_table(const struct fp32_source *source)
{
	static const struct p4_table pattern = {
		.instance = {"factors.scale"},
		.key_count = 4,
		.key = {{"div", 1, P4_EXACT}, {"sign_x", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent", FP32_EXPONENT_SUM_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_scale", 2, {{"code", FP32_PLACES_BITS}, {"base", FP32_BITS}}}},
	};
	static const struct p4_table without_div = {
		.instance = {"factors.scale"},
		.key_count = 3,
		.key = {{"sign_x", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent", FP32_EXPONENT_SUM_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_scale", 2, {{"code", FP32_PLACES_BITS}, {"base", FP32_BITS}}}},
	};
	const struct netfc_table *scale = netfc_set_find_table(source->set, "scale");
	const uint32_t lead = 1u << FP32_EXPONENT_SUM_BITS;
	const bool quotients = source->last_op >= NETFC_DIV;
	struct p4_table *table = p4_add_table(source->program, quotients ? &pattern : &without_div);

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
	const char *const *instances)
{
	const struct netfc_table *from = netfc_set_find_table(source->set, name);
	const bool square = strcmp(name, "square") == 0;
	struct p4_table pattern = {
		.key_count = 1,
		.key = {{square ? "sum" : "difference", FP32_SQUARE_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{square ? "set_square" : "set_differ", 1, {{"word", FP32_BITS}}}},
	};
	struct p4_table *table;

	for (unsigned i = 0; i < P4_MAX_INSTANCES && instances[i] != NULL; i++)
		pattern.instance[i] = instances[i];
	table = p4_add_table(source->program, &pattern);
	for (uint32_t key = 0; key < netfc_table_size(from); key++) {
		/* Sums that would begin again at 0 do not occur. */
		const uint32_t index = key + first, digits = bits_of(index, 0, FP32_SQUARE_BITS);

		if ((!square || index == digits) && netfc_table_reachable(from, digits))
			p4_add_word(table, key, netfc_table_entries(from)[digits]);
	}
}

static void
digit_tables(const struct fp32_source *source)
{
	static const char *const high_square[] = {"product.high.square", NULL};
	static const char *const cross_square[] = {
		"product.cross_x.square", "product.cross_y.square", NULL};
	static const char *const cross_differ[] = {
		"product.cross_x.differ", "product.cross_y.differ", NULL};
	static const char *const low_square[] = {"product.low.square", NULL};
	/* Both high digits lack it, so that their difference does not. */
	static const char *const same_differ[] = {
		"product.high.differ", "product.low.differ", NULL};

	digit_table(source, "square", 2 * LEADING_ONE, high_square);
	digit_table(source, "square", LEADING_ONE, cross_square);
	digit_table(source, "square", 0, low_square);
	digit_table(source, "differ", LEADING_ONE, cross_differ);
	digit_table(source, "differ", 0, same_differ);
}

void
fp32_product_tables(const struct fp32_source *source)
{
	exponent_table(source);
	scale_table(source);
	digit_tables(source);
}

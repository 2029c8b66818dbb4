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
		.key_count = 2,
		.key = {{"exponent_x", EXPONENT_BITS, P4_EXACT},
			{"exponent_y", EXPONENT_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_exps", 3,
			{{"align_x", PLACES_BITS}, {"align_y", PLACES_BITS},
				{"greater", EXPONENT_BITS}}}},
	};
	struct p4_table *table = p4_copy_table(source->set, "exps", &pattern, source->program);

	for (size_t e = 0; e < table->count; e++) {
		uint32_t *arg = table->entries[e].arg;

		arg[1] = p4_slice(arg[0], 13, PLACES_BITS);
		arg[2] = p4_slice(arg[0], 0, EXPONENT_BITS);
		arg[0] = p4_slice(arg[0], 8, PLACES_BITS);
	}
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
		.key_count = 1,
		.key = {{"sum", BITS, P4_TERNARY}},
		.action_count = 2,
		.action = {[ACTION_POSITIVE] = {"positive", 1, {{"zeros", PLACES_BITS}}},
			[ACTION_NEGATIVE] = {"negative", 1, {{"zeros", PLACES_BITS}}}},
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
		.key_count = 3,
		.key = {{"negative", 1, P4_EXACT}, {"places", PLACES_BITS, P4_EXACT},
			{"exponent", EXPONENT_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_norm", 2, {{"left", PLACES_BITS}, {"base", BITS}}}},
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

static void
sum_tables(const struct fp32_source *source)
{
	exps_table(source);
	lead_table(source);
	norm_table(source);
}

/* ---- products, and what quotients share with them ---------------------------------------------
 */

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
		.key = {{"field", EXPONENT_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_exponent", 1, {{"word", 16}}}},
	};
	struct p4_table *table = p4_add_table(source->program, &pattern);

	for (uint32_t field = 0; field < 1u << EXPONENT_BITS; field++)
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
		.key_count = 4,
		.key = {{"div", 1, P4_EXACT}, {"sign_x", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent", EXPONENT_SUM_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_scale", 2, {{"code", PLACES_BITS}, {"base", BITS}}}},
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
	const char *const *instances)
{
	const struct netfc_table *from = netfc_set_find_table(source->set, name);
	const bool square = strcmp(name, "square") == 0;
	struct p4_table pattern = {
		.key_count = 1,
		.key = {{square ? "sum" : "difference", SQUARE_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{square ? "set_square" : "set_differ", 1, {{"word", BITS}}}},
	};
	struct p4_table *table;

	memcpy(pattern.instance, instances, sizeof(pattern.instance));
	table = p4_add_table(source->program, &pattern);
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
	static const char *const high_square[P4_MAX_INSTANCES] = {"product.high.square"};
	static const char *const cross_square[P4_MAX_INSTANCES] = {
		"product.cross_x.square", "product.cross_y.square"};
	static const char *const cross_differ[P4_MAX_INSTANCES] = {
		"product.cross_x.differ", "product.cross_y.differ"};
	static const char *const low_square[P4_MAX_INSTANCES] = {"product.low.square"};
	/* Both high digits lack it, so that their difference does not. */
	static const char *const same_differ[P4_MAX_INSTANCES] = {
		"product.high.differ", "product.low.differ"};

	digit_table(source, "square", 2 * LEADING_ONE, high_square);
	digit_table(source, "square", LEADING_ONE, cross_square);
	digit_table(source, "square", 0, low_square);
	digit_table(source, "differ", LEADING_ONE, cross_differ);
	digit_table(source, "differ", 0, same_differ);
}

static void
product_tables(const struct fp32_source *source)
{
	exponent_table(source);
	scale_table(source);
	digit_tables(source);
}

/* ---- all of them ----------------------------------------------------------------------------- */

const char *
p4_fp32_tables(const struct netfc_set *set, enum p4_layout layout, enum netfc_op last_op,
	struct p4_program *program)
{
	const struct fp32_source source = {set, program, last_op};

	if (layout != P4_DIRECT)
		return "it has the direct layout only";
	sum_tables(&source);
	if (last_op >= NETFC_MUL)
		product_tables(&source);
	if (last_op >= NETFC_DIV)
		p4_fp32_quotient_tables(program);
	p4_decide_table(set, layout, program);
	return NULL;
}

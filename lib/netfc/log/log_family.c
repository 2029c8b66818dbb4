/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paper's family of table sets: logTable, miTable and expTable (paper, section III), scaled
 * by k (section IV.B).
 */
#include "log/log_family.h"

#include <math.h>
#include <stdlib.h>

/* The entries of the paper's tables. */

/* Bits of a significand after its leading one; posit16 has the most. */
#define FRACTION_BITS 12

static unsigned
scale_bits(const struct netfc_set *set)
{
	return (unsigned)__builtin_ctz(set->id.scale);
}

/* Record the least distance from a rounding boundary; a unit is 2^-LOG_BITS of a log2. */
static void
note_log_distance(struct netfc_set *set, uint64_t distance)
{
	double words = ldexp((double)distance, (int)scale_bits(set) - LOG_BITS);

	if (words < set->margin.log_distance)
		set->margin.log_distance = words;
}

/*
 * R(k * log), the log word of a logarithm. Only logarithms of powers of two are rational. They are
 * integers, and netfc_log2_significand() gives them without an error.
 */
static int32_t
round_log(struct netfc_set *set, int64_t log)
{
	unsigned bits = LOG_BITS - scale_bits(set);
	uint64_t one = UINT64_C(1) << bits, half = one / 2;
	uint64_t fraction = (uint64_t)log & (one - 1);
	int32_t word = (int32_t)(log >> bits);

	if (set->id.rounding == NETFC_NEAREST) {
		note_log_distance(set, fraction > half ? fraction - half : half - fraction);
		return word + (fraction >= half);
	}
	if ((log & ((INT64_C(1) << LOG_BITS) - 1)) != 0)
		note_log_distance(set, fraction < half ? fraction : one - fraction);
	return word;
}

/* The log word of a significand, which many magnitudes have: `known` has those computed so far. */
static int32_t
significand_log(struct netfc_set *set, uint64_t significand, int32_t *known)
{
	int32_t *word = &known[(significand - SIG_ONE) >> (63 - FRACTION_BITS)];

	if (*word < 0)
		*word = round_log(set, (int64_t)netfc_log2_significand(significand));
	return *word;
}

static int
fill_log(struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;
	uint32_t *entries = set->table[TABLE_LOG].entries;
	int32_t *known = malloc(sizeof(*known) << FRACTION_BITS);

	if (known == NULL)
		return NETFC_ERR_NOMEM;
	for (uint32_t fraction = 0; fraction < UINT32_C(1) << FRACTION_BITS; fraction++)
		known[fraction] = -1;
	for (uint32_t magnitude = 1; magnitude < format->inf; magnitude++) {
		struct number number = netfc_unpack(format, (uint16_t)magnitude);

		entries[magnitude] = (uint16_t)(significand_log(set, number.significand, known) +
			number.exponent * (int32_t)set->id.scale);
	}
	free(known);
	return NETFC_OK;
}

/* R(k * log2(1 + 2^(-t/k))), t >= 0. */
static int32_t
log_one_plus(struct netfc_set *set, uint32_t t)
{
	if (t >= LOG_TAIL * set->id.scale)
		return 0;
	return round_log(
		set, t == 0 ? INT64_C(1) << LOG_BITS : netfc_log2_one_plus(t, set->id.scale));
}

/* R(k * log2(1 - 2^(-num/den))), num > 0. */
static int32_t
log_one_minus(struct netfc_set *set, uint32_t num, uint32_t den)
{
	if (num >= LOG_TAIL * den)
		return set->id.rounding == NETFC_FLOOR ? -1 : 0;
	return round_log(set, netfc_log2_one_minus(num, den));
}

/*
 * mi1 and mi2 of operands that differ but have the same log word: those of a distance of 1/q words.
 * q is larger for posits, whose neighbours are closer.
 */
static uint16_t
no_difference(struct netfc_set *set)
{
	uint32_t steps = set->id.format->posit ? 4 : 1;

	if (set->id.rounding == NETFC_FLOOR)
		return NETFC_NO_RESULT;
	return (uint16_t)log_one_minus(set, 1, steps * set->id.scale);
}

/*
 * Factoring 2^t out, the pages share their values:
 * log2(1 + 2^t) = t + log2(1 + 2^-t), log2(2^t - 1) = t + log2(1 - 2^-t).
 */
static void
fill_mi(struct netfc_set *set)
{
	uint32_t *mi0 = set->table[TABLE_MI].entries, *mi1 = mi0 + 0x10000, *mi2 = mi1 + 0x10000;
	uint16_t same = no_difference(set);

	mi0[0] = (uint16_t)log_one_plus(set, 0);
	mi1[0] = mi2[0] = same;
	for (int32_t t = 1; t <= -INT16_MIN; t++) {
		uint16_t positive = (uint16_t)t, negative = (uint16_t)-t;
		int32_t plus = log_one_plus(set, (uint32_t)t);
		int32_t minus = log_one_minus(set, (uint32_t)t, set->id.scale);

		mi0[negative] = (uint16_t)plus;
		mi1[negative] = (uint16_t)minus;
		mi2[negative] = same;
		if (t <= INT16_MAX) {
			mi0[positive] = (uint16_t)(t + plus);
			mi1[positive] = same;
			mi2[positive] = (uint16_t)(t + minus);
		}
	}
}

static uint16_t
encode_power(const struct netfc_set *set, struct number power)
{
	return set->id.rounding == NETFC_FLOOR ? netfc_round_down(set->id.format, power)
					       : netfc_round_nearest(set->id.format, power);
}

/* Whether all numbers within `distance` of the power have the same encoding. */
static bool
encodes_alike(const struct netfc_set *set, struct number power, uint64_t distance)
{
	struct number low = power, high = power;

	low.significand -= distance;
	high.significand += distance;
	return encode_power(set, low) == encode_power(set, high);
}

/* 2^(n/k), rounded, of the power 2^(n mod k / k): irrational unless k divides n. */
static uint16_t
exp_entry(struct netfc_set *set, struct number power, uint64_t *distance)
{
	while (power.sticky && *distance > 0 && !encodes_alike(set, power, *distance))
		*distance /= 2;
	return encode_power(set, power);
}

static void
fill_exp(struct netfc_set *set)
{
	const int32_t scale = (int32_t)set->id.scale;
	/* Half the least distance of 2^(n/k) from 1 and 2. */
	uint64_t distance = UINT64_C(1) << 51;

	for (int32_t part = 0; part < scale; part++) {
		struct number power = {.sticky = part != 0,
			.significand = netfc_exp2_fraction((uint32_t)part, (uint32_t)scale)};

		for (int32_t n = INT16_MIN + part; n <= INT16_MAX; n += scale) {
			power.exponent = n >> scale_bits(set);
			set->table[TABLE_EXP].entries[(uint16_t)n] =
				exp_entry(set, power, &distance);
		}
	}
	set->margin.exp_distance = ldexp((double)distance, -63);
}

static int
log_fill(struct netfc_set *set)
{
	set->margin.log_distance = 1;
	set->margin.log_error = ldexp((double)LOG_ERROR, (int)scale_bits(set) - LOG_BITS);
	set->margin.exp_error = ldexp((double)EXP_ERROR, -63);
	if (fill_log(set) != NETFC_OK)
		return NETFC_ERR_NOMEM;
	fill_mi(set);
	fill_exp(set);
	set->measured = true;
	if (set->margin.log_error >= set->margin.log_distance ||
		set->margin.exp_error >= set->margin.exp_distance)
		return NETFC_ERR_PRECISION;
	return NETFC_OK;
}

/* The order in which lanes go through the paper's tables (paper, algorithms 1 and 2). */

/* The fields of the family's own. */
enum log_field {
	FIELD_I = FIELD_FAMILY,
	FIELD_J,
	FIELD_THETA,
	FIELD_MI_KEY,
	FIELD_M,
	FIELD_N,
	FIELD_E,
	LOG_FIELDS,
};

static const char *const field_names[] = {"i", "j", "theta", "mi key", "m", "n", "|z|"};

/* What both programs start with: special values, magnitudes, logarithms. */
static void
append_head(struct netfc_program *program, const struct netfc_format *format)
{
	netfc_program_start(program, format, TABLE_DECIDE, field_names, LOG_FIELDS);
	netfc_append_lookup(program, FIELD_I, TABLE_LOG, FIELD_MAGNITUDE_X, "i = logTable[|x|]");
	netfc_append_lookup(program, FIELD_J, TABLE_LOG, FIELD_MAGNITUDE_Y, "j = logTable[|y|]");
}

static void
append_exp(struct netfc_program *program)
{
	netfc_append_step(
		program, NETFC_STEP_ADD_SAT, FIELD_N, FIELD_I, FIELD_M, 0, "n = sat(i + m)");
	netfc_append_lookup(program, FIELD_E, TABLE_EXP, FIELD_N, "|z| = expTable[n]");
}

static void
log_program(struct netfc_set *set)
{
	struct netfc_program *add = &set->program[NETFC_ADDITIVE];
	struct netfc_program *mul = &set->program[NETFC_MULTIPLICATIVE];

	append_head(add, set->id.format);
	netfc_append_step(
		add, NETFC_STEP_SUB_SAT, FIELD_THETA, FIELD_J, FIELD_I, 0, "theta = sat(j - i)");
	netfc_append_step(add, NETFC_STEP_PAGE_KEY, FIELD_MI_KEY, FIELD_DECISION, FIELD_THETA, 0,
		"the decided miTable's key for theta");
	netfc_append_lookup(add, FIELD_M, TABLE_MI, FIELD_MI_KEY, "m = miTable[theta]");
	append_exp(add);
	netfc_append(add,
		(struct netfc_step){.kind = NETFC_STEP_GUARD,
			.dst = FIELD_DECISION,
			.b = FIELD_THETA,
			.c = FIELD_M,
			.imm = log_guard_words(set),
			.what = "beyond the guard: z is x or y itself"});
	netfc_append_select(add, set->id.format, FIELD_E);

	append_head(mul, set->id.format);
	netfc_append_step(
		mul, NETFC_STEP_NEGATE_DIV, FIELD_M, FIELD_J, 0, 0, "m = j, or -j to divide");
	append_exp(mul);
	netfc_append_select(mul, set->id.format, FIELD_E);
}

static void
log_layout(struct netfc_set *set)
{
	static const struct netfc_table tables[TABLE_DECIDE] = {
		[TABLE_LOG] = {.name = "log",
			.key_bits = 15,
			.value_bits = 16,
			.copies = 2,
			.value_signed = true},
		[TABLE_MI] = {.name = "mi",
			.page_name = {"mi0", "mi1", "mi2"},
			.key_bits = 16,
			.value_bits = 16,
			.pages = 3,
			.key_signed = true,
			.value_signed = true},
		[TABLE_EXP] = {.name = "exp", .key_bits = 16, .value_bits = 15, .key_signed = true},
	};

	netfc_describe_tables(set, tables, TABLE_DECIDE);
}

static void
log_mark(struct netfc_set *set)
{
	struct netfc_table *mi = &set->table[TABLE_MI];
	int32_t guard = log_guard_words(set);

	mark_range(&set->table[TABLE_LOG], 1, set->id.format->inf);
	for (int32_t theta = INT16_MIN; theta <= INT16_MAX; theta++) {
		uint32_t key = (uint16_t)theta;

		if (theta > guard || theta < -guard)
			continue;
		mark_reachable(mi, key);
		if (theta <= 0)
			mark_reachable(mi, 1u << 16 | key);
		if (theta >= 0)
			mark_reachable(mi, 2u << 16 | key);
	}
	mark_all(&set->table[TABLE_EXP]);
}

/* Or mi1 and mi2 would be looked up with a theta of the other's sign, for which they have nothing.
 */
static int
log_check(const struct netfc_set *set)
{
	const uint32_t *log = set->table[TABLE_LOG].entries;

	for (uint32_t magnitude = 2; magnitude < set->id.format->inf; magnitude++) {
		if (log_word(log[magnitude]) < log_word(log[magnitude - 1]))
			return NETFC_ERR_ORDER;
	}
	return NETFC_OK;
}

const struct family netfc_log_family = {
	.layout = log_layout,
	.fill = log_fill,
	.mark = log_mark,
	.check = log_check,
	.program = log_program,
	.calc = log_calc,
};

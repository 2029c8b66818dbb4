/* SPDX-License-Identifier: BSD-3-Clause */
/* The paper's family of table sets in P4. */
#include <stdlib.h>

#include "export/fill/fill.h"

/* Log words and their sums: 16 bits, two's complement. */
#define WORD_BITS 16
#define MAGNITUDE_BITS 15

/* A set and the program to fill. */
struct log_source {
	const struct netfc_set *set;
	const struct netfc_format *format;
	const struct netfc_table *log, *mi, *exp;
	unsigned fraction_bits, exponent_bits; /* IEEE formats */
	unsigned scale_bits;                   /* log2 of k */
	struct p4_program *program;
};

static struct log_source
log_source(const struct netfc_set *set, struct p4_program *program)
{
	struct log_source source = {
		.set = set,
		.format = netfc_set_format(set),
		.log = netfc_set_find_table(set, "log"),
		.mi = netfc_set_find_table(set, "mi"),
		.exp = netfc_set_find_table(set, "exp"),
		.program = program,
	};

	source.fraction_bits = (unsigned)__builtin_ctz(netfc_inf_magnitude(source.format));
	source.exponent_bits = MAGNITUDE_BITS - source.fraction_bits;
	source.scale_bits = (unsigned)__builtin_ctz(netfc_set_scale(set));
	return source;
}

/* Add a table, and another instance of it or NULL, with one exact key and a word of 16 bits. */
static struct p4_table *
add_word_table(const struct log_source *source, const char *instance, const char *other,
	const char *action, const char *key, unsigned bits)
{
	return p4_add_table(source->program,
		&(struct p4_table){
			.instance = {instance, other},
			.key = {{key, bits, P4_EXACT}},
			.action = {{action, {{"word", WORD_BITS}}}},
		});
}

/* Add a table whose key is one bit, which selects a page, and a word. */
static struct p4_table *
add_paged_table(const struct log_source *source, const char *instance, const char *bit,
	const char *key, unsigned bits, enum p4_match match)
{
	return p4_add_table(source->program,
		&(struct p4_table){
			.instance = {instance},
			.key = {{bit, 1, P4_EXACT}, {key, bits, match}},
			.action = {{"set", {{"word", WORD_BITS}}}},
		});
}

static void
add_paged(struct p4_table *table, uint32_t page, uint32_t key, uint32_t mask, uint32_t word)
{
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {page, key},
			.mask = {1, mask},
			.arg = {word},
		});
}

/* ---- the direct layout ----------------------------------------------------------------------- */

/* Posits are looked up with their sign, so that no absolute value is needed. */
static void
log_direct(const struct log_source *source)
{
	bool posit = netfc_format_is_posit(source->format);
	struct p4_table *table = add_word_table(source, "log_x.log", "log_y.log", "set", "operand",
		MAGNITUDE_BITS + (posit ? 1 : 0));
	const uint32_t *entries = netfc_table_entries(source->log);

	for (uint32_t bits = 0; bits <= p4_low_bits(table->key[0].bits); bits++) {
		uint16_t magnitude = netfc_magnitude(source->format, (uint16_t)bits);

		if (netfc_table_reachable(source->log, magnitude))
			p4_add_word(table, bits, entries[magnitude]);
	}
}

/* The number of bits of theta that matter within the guard. */
static unsigned
theta_bits(const struct log_source *source)
{
	return netfc_format_is_posit(source->format) ? WORD_BITS : WORD_BITS - 1;
}

/*
 * If the signs differ, the sign of theta selects mi1 or mi2. For theta = 0 these are equal.
 */
static void
mi_direct(const struct log_source *source)
{
	unsigned bits = theta_bits(source);
	struct p4_table *table =
		add_paged_table(source, "mi.mi", "differ", "theta", bits, P4_EXACT);
	const uint32_t *entries = netfc_table_entries(source->mi);

	for (uint32_t differ = 0; differ <= 1; differ++) {
		for (int32_t theta = INT16_MIN; theta <= INT16_MAX; theta++) {
			uint32_t page = differ == 0 ? 0 : theta <= 0 ? 1 : 2;
			uint32_t index = page << WORD_BITS | (uint16_t)theta;

			if (netfc_table_reachable(source->mi, index))
				add_paged(table, differ, (uint32_t)theta & p4_low_bits(bits),
					p4_low_bits(bits), entries[index]);
		}
	}
}

/* As the key has the sign, the entry is z itself, for posits as well. */
static void
exp_direct(const struct log_source *source)
{
	struct p4_table *table =
		add_paged_table(source, "power.exp", "negative", "n", WORD_BITS, P4_EXACT);
	const uint32_t *entries = netfc_table_entries(source->exp);

	for (uint32_t negative = 0; negative <= 1; negative++) {
		for (uint32_t n = 0; n <= UINT16_MAX; n++)
			add_paged(table, negative, n, UINT16_MAX,
				netfc_with_sign(
					source->format, (uint16_t)entries[n], negative != 0));
	}
}

/* ---- the compact layout ---------------------------------------------------------------------- */

/*
 * The miTable is folded: theta <= 0 only, as the larger
 * operand comes first. For IEEE formats, logarithms and powers are split by exponent and fraction.
 */

/* log(2^e * 1.f) = e * k + log(1.f), and the logarithms of subnormal numbers. */
static void
log_split(const struct log_source *source)
{
	unsigned bits = source->fraction_bits;
	const uint32_t *entries = netfc_table_entries(source->log);
	uint32_t bias = p4_low_bits(source->exponent_bits - 1);
	struct p4_table *table;

	table = add_word_table(source, "log_x.fraction", "log_y.fraction", "set", "fraction", bits);
	for (uint32_t fraction = 0; fraction <= p4_low_bits(bits); fraction++)
		p4_add_word(table, fraction, entries[bias << bits | fraction]);
	table = add_word_table(
		source, "log_x.subnormal", "log_y.subnormal", "set", "fraction", bits);
	for (uint32_t fraction = 1; fraction <= p4_low_bits(bits); fraction++)
		p4_add_word(table, fraction, entries[fraction]);
	table = add_word_table(source, "log_x.exponent", "log_y.exponent", "set_exponent",
		"exponent", source->exponent_bits);
	for (uint32_t e = 1; e < p4_low_bits(source->exponent_bits); e++)
		p4_add_word(table, e, (uint16_t)((e - bias) << source->scale_bits));
}

/* Add the prefixes of a page that some theta <= 0 can match. */
static int
add_folded(struct p4_table *table, const struct netfc_table *mi, uint32_t page)
{
	struct netfc_prefix *prefixes;
	const struct netfc_prefix *zero = NULL;
	size_t count;
	int error = netfc_table_cover(mi, (int)page, NETFC_COVER_OPTIMAL, &prefixes, &count);

	if (error != NETFC_OK)
		return error;
	for (size_t p = 0; p < count; p++) {
		const struct netfc_prefix *prefix = &prefixes[p];
		uint32_t mask = UINT16_MAX & ~p4_low_bits(WORD_BITS - prefix->length);

		if (prefix->key == 0) /* shorter ones come first */
			zero = prefix;
		if (prefix->length == 0 || (prefix->key & 0x8000) != 0)
			add_paged(table, page, prefix->key, mask, prefix->value);
	}
	if (zero != NULL && zero->length > 0)
		add_paged(table, page, 0, UINT16_MAX, zero->value);
	free(prefixes);
	return NETFC_OK;
}

/* Gives 0 or NETFC_ERR_NOMEM. */
static int
mi_folded(const struct log_source *source)
{
	struct p4_table *table =
		add_paged_table(source, "mi.mi", "differ", "theta", WORD_BITS, P4_LPM);
	int error = add_folded(table, source->mi, 0);

	return error != NETFC_OK ? error : add_folded(table, source->mi, 1);
}

/* The powers with one integer part of the exponent: all normal, some subnormal, all equal. */
enum power_kind {
	POWER_NORMAL,
	POWER_SUBNORMAL,
	POWER_FIXED
};

static enum power_kind
power_kind(const struct log_source *source, uint32_t exponent)
{
	const uint32_t *powers =
		netfc_table_entries(source->exp) + ((size_t)exponent << source->scale_bits);
	uint32_t last = powers[p4_low_bits(source->scale_bits)];

	if (powers[0] == last && (last == 0 || last == netfc_inf_magnitude(source->format)))
		return POWER_FIXED;
	return powers[0] >> source->fraction_bits != 0 ? POWER_NORMAL : POWER_SUBNORMAL;
}

/* The part of z that the exponent gives: exponent field and sign. */
static uint32_t
base_of(const struct log_source *source, uint32_t exponent, enum power_kind kind)
{
	uint32_t first = netfc_table_entries(source->exp)[exponent << source->scale_bits];

	return kind == POWER_SUBNORMAL ? 0 : first & ~p4_low_bits(source->fraction_bits);
}

static void
scale_table(const struct log_source *source)
{
	unsigned bits = WORD_BITS - source->scale_bits;
	uint32_t last = p4_low_bits(bits), end;
	struct p4_table *table = p4_add_table(source->program,
		&(struct p4_table){
			.instance = {"power.scale"},
			.key = {{"negative", 1, P4_TERNARY}, {"exponent", bits, P4_TERNARY}},
			.action = {{"normal", {{"base", WORD_BITS}}},
				{"small", {{"base", WORD_BITS}}}, {"fixed", {{"base", WORD_BITS}}}},
		});

	for (uint32_t negative = 0; negative <= 1; negative++) {
		for (uint32_t e = 0; e <= last; e = end + 1) {
			enum power_kind kind = power_kind(source, e);
			uint32_t base = base_of(source, e, kind);
			struct p4_entry entry = {
				.value = {negative},
				.mask = {1},
				.arg = {negative << 15 | base},
				.action = (uint8_t)kind,
			};

			for (end = e; end < last && power_kind(source, end + 1) == kind &&
				base_of(source, end + 1, kind) == base;
				end++)
				;
			p4_add_range(table, &entry, 1, e, end);
		}
	}
}

/* 2^(n/k) = 2^q * 2^(r/k), n = q * k + r; subnormal results have a table of their own. */
static void
exp_split(const struct log_source *source)
{
	const uint32_t *entries = netfc_table_entries(source->exp);
	unsigned k_bits = source->scale_bits, subnormal_bits = k_bits;
	uint32_t last = p4_low_bits(WORD_BITS - k_bits), subnormals = 0;
	struct p4_table *table =
		add_word_table(source, "power.fraction", NULL, "set_fraction", "remainder", k_bits);

	for (uint32_t r = 0; r <= p4_low_bits(k_bits); r++)
		p4_add_word(table, r, entries[r] & p4_low_bits(source->fraction_bits));
	for (uint32_t e = 0; e <= last; e++)
		subnormals += power_kind(source, e) == POWER_SUBNORMAL ? 1 : 0;
	while (UINT32_C(1) << (subnormal_bits - k_bits) < subnormals)
		subnormal_bits++;
	table = add_word_table(
		source, "power.subnormal", NULL, "set_subnormal", "n", subnormal_bits);
	for (uint32_t n = 0; n <= UINT16_MAX; n++) {
		if (power_kind(source, n >> k_bits) == POWER_SUBNORMAL)
			p4_add_word(table, n & p4_low_bits(subnormal_bits), entries[n]);
	}
	scale_table(source);
}

/* ---- both layouts hold the same functions ---------------------------------------------------- */

/* The flags of a power. */
static uint32_t
flags_of(const struct log_source *source, uint32_t n)
{
	uint32_t power = netfc_table_entries(source->exp)[n];

	if (power == 0)
		return NETFC_UNDERFLOW;
	return power == netfc_inf_magnitude(source->format) ? NETFC_OVERFLOW : 0;
}

/* The ends of the range: the n that raise a flag. Posits saturate without a flag. */
static void
range_table(const struct log_source *source)
{
	struct p4_table *table = p4_add_table(source->program,
		&(struct p4_table){
			.instance = {"limits"},
			.key = {{"n", WORD_BITS, P4_TERNARY}},
			.action = {{"raise", {{"flags", 4}}}},
		});
	uint32_t end;

	for (uint32_t n = 0; n <= UINT16_MAX; n = end + 1) {
		struct p4_entry entry = {.arg = {flags_of(source, n)}};

		for (end = n; end < UINT16_MAX && flags_of(source, end + 1) == entry.arg[0]; end++)
			;
		if (entry.arg[0] != 0)
			p4_add_range(table, &entry, 0, n, end);
	}
}

const char *
p4_log_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program)
{
	const struct log_source source = log_source(set, program);
	const bool posit = netfc_format_is_posit(source.format);

	if (layout == P4_COMPACT && !posit && source.scale_bits == 0)
		return "the compact layout needs k to be 2 at least";
	if (layout == P4_COMPACT && !posit)
		log_split(&source);
	else
		log_direct(&source);
	if (layout == P4_DIRECT)
		mi_direct(&source);
	else if (mi_folded(&source) != NETFC_OK)
		return "out of memory";
	p4_decide_table(set, layout, program);
	if (layout == P4_COMPACT && !posit)
		exp_split(&source);
	else
		exp_direct(&source);
	if (!posit)
		range_table(&source);
	return NULL;
}

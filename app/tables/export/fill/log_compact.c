/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compact layout of the paper's family. The miTable is folded: theta <= 0 only, as the larger
 * operand comes first. For IEEE formats, logarithms and powers are split by exponent and fraction.
 */
#include <stdlib.h>

#include "export/fill/log_source.h"

/* log(2^e * 1.f) = e * k + log(1.f), and the logarithms of subnormal numbers. */
void
log_split(const struct log_source *source)
{
	static const char *const fractions[P4_MAX_INSTANCES] = {"log_x.fraction", "log_y.fraction"};
	static const char *const subnormals[P4_MAX_INSTANCES] = {
		"log_x.subnormal", "log_y.subnormal"};
	static const char *const exponents[P4_MAX_INSTANCES] = {"log_x.exponent", "log_y.exponent"};
	unsigned bits = source->fraction_bits;
	const uint32_t *entries = netfc_table_entries(source->log);
	uint32_t bias = p4_low_bits(source->exponent_bits - 1);
	struct p4_table *table;

	table = log_word_table(source, fractions, "set", "fraction", bits);
	for (uint32_t fraction = 0; fraction <= p4_low_bits(bits); fraction++)
		p4_add_word(table, fraction, entries[bias << bits | fraction]);
	table = log_word_table(source, subnormals, "set", "fraction", bits);
	for (uint32_t fraction = 1; fraction <= p4_low_bits(bits); fraction++)
		p4_add_word(table, fraction, entries[fraction]);
	table = log_word_table(
		source, exponents, "set_exponent", "exponent", source->exponent_bits);
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
			log_add_paged(table, page, prefix->key, mask, prefix->value);
	}
	if (zero != NULL && zero->length > 0)
		log_add_paged(table, page, 0, UINT16_MAX, zero->value);
	free(prefixes);
	return NETFC_OK;
}

int
mi_folded(const struct log_source *source)
{
	struct p4_table *table =
		log_paged_table(source, "mi.mi", "differ", "theta", WORD_BITS, P4_LPM);
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
			.key_count = 2,
			.key = {{"negative", 1, P4_TERNARY}, {"exponent", bits, P4_TERNARY}},
			.action_count = 3,
			.action = {{"normal", 1, {{"base", WORD_BITS}}},
				{"small", 1, {{"base", WORD_BITS}}},
				{"fixed", 1, {{"base", WORD_BITS}}}},
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
void
exp_split(const struct log_source *source)
{
	static const char *const fraction[P4_MAX_INSTANCES] = {"power.fraction"};
	static const char *const subnormal[P4_MAX_INSTANCES] = {"power.subnormal"};
	const uint32_t *entries = netfc_table_entries(source->exp);
	unsigned k_bits = source->scale_bits, subnormal_bits = k_bits;
	uint32_t last = p4_low_bits(WORD_BITS - k_bits), subnormals = 0;
	struct p4_table *table =
		log_word_table(source, fraction, "set_fraction", "remainder", k_bits);

	for (uint32_t r = 0; r <= p4_low_bits(k_bits); r++)
		p4_add_word(table, r, entries[r] & p4_low_bits(source->fraction_bits));
	for (uint32_t e = 0; e <= last; e++)
		subnormals += power_kind(source, e) == POWER_SUBNORMAL ? 1 : 0;
	while (UINT32_C(1) << (subnormal_bits - k_bits) < subnormals)
		subnormal_bits++;
	table = log_word_table(source, subnormal, "set_subnormal", "n", subnormal_bits);
	for (uint32_t n = 0; n <= UINT16_MAX; n++) {
		if (power_kind(source, n >> k_bits) == POWER_SUBNORMAL)
			p4_add_word(table, n & p4_low_bits(subnormal_bits), entries[n]);
	}
	scale_table(source);
}

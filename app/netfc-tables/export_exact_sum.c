/* SPDX-License-Identifier: BSD-3-Clause */
/* Correctly rounded sums and differences in P4. */
#include "export_exact.h"

/* A word of the exps table, from its lowest bit. */
#define SMALL_AT EXPONENT_BITS
#define OVERFLOW_AT (SMALL_AT + 4)
#define CODE_Y_AT (OVERFLOW_AT + 1)
#define CODE_X_AT (CODE_Y_AT + CODE_BITS)

static void
exps_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"exps"},
		.key_count = 4,
		.key = {{"sub", 1, P4_EXACT}, {"sign_y", 1, P4_EXACT},
			{"exponent_x", EXPONENT_BITS, P4_EXACT},
			{"exponent_y", EXPONENT_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_exps", 5,
			{{"code_x", CODE_BITS}, {"code_y", CODE_BITS}, {"effective_sign_y", 1},
				{"overflow", 1}, {"base", 16}}}},
	};
	const struct netfc_table *exps = p4_source_table(set, "exps");
	struct p4_table *table = p4_add_table(program, &shape);

	for (uint32_t signs = 0; signs < 4; signs++) {
		for (uint32_t key = 0; key < netfc_table_size(exps); key++) {
			uint32_t word = netfc_table_entries(exps)[key];
			uint32_t sub = signs >> 1, sign_y = signs & 1;
			struct p4_entry entry = {
				.value = {sub, sign_y, key >> EXPONENT_BITS,
					slice(key, 0, EXPONENT_BITS)},
				.mask = {1, 1, p4_low_bits(EXPONENT_BITS),
					p4_low_bits(EXPONENT_BITS)},
				.arg = {slice(word, CODE_X_AT, CODE_BITS),
					slice(word, CODE_Y_AT, CODE_BITS), sign_y ^ sub,
					slice(word, OVERFLOW_AT, 1),
					slice(word, 0, EXPONENT_BITS) << FRACTION_BITS},
			};

			if (netfc_table_reachable(exps, key))
				p4_add_entry(table, &entry);
		}
	}
}

static void
add_base(struct p4_table *table, uint32_t exponent, uint32_t sum, uint32_t base)
{
	p4_add_entry(table,
		&(struct p4_entry){
			.value = {exponent, sum},
			.mask = {p4_low_bits(EXPONENT_BITS), p4_low_bits(SUM_BITS)},
			.arg = {base & 0xffff},
		});
}

/*
 * Sums of zero are zero for every base; the library has them decided. Significands that are not
 * shifted, those of the least exponent, are multiples of 8, and so are their sums.
 */
static void
subn_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"subn"},
		.key_count = 2,
		.key = {{"exponent", EXPONENT_BITS, P4_EXACT}, {"sum", SUM_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_base", 1, {{"base", 16}}}},
	};
	const struct netfc_table *subn = p4_source_table(set, "subn");
	const uint32_t *norm = netfc_table_entries(p4_source_table(set, "norm"));
	struct p4_table *table = p4_add_table(program, &shape);

	for (uint32_t exponent = 0; exponent <= GREATEST_BASE >> FRACTION_BITS; exponent++)
		add_base(table, exponent, 0, -norm[0]);
	for (uint32_t key = 0; key < netfc_table_size(subn); key++) {
		uint32_t small = key >> (SUM_BITS - 2), sum = key << 2 & 0xffff;
		uint32_t correction = netfc_table_entries(subn)[key];

		if (small == 1 && sum % 8 != 0)
			continue;
		if (correction != 0 && sum != 0 && netfc_table_reachable(subn, key))
			add_base(
				table, small - 1, sum, ((small - 1) << FRACTION_BITS) + correction);
	}
}

static bool
sum_overflows(const uint32_t *norminf, uint32_t sum)
{
	return ((GREATEST_BASE + norminf[sum]) & 0x7fff) == 0x7c00;
}

static void
sum_limits_table(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"sum_limits"},
		.key_count = 2,
		.key = {{"overflow", 1, P4_TERNARY}, {"sum", SUM_BITS, P4_TERNARY}},
		.action_count = 1,
		.action = {{"raise", 1, {{"flags", 4}}}},
	};
	const uint32_t *norminf =
		netfc_table_entries(p4_source_table(set, "norm")) + (1u << SUM_BITS);
	struct limit limit = {
		.table = p4_add_table(program, &shape),
		.entry = {.value = {1}, .mask = {1}, .arg = {NETFC_OVERFLOW}},
		.key = 1,
	};
	uint32_t end;

	for (uint32_t sum = 0; sum < 1u << SUM_BITS; sum = end) {
		bool overflows = sum_overflows(norminf, sum);

		for (end = sum + 1;
			end < 1u << SUM_BITS && sum_overflows(norminf, end) == overflows; end++)
			;
		if (overflows)
			p4_cover_range(sum, end - 1, SUM_BITS, p4_add_limit, &limit);
	}
	p4_minimise(limit.table);
}

void
p4_sum_tables(const struct netfc_set *set, struct p4_program *program)
{
	static const struct p4_table align = {
		.instance = {"align_x.align", "align_y.align"},
		.key_count = 3,
		.key = {{"shift", CODE_BITS, P4_EXACT}, {"negative", 1, P4_EXACT},
			{"fraction", FRACTION_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set", 1, {{"word", 16}}}},
	};
	static const struct p4_table norm = {
		.instance = {"norm"},
		.key_count = 2,
		.key = {{"overflow", 1, P4_EXACT}, {"sum", SUM_BITS, P4_EXACT}},
		.action_count = 1,
		.action = {{"set_norm", 1, {{"word", 16}}}},
	};

	exps_table(set, program);
	p4_copy_table(set, "align", &align, program);
	p4_copy_table(set, "norm", &norm, program);
	subn_table(set, program);
	sum_limits_table(set, program);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paper's family of table sets: logTable, miTable and expTable (paper, section III), scaled
 * by k (section IV.B).
 */
#include "log/log_family.h"

static void
log_layout(struct netfc_set *set)
{
	static const struct netfc_table tables[TABLE_DECIDE] = {
		[TABLE_LOG] = {.name = "log",
			.key_bits = 15,
			.value_bits = 16,
			.pages = 1,
			.copies = 2,
			.value_signed = true},
		[TABLE_MI] = {.name = "mi",
			.page_name = {"mi0", "mi1", "mi2"},
			.key_bits = 16,
			.value_bits = 16,
			.pages = 3,
			.copies = 1,
			.key_signed = true,
			.value_signed = true},
		[TABLE_EXP] = {.name = "exp",
			.key_bits = 16,
			.value_bits = 15,
			.pages = 1,
			.copies = 1,
			.key_signed = true},
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
	netfc_decide_mark(&set->table[TABLE_DECIDE]);
}

const struct family netfc_log_family = {
	.layout = log_layout,
	.fill = log_fill,
	.mark = log_mark,
	.program = log_program,
	.calc = log_calc,
};

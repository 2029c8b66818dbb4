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
			.value_signed = true,
			.match = true},
		[TABLE_MI] = {.name = "mi",
			.page_name = {"mi0", "mi1", "mi2"},
			.key_bits = 16,
			.value_bits = 16,
			.pages = 3,
			.copies = 1,
			.key_signed = true,
			.value_signed = true,
			.match = true},
		[TABLE_EXP] = {.name = "exp",
			.key_bits = 16,
			.value_bits = 15,
			.pages = 1,
			.copies = 1,
			.key_signed = true,
			.match = true},
	};

	set->table_count = LOG_TABLES;
	for (unsigned t = 0; t < TABLE_DECIDE; t++)
		set->table[t] = tables[t];
	netfc_decide_layout(&set->table[TABLE_DECIDE]);
}

static void
log_mark(struct netfc_set *set)
{
	struct netfc_table *mi = &set->table[TABLE_MI];
	int32_t guard = log_guard_words(set);

	for (uint32_t key = 1; key < set->id.format->inf; key++)
		mark_reachable(&set->table[TABLE_LOG], key);
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
	for (uint32_t key = 0; key < netfc_table_size(&set->table[TABLE_EXP]); key++)
		mark_reachable(&set->table[TABLE_EXP], key);
	netfc_decide_mark(&set->table[TABLE_DECIDE]);
}

const struct family netfc_log_family = {
	.layout = log_layout,
	.fill = log_fill,
	.mark = log_mark,
	.program = log_program,
	.calc = log_calc,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The paper's family of table sets in P4: both layouts hold the same functions. */
#include "export/fill/log_source.h"

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
			.key_count = 1,
			.key = {{"n", WORD_BITS, P4_TERNARY}},
			.action_count = 1,
			.action = {{"raise", 1, {{"flags", 4}}}},
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* The last entry: the program that all entries are for, as p4/include/sizes.p4 numbers it. */
#include "export/fill/fill.h"

/* Four bits each, the layout's last one for the detector. */
enum program_shift {
	SHIFT_LANES = 0,
	SHIFT_SCALE = 4,
	SHIFT_FORMAT = 8,
	SHIFT_LAYOUT = 12,
	SHIFT_DETECTOR = 15,
};

enum program_layout {
	LAYOUT_DIRECT = 1,
	LAYOUT_COMPACT = 2,
	LAYOUT_EXACT = 3,
};

static uint32_t
layout_number(const struct netfc_set *set, enum p4_layout layout)
{
	if (netfc_set_family(set) != NETFC_FAMILY_LOG)
		return LAYOUT_EXACT;
	return layout == P4_COMPACT ? LAYOUT_COMPACT : LAYOUT_DIRECT;
}

/* log2 of k where logarithms and powers are split, which takes tables for one k; fp32: the last op.
 */
static uint32_t
scale_number(const struct netfc_set *set, enum p4_layout layout, enum netfc_op last_op)
{
	if (netfc_format_width(netfc_set_format(set)) == 32)
		return last_op;
	if (layout_number(set, layout) != LAYOUT_COMPACT ||
		netfc_format_is_posit(netfc_set_format(set)))
		return 0;
	return (uint32_t)__builtin_ctz(netfc_set_scale(set));
}

void
p4_program_table(uint32_t number, struct p4_program *program)
{
	static const struct p4_table shape = {
		.instance = {"loaded"},
		.shared = true,
		.key_count = 1,
		.key = {{"program", 16, P4_EXACT}},
		.action_count = 1,
		.action = {{.name = "complete"}},
	};

	p4_add_entry(p4_add_table(program, &shape),
		&(struct p4_entry){.value = {number}, .mask = {p4_low_bits(shape.key[0].bits)}});
}

void
p4_loaded_table(const struct netfc_set *set, enum p4_layout layout, bool slowloris,
	enum netfc_op last_op, unsigned lanes, struct p4_program *program)
{
	uint32_t format = (uint32_t)netfc_format_id(netfc_set_format(set));

	p4_program_table(layout_number(set, layout) << SHIFT_LAYOUT |
			(uint32_t)slowloris << SHIFT_DETECTOR | format << SHIFT_FORMAT |
			scale_number(set, layout, last_op) << SHIFT_SCALE | lanes << SHIFT_LANES,
		program);
}

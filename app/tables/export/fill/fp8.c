/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats of 8 bits in P4: what is computed with two magnitudes, looked up at once. */

#include "export/fill/fill.h"

#define SIGN 0x80
#define MAGNITUDES 0x80

/* An operation and the signs of x and y, the first of those with the same results. */
struct kind {
	enum netfc_op op;
	uint32_t x, y;
};

/* As p4/include/lane_fp8.p4 numbers them. */
static const struct kind kinds[] = {
	{NETFC_ADD, 0, 0},
	{NETFC_ADD, SIGN, SIGN},
	{NETFC_ADD, 0, SIGN},
	{NETFC_ADD, SIGN, 0},
	{NETFC_MUL, 0, 0},
	{NETFC_MUL, SIGN, 0},
	{NETFC_DIV, 0, 0},
	{NETFC_DIV, SIGN, 0},
};

static const struct p4_table results_pattern = {
	.instance = {"even.results", "odd.results"},
	.lanes = 2,
	.key = {{"kind", 3, P4_EXACT}, {"magnitude_x", 7, P4_EXACT}, {"magnitude_y", 7, P4_EXACT}},
	.action = {{"result", {{"value", 8}, {"flags", 4}}}},
};

static void
add_result(
	const struct netfc_set *set, struct p4_table *table, uint32_t kind, uint32_t x, uint32_t y)
{
	const struct netfc_result result =
		netfc_calc(set, kinds[kind].op, kinds[kind].x | x, kinds[kind].y | y);

	p4_add_exact(table, P4_WORDS(kind, x, y), P4_WORDS(result.z, result.flags));
}

const char *
p4_fp8_tables(const struct netfc_set *set, enum p4_layout layout, struct p4_program *program)
{
	struct p4_table *table;

	if (layout != P4_DIRECT)
		return "formats of 8 bits have the direct layout only";
	table = p4_add_table(program, &results_pattern);
	for (uint32_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		for (uint32_t x = 0; x < MAGNITUDES; x++) {
			for (uint32_t y = 0; y < MAGNITUDES; y++)
				add_result(set, table, kind, x, y);
		}
	}
	return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of 8 bits for formats that the library does not have: their sizes follow from the
 * format, and all pairs are right.
 */
#include "unit.h"

static const struct netfc_format formats[] = {
	{.name = "e2m5",
		.exp_bits = 2,
		.fraction_bits = 5,
		.inf = 0x7f,
		.nan = 0x7f,
		.no_infinity = true},
	{.name = "e3m4", .exp_bits = 3, .fraction_bits = 4, .inf = 0x70, .nan = 0x78},
	{.name = "e3m4 without infinity",
		.exp_bits = 3,
		.fraction_bits = 4,
		.inf = 0x7f,
		.nan = 0x7f,
		.no_infinity = true},
	{.name = "e4m3 with infinity", .exp_bits = 4, .fraction_bits = 3, .inf = 0x78, .nan = 0x7c},
	{.name = "e6m1", .exp_bits = 6, .fraction_bits = 1, .inf = 0x7e, .nan = 0x7f},
	{.name = "e5m2 without infinity",
		.exp_bits = 5,
		.fraction_bits = 2,
		.inf = 0x7f,
		.nan = 0x7f,
		.no_infinity = true},
};

/* Nothing is written after what a table's width says. */
static void
check_widths(const struct netfc_set *set)
{
	for (unsigned t = 0; t < set->table_count; t++) {
		const struct netfc_table *table = &set->table[t];

		for (uint32_t key = 0; key < netfc_table_size(table); key++) {
			if (table->entries[key] >> (table->value_bits - 1) > 1)
				fail_msg("%s: %s[0x%x] is 0x%x, more than %u bits",
					set->id.format->name, table->name, key, table->entries[key],
					table->value_bits);
		}
	}
}

static void
check_pairs(const struct netfc_set *set)
{
	const struct netfc_format *format = set->id.format;

	FOREACH_OP(op)
	{
		for (uint32_t n = 0; n < 0x10000; n++) {
			const uint32_t x = n >> 8, y = n & UINT8_MAX;
			const struct netfc_result got = netfc_compute_one(set, op, x, y);
			const struct netfc_result exact = netfc_exact(format, op, x, y);

			if (got.z != exact.z || got.flags != exact.flags)
				fail_msg("%s: 0x%02x %s 0x%02x is 0x%02x, flags %u, not 0x%02x, %u",
					format->name, x, netfc_op_symbol(op), y, got.z, got.flags,
					exact.z, exact.flags);
		}
	}
}

TEST(formats_to_come_fit_tables)
{
	for (unsigned f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		struct netfc_format format = formats[f];
		const struct netfc_set_id id = {.format = &format, .family = NETFC_FAMILY_EXACT};
		struct netfc_set *set;

		format.width = 8;
		assert_int_equal(netfc_set_alloc(&id, &set), NETFC_OK);
		assert_int_equal(netfc_set_fill(set), NETFC_OK);
		check_widths(set);
		check_pairs(set);
		netfc_set_free(set);
	}
}

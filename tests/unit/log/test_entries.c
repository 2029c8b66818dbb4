/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every entry of every table of all known sets of a format, which is the argument, against the
 * specification computed with MPFR.
 */
#include <math.h>
#include <string.h>

#include "expected.h"
#include "log/log_family.h"
#include "unit.h"

static const struct netfc_format *format;

static void
expect_entry(const struct netfc_set *set, enum log_table table, uint32_t index, uint32_t expected)
{
	uint32_t entry = netfc_table_entries(netfc_set_table(set, table))[index];

	if (entry != expected)
		fail_msg("%s: %s[%#x] is %#x, not %#x", set->name,
			netfc_table_name(netfc_set_table(set, table)), index, entry, expected);
}

static void
expect_word(const struct netfc_set *set, enum log_table table, uint32_t index, int32_t word)
{
	assert_in_range(word + 0x8000, 0, 0xffff);
	expect_entry(set, table, index, (uint16_t)word);
}

SET_TEST(log_tables_are_as_specified)
{
	for (uint32_t magnitude = 1; magnitude < naive_end(format); magnitude++)
		expect_word(set, TABLE_LOG, magnitude,
			expected_word(&set->id, expected_log(magnitude)));
	expect_entry(set, TABLE_LOG, 0, 0);
	for (uint32_t magnitude = naive_end(format); magnitude < 0x8000; magnitude++)
		expect_entry(set, TABLE_LOG, magnitude, 0);
}

/* log2(1 + 2^x) = x + log2(1 + 2^-x), and the whole x = t/k may be added after rounding. */
SET_TEST(mi0_tables_are_as_specified)
{
	expect_word(set, TABLE_MI, 0, (int32_t)set->id.scale);
	for (int32_t t = 1; t <= 0x8000; t++) {
		int32_t word = expected_word(&set->id, expected_log_one(&set->id, 1, (uint32_t)t));

		expect_word(set, TABLE_MI, (uint16_t)-t, word);
		if (t < 0x8000)
			expect_word(set, TABLE_MI, (uint32_t)t, t + word);
	}
}

/* What mi1 and mi2 hold for 0 and for a theta of the wrong sign. */
static int32_t
word_without_difference(const struct netfc_set *set)
{
	if (set->id.rounding == NETFC_FLOOR)
		return -0x8000;
	return expected_word(&set->id, expected_same_log(&set->id));
}

SET_TEST(mi1_and_mi2_tables_are_as_specified)
{
	const uint32_t mi1 = 1 << 16, mi2 = 2 << 16;
	int32_t same = word_without_difference(set);

	expect_word(set, TABLE_MI, mi1, same);
	expect_word(set, TABLE_MI, mi2, same);
	for (int32_t t = 1; t <= 0x8000; t++) {
		int32_t word = expected_word(&set->id, expected_log_one(&set->id, -1, (uint32_t)t));

		expect_word(set, TABLE_MI, mi1 | (uint16_t)-t, word);
		expect_word(set, TABLE_MI, mi2 | (uint16_t)-t, same);
		if (t == 0x8000)
			continue;
		expect_word(set, TABLE_MI, mi1 | (uint32_t)t, same);
		expect_word(set, TABLE_MI, mi2 | (uint32_t)t, t + word);
	}
}

SET_TEST(exp_tables_are_as_specified)
{
	uint32_t magnitude = naive_least(format);

	for (int32_t n = INT16_MIN; n <= INT16_MAX; n++) {
		while (magnitude < naive_greatest(format) && expected_above(&set->id, n, magnitude))
			magnitude++;
		expect_entry(set, TABLE_EXP, (uint16_t)n, magnitude);
	}
}

/* Where IEEE results leave the range, as the specification says it: by T and B. */
SET_TEST(exp_tables_end_where_the_format_ends)
{
	const int32_t too_large = netfc_format_id(format) == NETFC_FP16 ? 16 : 128;
	const int32_t least = netfc_format_id(format) == NETFC_FP16 ? -24 : -133;
	const int32_t k = (int32_t)set->id.scale;
	const bool to_floor = set->id.rounding == NETFC_FLOOR;
	const uint32_t *entries = netfc_table_entries(netfc_set_table(set, TABLE_EXP));

	for (int32_t n = INT16_MIN; n <= INT16_MAX; n++) {
		uint32_t entry = entries[(uint16_t)n];

		if (netfc_format_is_posit(format)) {
			assert_in_range(entry, 1, 0x7fff);
			continue;
		}
		assert_int_equal(entry == naive_end(format), n >= too_large * k);
		if (n < (least - 1) * k || (to_floor && n < least * k))
			assert_int_equal(entry, 0);
		if (n >= least * k)
			assert_int_not_equal(entry, 0);
	}
}

FORMAT_MAIN(NULL, NULL)

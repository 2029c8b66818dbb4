/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guard: sums of positive numbers, by the tables' entries and the specification's steps alone,
 * on both sides of where the smaller operand no longer counts. The argument is a format.
 */
#include "log/log_family.h"
#include "naive.h"
#include "unit.h"

static const struct netfc_format *format;

static int32_t
entry(const struct netfc_set *set, enum log_table table, uint32_t key)
{
	return (int16_t)netfc_table_entries(netfc_set_table(set, table))[key];
}

/* How often each case was met. */
static struct {
	unsigned inside, at, beyond;
} met;

static uint16_t
sum_by_steps(const struct netfc_set *set, uint16_t x, uint16_t y)
{
	const int32_t guard = netfc_format_guard(format) * (int32_t)netfc_set_scale(set);
	int32_t i = entry(set, TABLE_LOG, x), j = entry(set, TABLE_LOG, y);
	int32_t theta = saturate(j - i);

	met.inside += theta > -guard && theta < guard;
	met.at += theta == -guard || theta == guard;
	met.beyond += theta < -guard || theta > guard;
	if (theta > guard)
		return y;
	if (theta < -guard)
		return x;
	return (uint16_t)entry(
		set, TABLE_EXP, (uint16_t)saturate(i + entry(set, TABLE_MI, (uint16_t)theta)));
}

static void
check_sums(const struct netfc_set *set, uint16_t x)
{
	for (uint32_t y = 1; y < naive_end(format); y++) {
		uint16_t expected = sum_by_steps(set, x, (uint16_t)y);
		uint16_t z = netfc_calc(set, NETFC_ADD, x, (uint16_t)y).z;

		if (z != expected)
			fail_msg("%s: %#x + %#x = %#x, not %#x", netfc_set_name(set), x, y, z,
				expected);
	}
}

static void
check_set(unsigned scale, enum netfc_rounding rounding)
{
	const struct netfc_set_id id = {format, scale, rounding, NETFC_FAMILY_LOG};
	char name[NETFC_SET_NAME_SIZE];
	struct netfc_set *set;
	uint64_t seed = 1;

	netfc_set_format_name(&id, name);
	set = must_build(name);
	for (unsigned n = 0; n < 40; n++)
		check_sums(set, (uint16_t)(1 + next_random(&seed) % (naive_end(format) - 1)));
	netfc_set_free(set);
}

TEST(sums_follow_the_steps_around_the_guard)
{
	unsigned max = netfc_format_max_scale(format);

	check_set(max, NETFC_NEAREST);
	check_set(max, NETFC_FLOOR);
	check_set(1, NETFC_NEAREST);
	assert_true(met.inside > 0);
	/* The numbers of posit16 are no further apart than 2^56. */
	assert_int_equal(met.at > 0, netfc_format_id(format) != NETFC_POSIT16);
	assert_int_equal(met.beyond > 0, netfc_format_id(format) != NETFC_POSIT16);
}

FORMAT_MAIN(NULL, NULL)

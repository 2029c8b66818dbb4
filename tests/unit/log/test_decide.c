/* SPDX-License-Identifier: BSD-3-Clause */
/* The decision table: all 1,024 keys, against IEEE 754's rules and the paper's table I. */
#include "log/log_family.h"
#include "naive.h"
#include "unit.h"

#define KEYS (1u << NETFC_DECIDE_KEY_BITS)

/* A key taken apart, and operands that fit it. */
struct lane {
	const struct netfc_format *format;
	enum netfc_op op;
	enum netfc_class class_x, class_y;
	unsigned sign_x, sign_y, compare;
	uint16_t x, y; /* y as it is after the negation of a subtraction */
};

/* A magnitude of a class; a finite one is 1, or the second of two that compare as wanted. */
static uint16_t
magnitude_of(const struct netfc_format *format, enum netfc_class class, double finite)
{
	switch (class) {
	case NETFC_ZERO:
		return 0;
	case NETFC_INF:
		return (uint16_t)naive_end(format);
	case NETFC_NAN:
		return netfc_format_is_posit(format) ? 0x8000 : 0x7fff;
	case NETFC_FINITE:
		break;
	}
	return naive_encode(format, finite);
}

static uint16_t
operand_of(const struct netfc_format *format, enum netfc_class class, unsigned sign, double finite)
{
	uint16_t magnitude = magnitude_of(format, class, finite);

	if (!sign)
		return magnitude;
	return netfc_format_is_posit(format) ? (uint16_t)-magnitude : magnitude | 0x8000;
}

/* Only with finite operands does the comparison of the magnitudes matter. */
static struct lane
lane_of(const struct netfc_format *format, uint32_t key)
{
	static const double x[] = {[NETFC_LESS] = 1, [NETFC_EQUAL] = 1, [NETFC_GREATER] = 2, 1};
	static const double y[] = {[NETFC_LESS] = 2, [NETFC_EQUAL] = 1, [NETFC_GREATER] = 1, 1};
	struct lane lane = {
		.format = format,
		.op = (enum netfc_op)(NETFC_ADD + (key >> 8)),
		.class_x = (enum netfc_class)(key >> 6 & 3),
		.class_y = (enum netfc_class)(key >> 4 & 3),
		.sign_x = key >> 3 & 1,
		.sign_y = key >> 2 & 1,
		.compare = key & 3,
	};

	lane.x = operand_of(format, lane.class_x, lane.sign_x, x[lane.compare]);
	lane.y = operand_of(format, lane.class_y, lane.sign_y, y[lane.compare]);
	return lane;
}

/* There are three ways to compare, no infinite posit and no posit of class zero with a sign. */
static bool
has_meaning(const struct lane *lane)
{
	if (lane->class_x == NETFC_FINITE && lane->class_y == NETFC_FINITE)
		return lane->compare <= NETFC_GREATER;
	return !netfc_format_is_posit(lane->format) ||
		(lane->class_x != NETFC_INF && lane->class_y != NETFC_INF);
}

/* Table I of the paper, which knows no equal magnitudes of different signs. */
static const struct {
	unsigned sign_x, sign_y;
	bool greater;
	unsigned page, sign;
} table_1[] = {
	{0, 0, false, 0, 0},
	{0, 0, true, 0, 0},
	{0, 1, false, 2, 1},
	{0, 1, true, 1, 0},
	{1, 0, false, 2, 0},
	{1, 0, true, 1, 1},
	{1, 1, false, 0, 1},
	{1, 1, true, 0, 1},
};

static void
expect_row_of_table_1(const struct lane *lane, uint32_t word)
{
	unsigned rows = 0;

	for (unsigned r = 0; r < sizeof(table_1) / sizeof(table_1[0]); r++) {
		if (table_1[r].sign_x != lane->sign_x || table_1[r].sign_y != lane->sign_y ||
			table_1[r].greater != (lane->compare == NETFC_GREATER))
			continue;
		assert_int_equal(netfc_decide_page(word), table_1[r].page);
		assert_int_equal(netfc_decide_sign(word), table_1[r].sign);
		rows++;
	}
	assert_int_equal(rows, 1);
}

/* What z is if the stages don't compute it. */
static uint16_t
decided(const struct lane *lane, uint32_t word)
{
	switch (netfc_decide_source(word)) {
	case NETFC_FROM_X:
		return lane->x;
	case NETFC_FROM_Y:
		return lane->y;
	case NETFC_FROM_CONSTANT:
		return (uint16_t)netfc_decide_constant(word);
	}
	fail_msg("z is not decided: word %#x", word);
	return 0;
}

static void
expect_computed(const struct lane *lane, uint32_t word)
{
	assert_int_equal(netfc_decide_source(word), NETFC_FROM_STAGES);
	assert_int_equal(netfc_decide_flags(word), 0);
	if (lane->op == NETFC_ADD || lane->op == NETFC_SUB)
		expect_row_of_table_1(lane, word);
	else
		assert_int_equal(netfc_decide_sign(word), lane->sign_x ^ lane->sign_y);
}

static void
expect_word(const struct netfc_format *format, uint32_t key, uint32_t word)
{
	struct lane lane = lane_of(format, key);
	/* y has been negated already. */
	enum netfc_op op = lane.op == NETFC_SUB ? NETFC_ADD : lane.op;
	uint16_t z;

	if (!has_meaning(&lane))
		return;
	if (!naive_special(format, op, lane.x, lane.y, &z)) {
		expect_computed(&lane, word);
		return;
	}
	if (decided(&lane, word) != z)
		fail_msg("%s, key %#x: z is %#x, not %#x", netfc_format_name(format), key,
			decided(&lane, word), z);
	assert_int_equal(netfc_decide_flags(word), naive_flags(format, op, lane.x, lane.y, z));
}

FORMAT_16_TEST(every_decision_is_as_specified)
{
	for (uint32_t key = 0; key < KEYS; key++)
		expect_word(format, key, netfc_decide(format, key));
}

TEST(every_set_has_these_decisions)
{
	static const char *const names[] = {
		"fp16_k1024", "fp16_k1_floor", "posit16_k8", "bf16_k128_floor", "posit16_es2_k256"};

	for (unsigned n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		struct netfc_set *set = must_build(names[n]);
		const struct netfc_table *table = netfc_set_table(set, TABLE_DECIDE);

		assert_int_equal(netfc_table_size(table), KEYS);
		assert_false(netfc_table_is_match(table));
		for (uint32_t key = 0; key < KEYS; key++)
			assert_int_equal(netfc_table_entries(table)[key],
				netfc_decide(netfc_set_format(set), key));
		netfc_set_free(set);
	}
}

TEST(keys_are_reachable_where_magnitudes_compare)
{
	struct netfc_set *set = must_build("fp16_k1");
	const struct netfc_table *table = netfc_set_table(set, TABLE_DECIDE);

	for (uint32_t key = 0; key < KEYS; key++)
		assert_int_equal(netfc_table_reachable(table, key), (key & 3) <= NETFC_GREATER);
	netfc_set_free(set);
}

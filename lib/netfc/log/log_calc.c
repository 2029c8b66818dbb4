/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference arithmetic with the paper's tables: one lane, decision by decision (paper,
 * algorithms 1 and 2). It shares only the tables with the programs, so that each can be tested
 * against the other.
 */
#include "log/log_family.h"

static int32_t
look_up(const struct netfc_set *set, enum log_table table, unsigned page, int32_t key)
{
	const struct netfc_table *t = &set->table[table];
	uint32_t mask = (UINT32_C(1) << t->key_bits) - 1;

	return log_word(t->entries[page << t->key_bits | ((uint32_t)key & mask)]);
}

static struct netfc_result
plain(uint32_t z)
{
	return (struct netfc_result){z, 0};
}

static struct netfc_result
nan_result(const struct netfc_format *format, uint8_t flags)
{
	return (struct netfc_result){format->nan, flags};
}

/* 2^(n/k) with a sign, of finite operands whose exact result is not zero. */
static struct netfc_result
power(const struct netfc_set *set, int32_t n, bool negative)
{
	const struct netfc_format *format = set->id.format;
	uint32_t magnitude = (uint32_t)look_up(set, TABLE_EXP, 0, n);
	struct netfc_result result = {signed_magnitude(format, magnitude, negative), 0};

	if (magnitude == 0)
		result.flags = NETFC_UNDERFLOW;
	else if (magnitude == format->inf)
		result.flags = NETFC_OVERFLOW;
	return result;
}

static struct netfc_result
add_finite(const struct netfc_set *set, uint32_t x, uint32_t y)
{
	const struct netfc_format *format = set->id.format;
	uint32_t magnitude_x = bits_magnitude(format, x), magnitude_y = bits_magnitude(format, y);
	bool negative = is_negative(format, x);
	int32_t guard = log_guard_words(set);
	int32_t i = look_up(set, TABLE_LOG, 0, magnitude_x);
	int32_t j = look_up(set, TABLE_LOG, 0, magnitude_y);
	int32_t theta = saturate(j - i), m;
	unsigned page = 0;

	if (theta > guard)
		return plain(y);
	if (theta < -guard)
		return plain(x);
	if (is_negative(format, x) != is_negative(format, y)) {
		if (magnitude_x == magnitude_y)
			return plain(0);
		page = magnitude_x > magnitude_y ? 1 : 2;
		negative = is_negative(format, page == 1 ? x : y);
	}
	m = look_up(set, TABLE_MI, page, theta);
	if (m == log_word(NETFC_NO_RESULT))
		return (struct netfc_result){0, NETFC_UNDERFLOW};
	return power(set, saturate(i + m), negative);
}

static struct netfc_result
add(const struct netfc_set *set, uint32_t x, uint32_t y)
{
	const struct netfc_format *format = set->id.format;
	enum netfc_class class_x = operand_class(format, x), class_y = operand_class(format, y);

	if (class_x == NETFC_INF && class_y == NETFC_INF)
		return x == y ? plain(x) : nan_result(format, NETFC_INVALID);
	if (class_x == NETFC_INF)
		return plain(x);
	if (class_y == NETFC_INF)
		return plain(y);
	if (class_x == NETFC_ZERO && class_y == NETFC_ZERO)
		return plain(x & y);
	if (class_x == NETFC_ZERO)
		return plain(y);
	if (class_y == NETFC_ZERO)
		return plain(x);
	return add_finite(set, x, y);
}

static struct netfc_result
multiply(const struct netfc_set *set, uint32_t x, uint32_t y)
{
	const struct netfc_format *format = set->id.format;
	enum netfc_class class_x = operand_class(format, x), class_y = operand_class(format, y);
	bool negative = is_negative(format, x) != is_negative(format, y);
	int32_t i, j;

	if (class_x == NETFC_INF || class_y == NETFC_INF) {
		if (class_x == NETFC_ZERO || class_y == NETFC_ZERO)
			return nan_result(format, NETFC_INVALID);
		return plain(signed_magnitude(format, format->inf, negative));
	}
	if (class_x == NETFC_ZERO || class_y == NETFC_ZERO)
		return plain(signed_magnitude(format, 0, negative));
	i = look_up(set, TABLE_LOG, 0, bits_magnitude(format, x));
	j = look_up(set, TABLE_LOG, 0, bits_magnitude(format, y));
	return power(set, saturate(i + j), negative);
}

static struct netfc_result
divide_by_zero(const struct netfc_format *format, bool negative)
{
	uint32_t z = format->posit ? format->nan : signed_magnitude(format, format->inf, negative);

	return (struct netfc_result){z, NETFC_DIVBYZERO};
}

static struct netfc_result
divide(const struct netfc_set *set, uint32_t x, uint32_t y)
{
	const struct netfc_format *format = set->id.format;
	enum netfc_class class_x = operand_class(format, x), class_y = operand_class(format, y);
	bool negative = is_negative(format, x) != is_negative(format, y);
	int32_t i, j;

	if (class_x == NETFC_INF && class_y == NETFC_INF)
		return nan_result(format, NETFC_INVALID);
	if (class_x == NETFC_ZERO && class_y == NETFC_ZERO)
		return nan_result(format, NETFC_INVALID);
	if (class_x == NETFC_INF)
		return plain(signed_magnitude(format, format->inf, negative));
	if (class_y == NETFC_INF || class_x == NETFC_ZERO)
		return plain(signed_magnitude(format, 0, negative));
	if (class_y == NETFC_ZERO)
		return divide_by_zero(format, negative);
	i = look_up(set, TABLE_LOG, 0, bits_magnitude(format, x));
	j = look_up(set, TABLE_LOG, 0, bits_magnitude(format, y));
	return power(set, saturate(i - j), negative);
}

struct netfc_result
log_calc(const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y)
{
	const struct netfc_format *format = set->id.format;

	if (operand_class(format, x) == NETFC_NAN || operand_class(format, y) == NETFC_NAN)
		return nan_result(format, 0);
	switch (op) {
	case NETFC_SUB:
		return add(set, x, negated(format, y));
	case NETFC_MUL:
		return multiply(set, x, y);
	case NETFC_DIV:
		return divide(set, x, y);
	case NETFC_ADD:
	default:
		return add(set, x, y);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The decision table (paper, table I). Further rows have the results that IEEE 754 and posits
 * prescribe for zeros, infinities, NaN and NaR.
 */
#include "internal.h"

/* A word has space for the upper 16 bits, which are all that special values have. */
static uint32_t
constant(const struct netfc_format *format, uint32_t z, uint8_t flags)
{
	return (uint32_t)flags << 24 | NETFC_FROM_CONSTANT << 16 | z >> decided_shift(format);
}

/* An infinite result. */
static uint32_t
infinite(const struct netfc_format *format, bool negative, uint8_t flags)
{
	return constant(format, overflowed(format, negative), flags);
}

static uint32_t
operand(enum netfc_source source)
{
	return (uint32_t)source << 16;
}

static uint32_t
computed(unsigned page, unsigned sign)
{
	return sign << 20 | page << 18 | NETFC_FROM_STAGES << 16;
}

/* The fields of the key. */
struct decision {
	const struct netfc_format *format;
	unsigned op, class_x, class_y, sign_x, sign_y, compare;
};

/* x + y, y already negated for a subtraction. */
static uint32_t
decide_sum(const struct decision *d)
{
	if (d->class_x == NETFC_INF && d->class_y == NETFC_INF && d->sign_x != d->sign_y)
		return constant(d->format, d->format->nan, NETFC_INVALID);
	if (d->class_x == NETFC_ZERO && d->class_y == NETFC_ZERO)
		return constant(d->format,
			d->sign_x && d->sign_y && !d->format->posit ? sign_bit(d->format) : 0, 0);
	if (d->format->saturates && (d->class_x == NETFC_INF || d->class_y == NETFC_INF))
		return infinite(d->format, d->class_x == NETFC_INF ? d->sign_x : d->sign_y, 0);
	if (d->class_x == NETFC_INF || d->class_y == NETFC_ZERO)
		return operand(NETFC_FROM_X);
	if (d->class_y == NETFC_INF || d->class_x == NETFC_ZERO)
		return operand(NETFC_FROM_Y);
	if (d->sign_x == d->sign_y)
		return computed(0, d->sign_x);
	if (d->compare == NETFC_EQUAL)
		return constant(d->format, 0, 0);
	return d->compare == NETFC_GREATER ? computed(1, d->sign_x) : computed(2, d->sign_y);
}

static uint32_t
signed_zero(const struct decision *d)
{
	return constant(d->format, signed_magnitude(d->format, 0, d->sign_x != d->sign_y), 0);
}

static uint32_t
decide_product(const struct decision *d)
{
	bool inf = d->class_x == NETFC_INF || d->class_y == NETFC_INF;
	bool zero = d->class_x == NETFC_ZERO || d->class_y == NETFC_ZERO;

	if (inf && zero)
		return constant(d->format, d->format->nan, NETFC_INVALID);
	if (inf)
		return infinite(d->format, d->sign_x != d->sign_y, 0);
	if (zero)
		return signed_zero(d);
	return computed(0, d->sign_x != d->sign_y);
}

static uint32_t
decide_quotient(const struct decision *d)
{
	if (d->class_x == d->class_y && d->class_x != NETFC_FINITE)
		return constant(d->format, d->format->nan, NETFC_INVALID);
	if (d->class_x == NETFC_INF)
		return infinite(d->format, d->sign_x != d->sign_y, 0);
	if (d->class_x == NETFC_ZERO || d->class_y == NETFC_INF)
		return signed_zero(d);
	if (d->class_y == NETFC_ZERO)
		return d->format->posit
			? constant(d->format, d->format->nan, NETFC_DIVBYZERO)
			: infinite(d->format, d->sign_x != d->sign_y, NETFC_DIVBYZERO);
	return computed(0, d->sign_x != d->sign_y);
}

uint32_t
netfc_decide(const struct netfc_format *format, uint32_t key)
{
	const struct decision d = {format, (key >> 8 & 3) + NETFC_ADD, key >> 6 & 3, key >> 4 & 3,
		key >> 3 & 1, key >> 2 & 1, key & 3};

	if (d.class_x == NETFC_NAN || d.class_y == NETFC_NAN)
		return constant(format, format->nan, 0);
	switch (d.op) {
	case NETFC_MUL:
		return decide_product(&d);
	case NETFC_DIV:
		return decide_quotient(&d);
	default:
		return decide_sum(&d);
	}
}

const struct netfc_table netfc_decide_table = {
	.name = "decide",
	.key_bits = NETFC_DECIDE_KEY_BITS,
	.value_bits = 28,
	.pages = 1,
	.copies = 1,
};

void
netfc_decide_fill(const struct netfc_format *format, struct netfc_table *table)
{
	for (uint32_t key = 0; key < netfc_table_size(table); key++)
		table->entries[key] = netfc_decide(format, key);
}

void
netfc_decide_mark(struct netfc_table *table)
{
	for (uint32_t key = 0; key < netfc_table_size(table); key++) {
		if ((key & 3) <= NETFC_GREATER)
			mark_reachable(table, key);
	}
}

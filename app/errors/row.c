/* SPDX-License-Identifier: BSD-3-Clause */
#include "row.h"

static unsigned
kind_of(const struct number_table *numbers, bool sum, uint16_t x, uint16_t y, uint16_t expected)
{
	int larger, bits;

	switch (numbers->class[expected]) {
	case NETFC_ZERO:
		return ZERO;
	case NETFC_INF:
		return INFINITE;
	case NETFC_NAN:
		return SPECIAL;
	default:
		break;
	}
	if (!sum || numbers->class[x] != NETFC_FINITE || numbers->class[y] != NETFC_FINITE)
		return UNCANCELLED;
	larger = numbers->exponent[x] > numbers->exponent[y] ? numbers->exponent[x]
							     : numbers->exponent[y];
	bits = larger - numbers->exponent[expected];
	return bits < 0 ? 0 : bits < CANCEL_BINS ? (unsigned)bits : CANCEL_BINS - 1;
}

/* Four counters for each kind, so that an increment need not wait for the previous one. */
static void
count_kinds(const struct row *row, struct kind_count *count)
{
	uint32_t bins[4][POPULATIONS << POPULATION_AT] = {0};

	for (uint32_t y = 0; y < ENCODINGS; y += 4) {
		for (unsigned i = 0; i < 4; i++)
			bins[i][row->kind[y + i]]++;
	}
	for (unsigned p = 0; p < POPULATIONS; p++) {
		for (unsigned k = 0; k < KINDS; k++) {
			for (unsigned i = 0; i < 4; i++)
				count->pairs[p][k] += bins[i][p << POPULATION_AT | k];
		}
	}
}

void
row_fill(struct row *row, const struct reference *reference, uint16_t x, struct kind_count *count)
{
	const struct number_table *numbers = reference->numbers;
	const bool sum = netfc_op_branch(reference->op) == NETFC_ADDITIVE;

	reference_row(reference, x, row->expected);
	for (uint32_t y = 0; y < ENCODINGS; y++) {
		enum population population =
			numbers->decimal[x] && numbers->decimal[y] ? DECIMALS : OTHERS;

		row->x[y] = x;
		row->y[y] = (uint16_t)y;
		row->kind[y] = (uint8_t)(population << POPULATION_AT |
			kind_of(numbers, sum, x, (uint16_t)y, row->expected[y]));
	}
	count_kinds(row, count);
}

void
kind_count_merge(struct kind_count *into, const struct kind_count *from)
{
	for (unsigned p = 0; p < POPULATIONS; p++) {
		for (unsigned k = 0; k < KINDS; k++)
			into->pairs[p][k] += from->pairs[p][k];
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops have no branch on data, so that compilers turn them into vector code. */

#include <math.h>

#include "tally.h"

/* Results per block, so that they stay in the first-level cache. */
#define BLOCK 512

/* Bits of a significand that are used: 21 of a binary64, and whether any other is set. */
#define SIGNIFICAND_BITS 22

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* binary64 numbers and their encodings. */
union block {
	double value[BLOCK];
	uint64_t bits[BLOCK];
};

/* A binary64 number in 32-bit words. */
struct parts {
	uint32_t sign;     /* 0 or 1 */
	int32_t exponent;  /* as it is encoded, without bias */
	uint32_t fraction; /* SIGNIFICAND_BITS - 1; the last bit is sticky */
};

static ALWAYS_INLINE struct parts
take_apart(uint64_t bits)
{
	uint32_t high = (uint32_t)(bits >> 32), low = (uint32_t)bits;

	return (struct parts){high >> 31, (int32_t)(high >> 20 & 0x7ff) - 1023,
		(high & 0xfffff) << 1 | (low != 0)};
}

/* word / 2^shift to nearest, ties to even; 1 <= shift <= 31, word < 2^31. */
static ALWAYS_INLINE uint32_t
round_shift(uint32_t word, uint32_t shift)
{
	uint32_t odd = word >> shift & 1;

	return (word + (UINT32_C(1) << (shift - 1)) - 1 + odd) >> shift;
}

/* An exponent below the least makes a significand's place in the encoding lower, not the exponent.
 */
static ALWAYS_INLINE uint32_t
round_ieee(const struct reference *reference, struct parts parts)
{
	const int32_t fraction_bits = 15 - reference->exponent_bits;
	const int32_t least = 2 - (1 << (reference->exponent_bits - 1));
	int32_t exponent = parts.exponent > least ? parts.exponent : least;
	int32_t below = exponent - parts.exponent;
	int32_t shift = SIGNIFICAND_BITS - 1 - fraction_bits + (below < 16 ? below : 16);
	uint32_t significand = UINT32_C(1) << (SIGNIFICAND_BITS - 1) | parts.fraction;
	uint32_t magnitude = ((uint32_t)(exponent - least) << fraction_bits) +
		round_shift(significand, (uint32_t)shift);

	return (magnitude < reference->inf ? magnitude : reference->inf) | parts.sign << 15;
}

/* Regime, exponent and fraction as one string of bits, the regime made by an arithmetic shift. */
static ALWAYS_INLINE uint32_t
round_posit(const struct reference *reference, struct parts parts, bool zero)
{
	const int32_t es = reference->exponent_bits;
	int32_t regime = parts.exponent >> es;
	int32_t longer = regime < 0 ? -regime - 1 : regime, shift = longer < 16 ? longer : 16;
	uint32_t start = regime < 0 ? UINT32_C(1) << 30 : UINT32_C(2) << 30;
	uint32_t string = start | (uint32_t)(parts.exponent & ((1 << es) - 1)) << (30 - es) |
		parts.fraction << (31 - SIGNIFICAND_BITS - es);
	uint32_t lost = (string & ((UINT32_C(1) << shift) - 1)) != 0;
	uint32_t shifted = (uint32_t)((int32_t)string >> shift) | lost;
	uint32_t magnitude = round_shift(shifted >> 1 | (shifted & 1), 16);

	magnitude = magnitude < 1 ? 1 : magnitude > 0x7fff ? 0x7fff : magnitude;
	magnitude = zero ? 0 : magnitude;
	return (parts.sign ? -magnitude : magnitude) & 0xffff;
}

static ALWAYS_INLINE void
operate(enum netfc_op op, double x, const double *restrict y, double *restrict z)
{
	switch (op) {
	case NETFC_SUB:
		for (unsigned i = 0; i < BLOCK; i++)
			z[i] = x - y[i];
		break;
	case NETFC_MUL:
		for (unsigned i = 0; i < BLOCK; i++)
			z[i] = x * y[i];
		break;
	case NETFC_DIV:
		for (unsigned i = 0; i < BLOCK; i++)
			z[i] = x / y[i];
		break;
	case NETFC_ADD:
	default:
		for (unsigned i = 0; i < BLOCK; i++)
			z[i] = x + y[i];
		break;
	}
}

static ALWAYS_INLINE void
round_block(const struct reference *reference, bool posit, const union block *restrict block,
	uint16_t *restrict z)
{
	const uint64_t inf = UINT64_C(0x7ff) << 52, magnitude = UINT64_MAX >> 1;
	const uint32_t nan = reference->nan;

	for (unsigned i = 0; i < BLOCK; i++) {
		uint64_t bits = block->bits[i], size = bits & magnitude;
		bool is_nan = posit ? size >= inf : size > inf;
		struct parts parts = take_apart(bits);
		uint32_t word = posit ? round_posit(reference, parts, size == 0)
				      : round_ieee(reference, parts);

		z[i] = (uint16_t)(is_nan ? nan : word);
	}
}

/* The results of x with every y. One body, compiled for the vector units of several processors; the
 * loader chooses. */
#ifdef HAVE_TARGET_CLONES
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
static void
reference_row(const struct reference *reference, uint16_t x, uint16_t *z)
{
	const struct number_table *numbers = reference->numbers;
	union block block;

	for (uint32_t y = 0; y < ENCODINGS; y += BLOCK) {
		operate(reference->op, numbers->value[x], &numbers->value[y], block.value);
		if (reference->posit)
			round_block(reference, true, &block, z + y);
		else
			round_block(reference, false, &block, z + y);
	}
}

void
reference_init(struct reference *reference, const struct number_table *numbers, enum netfc_op op)
{
	const struct netfc_format *format = numbers->format;
	const uint16_t regime_one = 0x6000; /* the posit 2^2^es */

	*reference = (struct reference){.numbers = numbers,
		.op = op,
		.posit = netfc_format_is_posit(format),
		.inf = netfc_inf_magnitude(format),
		.nan = netfc_nan(format)};
	if (reference->posit)
		reference->exponent_bits = ilogb(ilogb(netfc_decode(format, regime_one)));
	else
		reference->exponent_bits = __builtin_popcount(reference->inf);
}

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

static void
fill_one(struct number_table *table, uint16_t bits)
{
	const struct netfc_format *format = table->format;
	int32_t magnitude = netfc_magnitude(format, bits);
	double value = netfc_decode(format, bits);

	table->value[bits] = value;
	table->class[bits] = (uint8_t)netfc_classify(format, bits);
	table->ordinal[bits] = netfc_is_negative(format, bits) ? -magnitude : magnitude;
	if (table->class[bits] == NETFC_NAN)
		table->ordinal[bits] = NO_ORDINAL;
	if (table->class[bits] == NETFC_FINITE)
		table->exponent[bits] = (int16_t)ilogb(value);
	table->decimal[bits] = fabs(value) < 1;
}

void
number_table_fill(struct number_table *table, const struct netfc_format *format)
{
	table->format = format;
	for (uint32_t bits = 0; bits < ENCODINGS; bits++)
		fill_one(table, (uint16_t)bits);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Logarithms and powers of two in integers, so that no table entry depends on a C library or a
 * compiler's floating point. docs/table-sets.md derives the error bounds; a test compares
 * every value that a table needs with MPFR.
 */
#include "internal.h"

#include <stdlib.h>

/* Denominators are powers of two up to 2^ROOTS. */
#define ROOTS 12

/* 2^(2^-i) for i = 1..ROOTS, rounded down to multiples of 2^-63. */
static const uint64_t root[ROOTS + 1] = {
	0,
	UINT64_C(0xb504f333f9de6484),
	UINT64_C(0x9837f0518db8a96f),
	UINT64_C(0x8b95c1e3ea8bd6e6),
	UINT64_C(0x85aac367cc487b14),
	UINT64_C(0x82cd8698ac2ba1d7),
	UINT64_C(0x8164d1f3bc030773),
	UINT64_C(0x80b1ed4fd999ab6c),
	UINT64_C(0x8058d7d2d5e5f6b0),
	UINT64_C(0x802c6436d0e04f50),
	UINT64_C(0x8016302f17467628),
	UINT64_C(0x800b179c82028fd0),
	UINT64_C(0x80058baf7fee3b5d),
};

/* log2(1 - 2^(-1/den)) is greater than -(ROOTS + 1), and must fit with its sign. */
_Static_assert(((UINT64_C(1) << 63) >> LOG_BITS) > ROOTS + 1, "LOG_BITS is too large");

/* A product of 128 bits. */
struct product {
	uint64_t upper, lower;
};

/* WebAssembly multiplies 64 bits by 64 to 64; __int128 would be a call for each product there. */
static inline struct product
multiply_wide(uint64_t a, uint64_t b)
{
#ifdef __wasm__
	uint64_t a_upper = a >> 32, a_lower = (uint32_t)a;
	uint64_t b_upper = b >> 32, b_lower = (uint32_t)b;
	uint64_t lower = a_lower * b_lower;
	uint64_t middle = a_upper * b_lower, other = a_lower * b_upper;
	uint64_t carry = (lower >> 32) + (uint32_t)middle + (uint32_t)other;

	return (struct product){a_upper * b_upper + (middle >> 32) + (other >> 32) + (carry >> 32),
		carry << 32 | (uint32_t)lower};
#else
	unsigned __int128 product = (unsigned __int128)a * b;

	return (struct product){(uint64_t)(product >> 64), (uint64_t)product};
#endif
}

/* The product of two significands as a multiple of 2^-63, if it is below 2. */
static inline uint64_t
multiply(uint64_t a, uint64_t b)
{
	struct product product = multiply_wide(a, b);

	return product.upper << 1 | product.lower >> 63;
}

/*
 * Squaring doubles the logarithm: if the square is 2 or more, the next bit is a one. Half of them
 * are, so that a branch would be mispredicted for half of the bits.
 */
uint64_t
netfc_log2_significand(uint64_t significand)
{
	uint64_t log = 0;

	for (int bit = 0; bit < LOG_BITS; bit++) {
		struct product square = multiply_wide(significand, significand);
		uint64_t one = square.upper >> 63;

		log = log << 1 | one;
		significand = one ? square.upper : square.upper << 1 | square.lower >> 63;
	}
	return log;
}

uint64_t
netfc_exp2_fraction(uint32_t num, uint32_t den)
{
	uint64_t power = SIG_ONE;

	for (int i = 1; i <= ROOTS && num != 0; i++) {
		num *= 2;
		if (num >= den) {
			num -= den;
			power = multiply(power, root[i]);
		}
	}
	return power;
}

/* 2^(-num/den), as a multiple of 2^-63. */
static uint64_t
exp2_negative(uint32_t num, uint32_t den)
{
	uint32_t whole = num / den, part = num % den;

	if (part == 0)
		return SIG_ONE >> whole;
	return netfc_exp2_fraction(den - part, den) >> (whole + 1);
}

int64_t
netfc_log2_one_plus(uint32_t num, uint32_t den)
{
	return (int64_t)netfc_log2_significand(SIG_ONE + exp2_negative(num, den));
}

int64_t
netfc_log2_one_minus(uint32_t num, uint32_t den)
{
	uint64_t difference = SIG_ONE - exp2_negative(num, den);
	int shift = __builtin_clzll(difference);

	return (int64_t)netfc_log2_significand(difference << shift) - ((int64_t)shift << LOG_BITS);
}

#define WIDTH 32
/* The logarithm of the greatest integer, up to 2^bits * 32, must fit, too. */
#define MAX_BITS (WIDTH - 6)

uint64_t
netfc_log2(uint64_t value, unsigned bits)
{
	unsigned shift = (unsigned)__builtin_clzll(value);
	uint64_t fraction = netfc_log2_significand(value << shift);
	uint64_t half = UINT64_C(1) << (LOG_BITS - bits - 1);

	return ((uint64_t)(63 - shift) << bits) + ((fraction + half) >> (LOG_BITS - bits));
}

/* The prefixes of all integers whose leading one has the weight 2^exponent. */
static struct netfc_prefix *
fill_octave(struct netfc_prefix *at, unsigned exponent, unsigned below, unsigned bits)
{
	unsigned shift = exponent > below ? exponent - below : 0;
	uint64_t middle = (UINT64_C(1) << shift) / 2;

	for (uint64_t head = UINT64_C(1) << (exponent - shift); head >> (exponent - shift + 1) == 0;
		head++) {
		*at++ = (struct netfc_prefix){
			.key = (uint32_t)(head << shift),
			.value = (uint32_t)netfc_log2((head << shift) + middle, bits),
			.length = (uint8_t)(WIDTH - shift),
		};
	}
	return at;
}

int
netfc_log2_prefixes(unsigned below, unsigned bits, struct netfc_prefix **prefixes, size_t *count)
{
	struct netfc_prefix *at;

	if (below >= WIDTH || bits > MAX_BITS)
		return NETFC_ERR_ARGUMENT;
	*count = ((size_t)2 << below) - 1 + ((size_t)(WIDTH - 1 - below) << below);
	*prefixes = malloc(*count * sizeof(**prefixes));
	if (*prefixes == NULL)
		return NETFC_ERR_NOMEM;
	at = *prefixes;
	for (unsigned exponent = 0; exponent < WIDTH; exponent++)
		at = fill_octave(at, exponent, below, bits);
	return NETFC_OK;
}

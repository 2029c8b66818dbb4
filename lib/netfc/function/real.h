/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_REAL_H
#define NETFC_REAL_H

/**
 * @file
 * Real numbers as significands of 64 bits and exponents without limits, computed in integers: the
 * same on every machine. Each operation rounds towards zero and is off by less than 2^-62 of its
 * result. docs/functions.md adds the errors up.
 */

#include "internal.h"

/* significand * 2^(exponent - 63), its leading bit set; or zero, whose significand is zero. */
struct real {
	bool negative;
	int exponent;
	uint64_t significand;
};

/* A positive constant: bits * 2^(power - 63), the leading one of `bits` set. */
#define REAL(power, bits) ((struct real){.exponent = (power), .significand = UINT64_C(bits)})
#define REAL_ONE REAL(0, 0x8000000000000000)

static inline bool
real_is_zero(struct real a)
{
	return a.significand == 0;
}

static inline struct real
real_negate(struct real a)
{
	a.negative = !a.negative && !real_is_zero(a);
	return a;
}

static inline struct real
real_abs(struct real a)
{
	a.negative = false;
	return a;
}

/* a * 2^power. */
static inline struct real
real_scale(struct real a, int power)
{
	a.exponent += power;
	return a;
}

/* wide * 2^(exponent - 127): its leading 64 bits. */
struct real real_leading_bits(bool negative, int exponent, unsigned __int128 wide);

/* An integer, exactly. */
struct real real_integer(int64_t value);

struct real real_add(struct real a, struct real b);
struct real real_multiply(struct real a, struct real b);

static inline struct real
real_subtract(struct real a, struct real b)
{
	return real_add(a, real_negate(b));
}

/* a / b, b not zero. `exact`, unless it is NULL, says whether it is the quotient itself. */
struct real real_divide(struct real a, struct real b, bool *exact);

/* The square root of a positive number, likewise. */
struct real real_sqrt(struct real a, bool *exact);

/* How real_to_integer() rounds. */
enum real_rounding {
	REAL_TRUNCATE,
	REAL_DOWN,
	REAL_UP,
	REAL_NEAREST, /* ties to even */
};

/* The integer next to a number in a direction. */
struct real real_to_integer(struct real a, enum real_rounding rounding);

/* The value of an integer below 2^31. */
int32_t real_integer_value(struct real a);

/*
 * Elementary functions of real numbers, with errors below 2^-53 of the result
 * (docs/functions.md). Arguments have significands of up to 26 bits: numbers of a format, and
 * their squares.
 */

/* e^x and 2^x. Beyond 2^1024 and its inverse they are merely that large or small. */
struct real real_exp(struct real x);
struct real real_exp2(struct real x);
/* e^x - 1, near 0 as precise as elsewhere. */
struct real real_expm1(struct real x);

/* The natural logarithm and that to base 2 of a positive number. */
struct real real_ln(struct real x);
struct real real_log2(struct real x);

/* Below 2^129, and a multiple of 2^-133. */
struct real real_sin(struct real x);
struct real real_cos(struct real x);

/* The error function. */
struct real real_erf(struct real x);
/* The normal distribution: the probability of a value below x. */
struct real real_normal(struct real x);

#endif /* NETFC_REAL_H */

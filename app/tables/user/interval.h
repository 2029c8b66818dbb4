/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INTERVAL_H
#define INTERVAL_H

/** @file Interval arithmetic on MPFR, and the operations of expressions. */

#include <stdbool.h>
#include <stddef.h>

#include <mpfr.h>

/*
 * Interval arithmetic on MPFR: what is known of a real number, and of functions of such numbers.
 *
 * A number lies between two bounds and may be a bound itself unless that is open. Bounds that are
 * open tell 1 + e^-1000 from 1 at any precision, and what underflows from zero. A number whose
 * bounds are one and the same is exact; zeros and infinities then mean what IEEE 754 says.
 */

enum interval_kind {
	INTERVAL_REAL,    /**< between its bounds; zeros and infinities included */
	INTERVAL_NAN,     /**< there is no such number */
	INTERVAL_UNKNOWN, /**< nothing is known at this precision */
};

struct interval {
	enum interval_kind kind;
	mpfr_t low, high;
	bool low_open, high_open;
};

/** The most arguments of an operation. */
#define OPERATION_ARGUMENTS 2

struct operation;

void interval_init(struct interval *interval, mpfr_prec_t bits);
void interval_set_bits(struct interval *interval, mpfr_prec_t bits);
void interval_clear(struct interval *interval);
void interval_swap(struct interval *a, struct interval *b);

/** Whether it is one number. */
bool interval_is_exact(const struct interval *interval);

/** Whether there are numbers of both signs in it. */
static inline bool
interval_straddles_zero(const struct interval *interval)
{
	return mpfr_sgn(interval->low) < 0 && mpfr_sgn(interval->high) > 0;
}

/** Whether zero is in it. */
static inline bool
interval_may_be_zero(const struct interval *interval)
{
	return interval_straddles_zero(interval) ||
		(mpfr_zero_p(interval->low) && !interval->low_open) ||
		(mpfr_zero_p(interval->high) && !interval->high_open);
}

/** Set it to what MPFR has rounded to nearest, with the ternary value that MPFR returned. */
void interval_set(struct interval *interval, mpfr_srcptr nearest, int ternary);

/**
 * Compute an operation.
 *
 * @param result other than the arguments, and as precise
 */
void interval_compute(const struct operation *operation, const struct interval *arguments,
	struct interval *result);

/**
 * If a number of 64 bits, zero among them, lies in a very small interval, take it for the number.
 */
void interval_settle(struct interval *interval);

/* The operations of expressions, by MPFR, and what interval arithmetic has to know of them.
 */

/** How results depend on arguments. */
enum shape {
	SHAPE_MONOTONIC, /**< strictly, of one argument */
	SHAPE_STEPS,     /**< monotonic, with steps at integers or between them */
	SHAPE_EVEN,      /**< strictly monotonic in the arguments' magnitudes */
	SHAPE_WAVE,      /**< sin and cos */
	SHAPE_TANGENT,
	/* Of two arguments, strictly monotonic in each, but for what compute_...() say. */
	SHAPE_SUM,
	SHAPE_PRODUCT,
	SHAPE_QUOTIENT,
	SHAPE_POWER,
	SHAPE_ANGLE, /**< atan2 */
	SHAPE_GREATER,
	SHAPE_LESSER,
};

struct operation {
	const char *name;
	enum shape shape;
	unsigned arguments;
	/* As MPFR's: the ternary value says on which side of the result the rounded one is. */
	int (*one)(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding);
	int (*two)(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding);
};

extern const struct operation *const operation_add,
	*const operation_sub, *const operation_mul, *const operation_div,
							    *const operation_pow,
								    *const operation_neg;

/** The functions by name, in alphabetical order; NULL after the last one. */
const struct operation *operation_function(size_t index);

#endif /* INTERVAL_H */

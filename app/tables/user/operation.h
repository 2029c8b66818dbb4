/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef USER_OPERATION_H
#define USER_OPERATION_H

/** @file The operations of expressions, by MPFR, and what interval arithmetic has to know of them.
 */

#include <stddef.h>

#include "user/interval.h"

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

/** The functions by name, in alphabetical order; NULL behind the last one. */
const struct operation *operation_function(size_t index);

#endif /* USER_OPERATION_H */

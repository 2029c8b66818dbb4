/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXPRESSION_H
#define EXPRESSION_H

/** @file Expressions of x, computed in interval arithmetic. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <mpfr.h>

#include "user/interval.h"

/*
 * Expressions of x, such as "x / (1 + exp(-x))": numbers, x, pi, e, + - * / ^ (x^y; -x^2 is
 * -(x^2)), parentheses, and functions of one or two numbers.
 */

struct expression;

/** What is wrong with an expression. */
struct expression_error {
	const char *what; /**< NULL: nothing; "out of memory" without a place */
	unsigned at;      /**< the number of characters before it */
	bool unknown_name;
};

/** Read an expression; expression_free() frees it. The text has to stay. NULL: see `error`. */
struct expression *expression_read(const char *text, struct expression_error *error);
void expression_free(struct expression *expression);

/** Print what names there are, as a sentence. */
void expression_print_names(FILE *stream);

/** How expression_compute() computes. */
struct precision {
	mpfr_prec_t bits;
	bool settle; /**< see interval_settle() */
};

/** What is known of an expression's value. */
struct expression_value {
	const struct interval *interval; /**< until the next one is computed */
	bool pole;                       /**< it, or a part of it, is infinite, of finite numbers */
	bool has_limit; /**< if it is NaN, it may have a limit there: 0 / 0, inf - inf and the like
			 */
};

/** Compute an expression's value at an x. */
struct expression_value
expression_compute(struct expression *expression, mpfr_srcptr x, struct precision precision);

#endif /* EXPRESSION_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXPRESSION_H
#define EXPRESSION_H

/** @file Expressions of x, such as "x / (1 + exp(-x))", in double precision. */

#include <stdbool.h>

/** The value of an expression at an x. */
struct expression_value {
	double value;
	bool pole;         /**< something was divided by zero, or ln(0) and the like */
	const char *error; /**< NULL, or what is wrong with the expression, */
	unsigned at;       /**< and where: the number of characters before it */
};

/**
 * Evaluate an expression. It has numbers, x, pi, e, + - * / ^ (x^y; -x^2 is -(x^2)), parentheses,
 * and functions of one or two numbers.
 */
struct expression_value expression_evaluate(const char *text, double x);

/** The names of its functions, for people. */
const char *expression_functions(void);

#endif /* EXPRESSION_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EVALUATE_H
#define EVALUATE_H

/** @file An expression's values, correctly rounded into a format. */

#include "netfc.h"
#include "user/expression.h"

/** The precisions that values are computed in: from the first to the last, each four times the one
 * before. */
#define EVALUATE_FIRST_BITS 96
#define EVALUATE_LAST_BITS 1536

/** The value of an expression in a format. */
struct rounded {
	uint16_t z;
	/** The value before it was rounded, as a double rounded to odd; of a limit, z. */
	double value;
	bool pole;
};

/**
 * Evaluate an expression at an encoding other than NaN: NaN where it has no value; at infinities,
 * its limit where it has none.
 *
 * @return false if not even the last precision tells the value
 */
bool evaluate(struct expression *expression, const struct netfc_format *format, uint16_t x,
	struct rounded *result);

#endif /* EVALUATE_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DECIMAL_H
#define DECIMAL_H

/** @file Decimal numbers from text, so that they can still be rounded into any format. */

#include <stdbool.h>

/**
 * Read a decimal number, inf or infinity, with or without a sign; nothing may follow it.
 *
 * @param value receives the number rounded to odd: itself if a double can be it, otherwise that of
 *   the two doubles around it whose last bit is set (so never zero, never infinity). Rounded to
 *   nearest into a format of up to 51 bits, that gives what rounding the number itself would give
 *   (Boldo and Melquiond, 2008).
 * @return whether the text is one
 */
bool decimal_read(const char *text, double *value);

/**
 * Round to odd: of the two doubles around any other number, the one whose last bit is set.
 *
 * @param nearest one of the two, infinity and zero among them
 * @param order less than 0, 0, or more than 0 as the number is less than, equal to or greater than
 * it
 */
double round_to_odd(double nearest, int order);

#endif /* DECIMAL_H */

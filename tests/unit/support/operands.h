/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPERANDS_H
#define OPERANDS_H

/** @file Operands at which something happens in a format. */

#include "netfc.h"

#define OPERANDS_MAX 40

/**
 * Zeros, infinities, NaN, and numbers around the least, the least normal, one, two and the greatest
 * one, with both signs.
 *
 * @return how many
 */
unsigned edge_operands(const struct netfc_format *format, uint16_t operands[OPERANDS_MAX]);

#endif /* OPERANDS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPERANDS_H
#define OPERANDS_H

/** @file Operands of tests: those at which something happens in a format, or every so many-th. */

#include <stdlib.h>

#include "netfc.h"

#define OPERANDS_MAX 40

/**
 * Zeros, infinities, NaN, and numbers around the least, the least normal, one, two and the greatest
 * one, with both signs.
 *
 * @return how many
 */
unsigned edge_operands(const struct netfc_format *format, uint16_t operands[OPERANDS_MAX]);

/**
 * Every how many-th x is taken: the environment's NETFC_STRIDE, 1 to 65535, for processors that are
 * only imitated and for sanitizers; else `usual`.
 */
static inline uint32_t
stride_or(uint32_t usual)
{
	const char *text = getenv("NETFC_STRIDE");
	long number = text != NULL ? strtol(text, NULL, 10) : 0;

	return number > 0 && number < 0x10000 ? (uint32_t)number : usual;
}

/** Of chunks, or triples: every how many-th is taken then, usually all. Odd, so that no power of 2
 * is a period. */
static inline uint32_t
one_in(void)
{
	return (stride_or(97) + 96) / 97 | 1;
}

#endif /* OPERANDS_H */

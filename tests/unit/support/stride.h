/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STRIDE_H
#define STRIDE_H

/** @file How many of all operands a test takes. */

#include <stdint.h>
#include <stdlib.h>

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

#endif /* STRIDE_H */

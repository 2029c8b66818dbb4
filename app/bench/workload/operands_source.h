/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPERANDS_SOURCE_H
#define OPERANDS_SOURCE_H

/** @file Pairs of operands as --operands asks for: drawn at random, or read from a file. */

#include <netfc.h>

#include "options/options.h"
#include "workload/operands.h"

/**
 * Draw pairs, or read them all from a file. What is wrong is said on stderr.
 *
 * @param wanted how many to draw
 * @param operands empty at first; operands_free() frees them in any case
 * @return 0 or -1
 */
int operands_get(const struct options *options, const struct netfc_format *format, size_t wanted,
	struct operands *operands);

#endif /* OPERANDS_SOURCE_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPERANDS_FILE_H
#define OPERANDS_FILE_H

/** @file Pairs of operands from a file. */

#include <netfc.h>

#include "workload/operands.h"

/**
 * Read a file of pairs: text, or big-endian words where its name ends in .bin.
 *
 * @param operands empty at first; operands_free() frees them in any case
 * @return 0, or -1 (said on stderr)
 */
int operands_read(const char *path, const struct netfc_format *format, struct operands *operands);

#endif /* OPERANDS_FILE_H */

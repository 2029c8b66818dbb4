/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPERATION_H
#define OPERATION_H

/** @file The operation OP X Y of a command line or of a line of input. */

#include <stdbool.h>

#include "command.h"
#include "netfc.h"

/** x (op) y, operands as encodings. */
struct operation {
	enum netfc_op op;
	uint32_t x, y;
};

/** Read OP, and report a wrong one with the command's name. Gives the exit status. */
int read_op(const struct command *command, const char *text, enum netfc_op *op);

/**
 * Read OP, X and Y, and report a wrong one with the command's name. Gives the exit status.
 *
 * @param words OP, X, Y
 * @param hex X and Y are hex digits without 0x
 */
int read_operation(const struct command *command, const struct netfc_format *format,
	char *const words[3], bool hex, struct operation *operation);

#endif /* OPERATION_H */

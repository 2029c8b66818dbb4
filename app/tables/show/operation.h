/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPERATION_H
#define OPERATION_H

/** @file The operation OP X Y of a command line or of a line of input. */

#include <stdbool.h>

#include <jansson.h>

#include "command.h"
#include "encoding.h"
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

/* A table set's result compared with the correctly rounded one. */

/** NetFC's result of an operation, beside the correctly rounded one. */
struct outcome {
	const struct netfc_format *format;
	struct operation operation;
	struct netfc_result netfc, exact;
	/** |z - exact| / |exact|; may be infinite or NaN. */
	double relative_error;
	/** exp(-relative error), the paper's metric; 0 if the relative error is infinite or NaN. */
	double accuracy;
};

/** Compare a result with the correctly rounded one. */
struct outcome compare_result(const struct netfc_format *format, const struct operation *operation,
	struct netfc_result netfc);

/** All of an outcome as an object; `set` is the table set's name. */
json_t *outcome_json(const struct outcome *outcome, const char *set);

/** The two lines that compare NetFC's result with the exact one, and one with the error. */
void print_outcome(const struct outcome *outcome);

#endif /* OPERATION_H */

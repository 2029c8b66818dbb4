/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STREAM_H
#define STREAM_H

/** @file netfc-tables calc --stream: lines in, lines out. */

#include <stdbool.h>
#include <stddef.h>

#include "encoding.h"
#include "netfc.h"
#include "show/operation.h"

/** The format of lines and answers. */
struct stream_options {
	const struct netfc_set *set;
	bool op_given; /**< lines have no operation; it is `op` */
	enum netfc_op op;
	bool hex;  /**< operands and answers are bare hex digits */
	bool json; /**< answers are JSON */
};

/**
 * Read a line.
 *
 * @param line the line, without its end; not terminated
 * @return NULL, or what was expected
 */
const char *parse_line(const struct stream_options *options, const char *line, size_t length,
	struct operation *operation);

/**
 * Write the answer to a line to standard output.
 *
 * @return false if writing failed
 */
bool print_answer(const struct stream_options *options, const struct operation *operation,
	struct netfc_result result);

/** Answer all of standard input. Gives the exit status. */
int run_stream(const struct stream_options *options);

#endif /* STREAM_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STREAM_H
#define STREAM_H

/** @file netfc-tables calc --stream: lines in, lines out. */

#include <stdbool.h>
#include <stddef.h>

#include "netfc.h"

/** How lines look. */
struct stream_options {
	const struct netfc_set *set;
	bool op_given; /**< lines have no operation: it is `op` */
	enum netfc_op op;
	bool hex;  /**< operands and answers are bare hex digits */
	bool json; /**< answers are JSON */
};

/** What a line asks for. */
struct request {
	enum netfc_op op;
	uint16_t x, y;
};

/**
 * Read a line.
 *
 * @param line the line, without its end; not terminated
 * @return NULL, or what was expected
 */
const char *parse_request(const struct stream_options *options, const char *line, size_t length,
	struct request *request);

/**
 * Write the answer to a line to standard output.
 *
 * @return whether that went well
 */
bool print_answer(const struct stream_options *options, const struct request *request,
	struct netfc_result result);

/** Answer all of standard input. Gives the exit status. */
int run_stream(const struct stream_options *options);

#endif /* STREAM_H */

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

/** Answer all of standard input. Gives the exit status. */
int run_stream(const struct stream_options *options);

#endif /* STREAM_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHOW_H
#define SHOW_H

/** @file The parts of netfc-tables show and calc. Each gives the exit status. */

#include <stdbool.h>

#include "netfc.h"
#include "show/operation.h"

/** The set's description and its tables. */
int show_set(const struct netfc_set *set, const char *operand, bool json);

/** Whether the set has a table or page of that name. */
bool has_table(const struct netfc_set *set, const char *name);

/** All entries of a table or page. */
int show_table(const struct netfc_set *set, const char *name, bool json);

/** Some entries of a table or page. */
int show_keys(const struct netfc_set *set, const char *name, char **keys, int count, bool json);

/** The decision table as text. */
int show_decisions(const struct netfc_set *set, const struct netfc_table *decide);

/** One operation's walk through the stages. */
int show_walk(const struct netfc_set *set, const struct operation *operation, bool json);

/** The format of lines and answers. */
struct stream_options {
	const struct netfc_set *set;
	bool op_given; /**< lines have no operation; it is `op` */
	enum netfc_op op;
	bool hex;  /**< operands and answers are bare hex digits */
	bool json; /**< answers are JSON */
};

/** netfc-tables calc --stream: answer all of standard input. Gives the exit status. */
int run_stream(const struct stream_options *options);

#endif /* SHOW_H */

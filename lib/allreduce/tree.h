/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_TREE_H
#define ALLREDUCE_TREE_H

/**
 * @file
 * A worker's place in a tree of switches, and the names of the other members.
 *
 * Level 0 is the switch that the worker joins, level n the one n levels above.
 */

#include <aggregate_wire.h>

#include "internal.h"

#define TREE_NAME_BYTES 80

static inline bool
tree_is_there(const struct netfc_allreduce_options *options)
{
	return options->tree_workers != 0;
}

/* Returns OK, or has said what is wrong with the options. */
int tree_check(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options);

/* As joins have it. */
struct aggregate_place tree_place(const struct netfc_allreduce_options *options);

/* How many members the switch of a level has; 0: there is no such level. */
unsigned int tree_members(const struct netfc_allreduce_options *options, unsigned int level);

/* For the beginning of a sentence: "Worker 3", "Worker 3 of leaf 2 of 4", "Leaf 1 of 4". */
void tree_name(const struct netfc_allreduce_options *options, unsigned int level,
	unsigned int member, char text[TREE_NAME_BYTES]);

#endif /* ALLREDUCE_TREE_H */

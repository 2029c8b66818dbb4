/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TREE_RANDOM_H
#define TREE_RANDOM_H

/** @file Trees of any shape, whose workers send chunks of all formats and operations, by seed. */

#include "tree.h"

/** So many levels of switches, each with 1 to `most` members. Not started. */
struct tree *tree_grow(uint64_t seed, unsigned int levels, unsigned int most);

/** Draw the values of so many chunks, of a tree that has its workers. Returns their lanes. */
uint64_t tree_fill(struct tree *tree, unsigned int chunks);

#endif /* TREE_RANDOM_H */

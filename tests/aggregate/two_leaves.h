/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TWO_LEAVES_H
#define TWO_LEAVES_H

/** @file A root with two leaves, each with two workers. */

#include "cases.h"
#include "tree.h"

#define STALL 2000 /* of the switches */
#define CHUNKS TREE_MAX_CHUNKS
#define LEAF_A 1
#define LEAF_B 2

extern struct tree *tree;

/** A test between set_up() and tear_down(). */
#define TWO_LEAVES_TEST(name) TEST_WITH(name, set_up, tear_down)

/** Two leaves of two workers: 0 and 1 at A, 2 and 3 at B. */
int set_up(void **state);

/** No result was wrong. */
int tear_down(void **state);

/** Until all workers have joined and some results are there, but not all. */
void start_well(void);

/** Jobs of a switch. */
uint32_t jobs_of(unsigned int s);

/** What a switch says of its job. */
struct aggregate_info info_of(unsigned int s);

/** A worker has not joined, and was told why, and how far up that was decided. */
void expect_refused(unsigned int w, uint8_t reason, uint8_t decided);

/** A worker is told that a member of its switch, or of the parent, is missing. */
void expect_missing(unsigned int w, uint8_t member, uint8_t level, enum aggregate_absence absence);

#endif /* TWO_LEAVES_H */

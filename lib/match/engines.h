/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MATCH_ENGINES_H
#define MATCH_ENGINES_H

/** @file How each kind of match stage is made. */

#include "match.h"

/* Look-ups do not depend on each other: unrolled, more of them run at once. */
#define MATCH_UNROLL _Pragma("GCC unroll 8")

int match_lpm_create(const struct netfc_table *table, int socket_id, struct match_stage **stage);
int match_hash_create(const struct netfc_table *table, int socket_id, struct match_stage **stage);
int match_direct_create(const struct netfc_table *table, int socket_id, struct match_stage **stage);

/*
 * What stands behind a stage of that kind, to measure it alone.
 */
struct rte_lpm;
struct rte_hash;

const struct rte_lpm *match_lpm_object(const struct match_stage *stage);
const struct rte_hash *match_hash_object(const struct match_stage *stage);

/* The address that stands for a key in an rte_lpm. */
uint32_t match_lpm_address(uint32_t key);

#endif /* MATCH_ENGINES_H */

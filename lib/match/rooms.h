/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MATCH_ROOMS_H
#define MATCH_ROOMS_H

/** @file How each kind of match stage is made. */

#include "match.h"

int match_lpm_create(const struct netfc_table *table, int socket_id, struct match_stage **stage);
int match_hash_create(const struct netfc_table *table, int socket_id, struct match_stage **stage);
int match_direct_create(const struct netfc_table *table, int socket_id, struct match_stage **stage);

#endif /* MATCH_ROOMS_H */

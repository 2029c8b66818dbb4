/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SEAL_H
#define SEAL_H

/** @file Keys of sessions. */

#include "table.h"

/** A job has got its session: make its keys, if there is a cluster's. Before it is published. */
void seal_make_keys(struct aggregate_table *table, struct job *job);

#endif /* SEAL_H */

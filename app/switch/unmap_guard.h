/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNMAP_GUARD_H
#define UNMAP_GUARD_H

/**
 * @file
 * Memory is not taken away from under lcores. When a memif peer leaves, DPDK's driver (22.11, and
 * later ones) marks the port as not connected and unmaps what it shared, at once and in the EAL's
 * interrupt thread, though an lcore may be in the middle of a burst there. The program's munmap(),
 * which the driver finds before the C library's, makes that thread wait until every lcore has
 * passed by: in its next burst an lcore sees that the port is not connected, and leaves the memory
 * alone.
 */

#include <rte_rcu_qsbr.h>

/** From now on, wait for these lcores; NULL: for none any more. */
void unmap_guard(struct rte_rcu_qsbr *qsbr);

#endif /* UNMAP_GUARD_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DENSE_POOL_H
#define DENSE_POOL_H

/**
 * @file
 * Pools whose packet buffers stand side by side without hugepages, too.
 *
 * DPDK lets no buffer cross a page. Of pages of 4 KB each holds one, at its start: the headers of
 * all buffers share a few sets of the caches, and push each other out before a burst is done.
 */

/**
 * What lays buffers out and keeps those that are free: for rte_pktmbuf_pool_create_by_ops().
 *
 * @return a name; NULL: as DPDK does, where pages are huge, or a port cannot send what crosses one
 */
const char *dense_pool_ops(void);

#endif /* DENSE_POOL_H */

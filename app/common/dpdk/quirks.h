/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUIRKS_H
#define QUIRKS_H

/**
 * @file
 * What DPDK does wrong, and what is done about it: each with the releases that have it, and with
 * what breaks without. The place to look when a new release comes.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>
#include <rte_rcu_qsbr.h>

/**
 * rte_eal_init(), without what nobody wants to read.
 *
 * 22.11, 24.11: where one option is wrong, it prints all that it has on stdout, some hundred lines
 * behind the one on stderr that says what is wrong.
 *
 * 22.11, 24.11: on a kernel without the multiq qdisc, net_tap logs four times that it does without.
 * Unless a log level is given, its log is off while it opens interfaces.
 *
 * 22.11: all lines of its log have the journal's default priority, and come a second time, by
 * syslog(3). They go to the journal once, each with its own.
 *
 * @param quiet_tap no log level is given
 * @return what rte_eal_init() does
 */
int quirk_eal_init(int argc, char **argv, bool quiet_tap);

/**
 * Have the EAL's interrupt thread do nothing from now on. Waits for it, a minute at most.
 *
 * 22.11, 24.11: rte_eal_cleanup() does not stop that thread, and unmaps memory that it still reads:
 * net_memif leaves its listening socket in the thread's list. When a memif peer leaves, the thread
 * frees what closing that port frees, too. Without: now and then a crash at the end.
 */
void quirk_park_interrupts(void);

/**
 * Memory stays mapped while lcores use it: from now on, wait for these; NULL: for none any more.
 *
 * 22.11, 24.11: when a memif peer leaves, net_memif marks the port as disconnected and unmaps the
 * shared memory at once, in the interrupt thread, though an lcore may be in a burst on that port.
 * The program's munmap(), which takes precedence over the C library's, makes that thread wait until
 * every lcore has passed a quiescent state: in its next burst an lcore sees that the port is
 * disconnected, and does not touch the memory. Without: a crash when a peer leaves under load.
 */
void quirk_guard_unmap(struct rte_rcu_qsbr *qsbr);

/** How memory pools of that name give and take; NULL: there are none. */
const struct rte_mempool_ops *quirk_pool_ops(const char *name);

/**
 * Pools whose packet buffers stand side by side without hugepages, too.
 *
 * 22.11, 24.11: no buffer crosses a page. Of pages of 4 KB each holds one, at its start: the
 * headers of all buffers share a few sets of the caches, and push each other out before a burst is
 * done. Without: --no-huge takes up to twice as long.
 *
 * @return a name for rte_pktmbuf_pool_create_by_ops(); NULL: as DPDK does, where pages are huge, or
 * a port cannot send what crosses one
 */
const char *quirk_dense_pool_ops(void);

/**
 * Before a port is closed: free what its driver would not.
 *
 * 22.11, 24.11: net_ring leaves packets that were sent into its rings and not received again.
 * Without: they look like a leak.
 */
void quirk_drain_rings(uint16_t port, uint16_t rx_queues);

/**
 * Buffers that a port's driver takes for each receive queue, beside its descriptors.
 *
 * 22.11, 24.11: net_af_xdp gives the kernel 2,048, whatever the queue's size is. Without: the last
 * of some ports receives nothing, since there are no buffers left.
 */
unsigned int quirk_filled_buffers(uint16_t port);

/**
 * Before ports are closed: how many buffers their drivers will not free.
 *
 * 22.11, 24.11: net_af_xdp leaves those that it has given to the kernel and that have not come
 * back. Without: they look like a leak.
 */
unsigned int quirk_kept_buffers(void);

#endif /* QUIRKS_H */

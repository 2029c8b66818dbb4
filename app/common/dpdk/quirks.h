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
 * after the one on stderr that says what is wrong.
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

/*
 * Files that a peer has sent are closed when its socket is: of the interrupt thread.
 *
 * 22.11, 24.11 (also 26.07): net_memif closes what a connected peer has sent. Of one that it
 * refuses, memory and the last ring's eventfd stay open; workers ask for more rings until they are
 * refused, twice. The program's recvmsg() and close(), which take precedence over the C library's,
 * know by which socket a file came. Without: each worker that joins leaves four files and 1.6 MB,
 * until no peer is served any more.
 */

/** How memory pools of that name give and take; NULL: there are none. */
const struct rte_mempool_ops *quirk_pool_ops(const char *name);

/**
 * A pool of packet buffers: rte_pktmbuf_pool_create(), with buffers side by side.
 *
 * 22.11, 24.11: without hugepages, no buffer crosses a page. Of pages of 4 KB each holds one, at
 * its start: the headers of all buffers share a few sets of the caches, and push each other out
 * before a burst is done. Without: --no-huge takes up to twice as long.
 *
 * 22.11, 24.11: net_af_xdp gives the kernel as much memory as all buffers have without the gaps at
 * the ends of pages. Where there is such a port, a buffer fills a page, or more. Without: the
 * kernel refuses to send the buffers that lie last, and with each of them stops sending.
 *
 * @param data_bytes of a buffer, at least; with its headroom
 * @return NULL: rte_errno says why
 */
struct rte_mempool *
quirk_pool_create(const char *name, unsigned int mbufs, uint32_t data_bytes, unsigned int socket);

/**
 * How many data bytes a pool's buffers may have, with their headroom.
 *
 * All releases: net_af_xdp has one buffer for each frame of the kernel's, which lies in one page.
 * Without: the kernel refuses the memory, and the driver says "Invalid argument".
 */
uint32_t quirk_most_data_bytes(void);

/**
 * From now on, a port is given packets as its driver can send them.
 *
 * 22.11, 24.11 (mended in 26.03): net_af_xdp sends of a packet the bytes that follow its first
 * mbuf, also if they are another's (a clone) or if the packet goes on in further ones. Without:
 * what the bridge floods has zeros in it, or bytes of an earlier packet. A packet that does not fit
 * into one buffer is not taken.
 *
 * @return 0, or a negative errno value
 */
int quirk_send_whole(uint16_t port, uint16_t tx_queues);

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
 * 22.11, 24.11: net_af_xdp gives the kernel 2,048 to receive into, whatever the queue's size is,
 * and leaves it as many that are sent; net_vmxnet3 fills a second ring of the queue's size.
 * Without: the last of some ports receives nothing, since there are no buffers left.
 */
unsigned int quirk_held_buffers(uint16_t port, uint16_t descriptors);

/**
 * Before ports are closed: how many buffers their drivers will not free.
 *
 * 22.11, 24.11: net_af_xdp leaves those that it has given to the kernel and that have not come
 * back. Without: they look like a leak.
 */
unsigned int quirk_kept_buffers(void);

/**
 * Close a port of several: ethdev_stop().
 *
 * @return how many buffers its driver has not freed, for the same reason
 */
unsigned int quirk_close(uint16_t port, bool started);

#endif /* QUIRKS_H */

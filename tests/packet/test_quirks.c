/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done about DPDK's faults, each against the DPDK that is here. */
#include <fcntl.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_rcu_qsbr.h>

#include "cases.h"
#include "dpdk/quirks.h"
#include "dpdk/xdp_rings.h"

/* Far longer than a thread that may run waits. */
#define WHILE_US 200000

/* ---- memory that the interrupt thread unmaps ------------------------------------------------- */

static struct {
	void *memory;
	bool begun, done;
} unmapping;

static void
unmap(void *unused)
{
	(void)unused;
	__atomic_store_n(&unmapping.begun, true, __ATOMIC_RELEASE);
	munmap(unmapping.memory, 4096);
	__atomic_store_n(&unmapping.done, true, __ATOMIC_RELEASE);
}

static void
wait_for(const bool *event)
{
	while (!__atomic_load_n(event, __ATOMIC_ACQUIRE))
		rte_delay_us_sleep(1000);
}

TEST(memory_stays_until_lcores_have_left_it)
{
	const size_t size = rte_rcu_qsbr_get_memsize(1);
	struct rte_rcu_qsbr *qsbr = rte_zmalloc("qsbr", size, RTE_CACHE_LINE_SIZE);

	assert_non_null(qsbr);
	assert_int_equal(rte_rcu_qsbr_init(qsbr, 1), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(qsbr, 0), 0);
	rte_rcu_qsbr_thread_online(qsbr, 0);
	unmapping.memory =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(unmapping.memory, MAP_FAILED);
	quirk_guard_unmap(qsbr);
	assert_int_equal(rte_eal_alarm_set(1, unmap, NULL), 0);
	wait_for(&unmapping.begun);
	rte_delay_us_sleep(WHILE_US);
	assert_false(__atomic_load_n(&unmapping.done, __ATOMIC_ACQUIRE));
	*(volatile char *)unmapping.memory = 1;
	rte_rcu_qsbr_quiescent(qsbr, 0);
	wait_for(&unmapping.done);
	quirk_guard_unmap(NULL);
	rte_free(qsbr);
}

/* Other threads do not wait, not even for themselves. */
TEST(an_lcore_unmaps_at_once)
{
	const size_t size = rte_rcu_qsbr_get_memsize(1);
	struct rte_rcu_qsbr *qsbr = rte_zmalloc("qsbr", size, RTE_CACHE_LINE_SIZE);
	void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_non_null(qsbr);
	assert_int_equal(rte_rcu_qsbr_init(qsbr, 1), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(qsbr, 0), 0);
	rte_rcu_qsbr_thread_online(qsbr, 0);
	quirk_guard_unmap(qsbr);
	assert_int_equal(munmap(memory, 4096), 0);
	quirk_guard_unmap(NULL);
	rte_free(qsbr);
}

/* ---- files that the interrupt thread is sent ------------------------------------------------- */

static struct {
	int socket, file;
	bool received, closed, left;
} passed;

static void
receive_file(void *unused)
{
	char part[CMSG_SPACE(sizeof(int))], byte;
	struct iovec bytes = {&byte, 1};
	struct msghdr message = {.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = part,
		.msg_controllen = sizeof(part)};

	(void)unused;
	if (recvmsg(passed.socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != NULL)
		memcpy(&passed.file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
	__atomic_store_n(&passed.received, true, __ATOMIC_RELEASE);
}

static void
close_file(void *unused)
{
	(void)unused;
	close(passed.file);
	__atomic_store_n(&passed.closed, true, __ATOMIC_RELEASE);
}

static void
leave_peer(void *unused)
{
	(void)unused;
	close(passed.socket);
	__atomic_store_n(&passed.left, true, __ATOMIC_RELEASE);
}

/* Have the interrupt thread receive a file, and wait for it. */
static void
pass(int file)
{
	char part[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec bytes = {part, 1};
	struct msghdr message = {.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = part,
		.msg_controllen = sizeof(part)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &file, sizeof(int));
	assert_int_equal(sendmsg(ends[0], &message, 0), 1);
	close(ends[0]);
	memset(&passed, 0, sizeof(passed));
	passed.socket = ends[1];
	passed.file = -1;
	assert_int_equal(rte_eal_alarm_set(1, receive_file, NULL), 0);
	wait_for(&passed.received);
	assert_true(passed.file > file);
}

static bool
is_open(int file)
{
	return fcntl(file, F_GETFD) >= 0;
}

TEST(files_of_a_peer_go_with_it)
{
	pass(STDOUT_FILENO);
	assert_true(is_open(passed.file));
	assert_int_equal(rte_eal_alarm_set(1, leave_peer, NULL), 0);
	wait_for(&passed.left);
	assert_false(is_open(passed.file));
	assert_true(is_open(STDOUT_FILENO));
}

/* Its number is another file's by the time that the peer leaves. */
TEST(a_file_that_the_driver_has_closed_is_not_closed_again)
{
	pass(STDOUT_FILENO);
	assert_int_equal(rte_eal_alarm_set(1, close_file, NULL), 0);
	wait_for(&passed.closed);
	assert_int_equal(dup2(STDOUT_FILENO, passed.file), passed.file);
	assert_int_equal(rte_eal_alarm_set(1, leave_peer, NULL), 0);
	wait_for(&passed.left);
	assert_true(is_open(passed.file));
	close(passed.file);
}

/* ---- what drivers do not free ---------------------------------------------------------------- */

TEST(packets_in_rings_are_freed)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("packets", 63, 0, 0, 2048, 0);
	struct rte_ring *ring = rte_ring_create("ring", 64, 0, RING_F_SP_ENQ | RING_F_SC_DEQ);
	const struct rte_eth_conf conf = {0};
	struct rte_mbuf *mbufs[40];
	int port;

	assert_non_null(pool);
	assert_non_null(ring);
	port = rte_eth_from_ring(ring);
	assert_true(port >= 0);
	assert_int_equal(rte_eth_dev_configure((uint16_t)port, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup((uint16_t)port, 0, 64, 0, NULL, pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup((uint16_t)port, 0, 64, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start((uint16_t)port), 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, mbufs, RTE_DIM(mbufs)), 0);
	assert_int_equal(
		rte_eth_tx_burst((uint16_t)port, 0, mbufs, RTE_DIM(mbufs)), RTE_DIM(mbufs));
	assert_int_equal(rte_mempool_in_use_count(pool), RTE_DIM(mbufs));
	quirk_drain_rings((uint16_t)port, 1);
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	rte_eth_dev_stop((uint16_t)port);
	rte_eth_dev_close((uint16_t)port);
	rte_ring_free(ring);
	rte_mempool_free(pool);
}

#define RING_ENTRIES 64
#define FRAMES 64

static void
set_option(int xdp, int option, const void *value, size_t length)
{
	assert_int_equal(setsockopt(xdp, SOL_XDP, option, value, (socklen_t)length), 0);
}

/* A ring's counter, of what is put in or taken out. */
static uint32_t *
counter_at(int xdp, off_t ring, uint64_t offset)
{
	char *shared = mmap(
		NULL, offset + sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, xdp, ring);

	assert_ptr_not_equal(shared, MAP_FAILED);
	return (uint32_t *)(void *)(shared + offset);
}

/* A socket with memory and rings, not bound to a device; -1: the user may not have one. */
static int
open_xdp(void)
{
	const int entries = RING_ENTRIES, xdp = socket(AF_XDP, SOCK_RAW, 0);
	struct xdp_umem_reg memory = {.len = FRAMES * 4096, .chunk_size = 4096};
	const int rings[] = {
		XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING, XDP_TX_RING};

	if (xdp < 0)
		return -1;
	memory.addr = (uintptr_t)mmap(
		NULL, memory.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	set_option(xdp, XDP_UMEM_REG, &memory, sizeof(memory));
	for (unsigned int r = 0; r < RTE_DIM(rings); r++)
		set_option(xdp, rings[r], &entries, sizeof(entries));
	return xdp;
}

TEST(buffers_at_the_kernel_are_counted)
{
	const unsigned int before = quirk_kept_buffers();
	const int xdp = open_xdp();
	struct xdp_mmap_offsets at;
	socklen_t length = sizeof(at);
	uint32_t *received, *filled, *sent, *completed;

	if (xdp < 0) {
		print_message("skipped: this user may not open AF_XDP sockets\n");
		skip();
	}
	assert_int_equal(getsockopt(xdp, SOL_XDP, XDP_MMAP_OFFSETS, &at, &length), 0);
	received = counter_at(xdp, XDP_PGOFF_RX_RING, at.rx.consumer);
	filled = counter_at(xdp, (off_t)XDP_UMEM_PGOFF_FILL_RING, at.fr.producer);
	sent = counter_at(xdp, XDP_PGOFF_TX_RING, at.tx.producer);
	completed = counter_at(xdp, (off_t)XDP_UMEM_PGOFF_COMPLETION_RING, at.cr.consumer);
	assert_int_equal(quirk_kept_buffers(), before);
	/* The counters have no bounds, and go on from 2^32 - 1 to 0. */
	*received = UINT32_MAX - 9;
	*filled = 20;
	assert_int_equal(quirk_kept_buffers(), before + 30);
	*sent = 7;
	assert_int_equal(quirk_kept_buffers(), before + 37);
	*completed = 5;
	assert_int_equal(quirk_kept_buffers(), before + 32);
	close(xdp);
	assert_int_equal(quirk_kept_buffers(), before);
}

/* ---- the end: the last test, as nothing comes from that thread any more -----------------------
 */

static bool rung;

static void
ring_bell(void *unused)
{
	(void)unused;
	__atomic_store_n(&rung, true, __ATOMIC_RELEASE);
}

TEST(a_parked_thread_does_nothing)
{
	assert_int_equal(rte_eal_alarm_set(1, ring_bell, NULL), 0);
	wait_for(&rung);
	rung = false;
	quirk_park_interrupts();
	assert_int_equal(rte_eal_alarm_set(1, ring_bell, NULL), 0);
	rte_delay_us_sleep(WHILE_US);
	assert_false(__atomic_load_n(&rung, __ATOMIC_ACQUIRE));
	quirk_park_interrupts();
}

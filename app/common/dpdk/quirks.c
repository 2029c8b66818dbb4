/* SPDX-License-Identifier: BSD-3-Clause */
/* Interrupt handles were experimental in DPDK 22.11. */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_thread.h>
#include <rte_version.h>

#include "journal.h"
#include "dpdk/eal.h"
#include "dpdk/quirks.h"
#include "dpdk/xdp_rings.h"

/* ---- rte_eal_init() ---------------------------------------------------------------------------
 */

#define TAP_LOG "pmd.net.tap"

static int
init_with_quiet_tap(int argc, char **argv)
{
	char quiet[] = "--log-level=" TAP_LOG ":critical";
	char **arguments = calloc((size_t)argc + 2, sizeof(*arguments));
	int status, type;

	if (arguments == NULL) {
		rte_errno = ENOMEM;
		return -1;
	}
	arguments[0] = argv[0];
	arguments[1] = quiet;
	for (int a = 1; a < argc; a++)
		arguments[a + 1] = argv[a];
	status = rte_eal_init(argc + 1, arguments);
	free(arguments);
	type = rte_log_register(TAP_LOG);
	if (type >= 0)
		rte_log_set_level((uint32_t)type, RTE_LOG_NOTICE);
	return status;
}

#if RTE_VERSION < RTE_VERSION_NUM(24, 11, 0, 0)
/* That of the line that this thread logs. */
static int
log_priority(void)
{
	return LOG_EMERG + rte_log_cur_msg_loglevel() - RTE_LOG_EMERG;
}

static void
log_to_journal(void)
{
	FILE *journal = journal_open(log_priority);

	if (journal != NULL)
		rte_openlog_stream(journal);
}
#else
static void
log_to_journal(void)
{
}
#endif

int
quirk_eal_init(int argc, char **argv, bool quiet_tap)
{
	FILE *real = stdout, *nowhere = fopen("/dev/null", "w");
	int status;

	log_to_journal();
	if (nowhere != NULL)
		stdout = nowhere;
	status = quiet_tap ? init_with_quiet_tap(argc, argv) : rte_eal_init(argc, argv);
	stdout = real;
	if (nowhere != NULL)
		fclose(nowhere);
	return status;
}

/* ---- the interrupt thread ---------------------------------------------------------------------
 */

/* How long to wait for the interrupt thread, in ms: busy machines have let it wait for 10 s. */
#define PARK_MS 60000

/* In the interrupt thread: it stays here. */
static void
stay(void *told)
{
	eventfd_write((int)(intptr_t)told, 1);
	for (;;)
		pause();
}

void
quirk_park_interrupts(void)
{
	static bool parked; /* the process has one such thread */
	struct rte_intr_handle *handle;
	int ready, told;

	if (parked)
		return;
	parked = true;
	/* Both stay open: that thread has them. */
	ready = eventfd(1, EFD_CLOEXEC);
	told = eventfd(0, EFD_CLOEXEC);
	handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (ready < 0 || told < 0 || handle == NULL)
		return;
	if (rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) == 0 &&
		rte_intr_fd_set(handle, ready) == 0 &&
		rte_intr_callback_register(handle, stay, (void *)(intptr_t)told) == 0) {
		struct pollfd polled = {.fd = told, .events = POLLIN};

		while (poll(&polled, 1, PARK_MS) < 0 && errno == EINTR)
			;
	}
	rte_intr_instance_free(handle);
}

/* munmap() has no argument to pass it in. */
static struct rte_rcu_qsbr *guarded;

void
quirk_guard_unmap(struct rte_rcu_qsbr *qsbr)
{
	__atomic_store_n(&guarded, qsbr, __ATOMIC_RELEASE);
}

int
munmap(void *address, size_t length)
{
	struct rte_rcu_qsbr *qsbr = __atomic_load_n(&guarded, __ATOMIC_ACQUIRE);

	if (qsbr != NULL && rte_thread_is_intr())
		rte_rcu_qsbr_synchronize(qsbr, RTE_QSBR_THRID_INVALID);
	return (int)syscall(SYS_munmap, address, length);
}

/* By which socket each file came that is open still, 0: none did. The interrupt thread's alone. */
static int came_by[1 << 16];
static int came_end; /* all after are 0 */

static void
note_file(int file, int by)
{
	if (file < 0 || file >= (int)RTE_DIM(came_by))
		return;
	came_by[file] = by;
	came_end = RTE_MAX(came_end, file + 1);
}

static void
note_files(struct msghdr *message, int socket)
{
	struct cmsghdr *part;

	for (part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at < part->cmsg_len; at += sizeof(int)) {
			int file;

			memcpy(&file, (const char *)part + at, sizeof(file));
			note_file(file, socket);
		}
	}
}

/* By recvmmsg(), in which a thread can be cancelled, too. */
ssize_t
recvmsg(int socket, struct msghdr *message, int flags)
{
	struct mmsghdr one = {.msg_hdr = *message};

	if (recvmmsg(socket, &one, 1, flags, NULL) != 1)
		return -1;
	*message = one.msg_hdr;
	if (rte_thread_is_intr())
		note_files(message, socket);
	return one.msg_len;
}

int
close(int file)
{
	/* 0 is stdin: no socket of a driver. */
	if (file > 0 && rte_thread_is_intr()) {
		note_file(file, 0);
		for (int i = 0; i < came_end; i++) {
			if (came_by[i] != file)
				continue;
			came_by[i] = 0;
			syscall(SYS_close, i);
		}
	}
	return (int)syscall(SYS_close, file);
}

/* ---- pools of packet buffers ------------------------------------------------------------------
 */

#define DENSE "netfc_dense"

static size_t
bytes_each(const struct rte_mempool *pool)
{
	return (size_t)pool->header_size + pool->elt_size + pool->trailer_size;
}

static ssize_t
memory_size(const struct rte_mempool *pool, uint32_t buffers, uint32_t page_shift,
	size_t *least_chunk, size_t *align)
{
	(void)page_shift;
	*least_chunk = bytes_each(pool);
	*align = RTE_CACHE_LINE_SIZE;
	return (ssize_t)(buffers * bytes_each(pool));
}

static int
populate(struct rte_mempool *pool, unsigned int most, void *memory, rte_iova_t iova, size_t length,
	rte_mempool_populate_obj_cb_t *add, void *opaque)
{
	const size_t count = RTE_MIN(length / bytes_each(pool), (size_t)most);

	for (size_t b = 0; b < count; b++) {
		const size_t at = b * bytes_each(pool) + pool->header_size;
		void *buffer = RTE_PTR_ADD(memory, at);

		add(pool, opaque, buffer, iova == RTE_BAD_IOVA ? RTE_BAD_IOVA : iova + at);
		rte_mempool_ops_enqueue_bulk(pool, &buffer, 1);
	}
	return (int)count;
}

const struct rte_mempool_ops *
quirk_pool_ops(const char *name)
{
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++) {
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			return &rte_mempool_ops_table.ops[i];
	}
	return NULL;
}

static bool
has_driver(uint16_t port, const char *name)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(port, &info) == 0 && strcmp(info.driver_name, name) == 0;
}

static bool
is_af_xdp(uint16_t port)
{
	return has_driver(port, "net_af_xdp");
}

#define XDP_RING 2048 /* buffers that the kernel has, or has sent and not given back */

unsigned int
quirk_held_buffers(uint16_t port, uint16_t descriptors)
{
	if (is_af_xdp(port))
		return 2 * XDP_RING;
	return has_driver(port, "net_vmxnet3") ? descriptors : 0;
}

static bool
has_af_xdp(void)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV (port) {
		if (is_af_xdp(port))
			return true;
	}
	return false;
}

/* Divides the pages of all platforms. */
#define XDP_FRAME 4096

uint32_t
quirk_most_data_bytes(void)
{
	return has_af_xdp() ? XDP_FRAME -
			rte_mempool_calc_obj_size(
				sizeof(struct rte_mbuf), RTE_MEMPOOL_F_NO_SPREAD, NULL)
			    : UINT16_MAX;
}

/* Buffers without gaps between them, of which none crosses a page. */
static struct rte_mempool *
create_frames(const char *name, unsigned int mbufs, uint32_t data_bytes, unsigned int socket)
{
	const size_t bytes = rte_mempool_calc_obj_size(
		sizeof(struct rte_mbuf) + data_bytes, RTE_MEMPOOL_F_NO_SPREAD, NULL);
	const size_t more = RTE_ALIGN_CEIL(bytes, XDP_FRAME) - bytes;
	struct rte_pktmbuf_pool_private room = {
		.mbuf_data_room_size = (uint16_t)(data_bytes + more),
	};
	struct rte_mempool *pool = rte_mempool_create_empty(name, mbufs,
		(unsigned int)(sizeof(struct rte_mbuf) + data_bytes + more), MBUF_CACHE,
		sizeof(room), (int)socket, RTE_MEMPOOL_F_NO_SPREAD);

	if (pool == NULL)
		return NULL;
	if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL) == 0) {
		rte_pktmbuf_pool_init(pool, &room);
		if (rte_mempool_populate_default(pool) == (int)mbufs && pool->nb_mem_chunks == 1) {
			rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
			return pool;
		}
	}
	rte_mempool_free(pool);
	rte_errno = ENOMEM;
	return NULL;
}

static const char *
dense_ops(void)
{
	const struct rte_mempool_ops *usual = quirk_pool_ops(rte_mbuf_best_mempool_ops());
	struct rte_mempool_ops ops;

	if (usual == NULL || rte_eal_has_hugepages() || rte_eal_iova_mode() != RTE_IOVA_VA)
		return NULL;
	if (quirk_pool_ops(DENSE) != NULL)
		return DENSE;
	ops = *usual;
	snprintf(ops.name, sizeof(ops.name), DENSE);
	ops.calc_mem_size = memory_size;
	ops.populate = populate;
	return rte_mempool_register_ops(&ops) >= 0 ? DENSE : NULL;
}

struct rte_mempool *
quirk_pool_create(const char *name, unsigned int mbufs, uint32_t data_bytes, unsigned int socket)
{
	if (has_af_xdp())
		return create_frames(name, mbufs, data_bytes, socket);
	return rte_pktmbuf_pool_create_by_ops(
		name, mbufs, MBUF_CACHE, 0, (uint16_t)data_bytes, (int)socket, dense_ops());
}

/* ---- packets that a driver sends wrong --------------------------------------------------------
 */

/* NULL: there is no buffer, or the packet is longer than one. */
static struct rte_mbuf *
copy_whole(const struct rte_mbuf *mbuf)
{
	struct rte_mbuf *copy = rte_pktmbuf_copy(mbuf, mbuf->pool, 0, UINT32_MAX);

	if (copy == NULL || copy->nb_segs == 1)
		return copy;
	rte_pktmbuf_free(copy);
	return NULL;
}

/* Those before the first packet that cannot be copied: the caller has the rest back. */
static uint16_t
send_whole(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t count, void *arg)
{
	(void)port;
	(void)queue;
	(void)arg;
	for (uint16_t i = 0; i < count; i++) {
		struct rte_mbuf *copy;

		if (likely(RTE_MBUF_DIRECT(mbufs[i]) && mbufs[i]->nb_segs == 1))
			continue;
		copy = copy_whole(mbufs[i]);
		if (copy == NULL)
			return i;
		rte_pktmbuf_free(mbufs[i]);
		mbufs[i] = copy;
	}
	return count;
}

int
quirk_send_whole(uint16_t port, uint16_t tx_queues)
{
	for (uint16_t q = 0; q < tx_queues && is_af_xdp(port); q++) {
		if (rte_eth_add_tx_callback(port, q, send_whole, NULL) == NULL)
			return -rte_errno;
	}
	return 0;
}

/* ---- what drivers do not free -----------------------------------------------------------------
 */

/* A burst. */
#define DRAINED 64

void
quirk_drain_rings(uint16_t port, uint16_t rx_queues)
{
	if (!has_driver(port, "net_ring"))
		return;
	for (uint16_t q = 0; q < rx_queues; q++) {
		struct rte_mbuf *mbufs[DRAINED];
		uint16_t count;

		while ((count = rte_eth_rx_burst(port, q, mbufs, DRAINED)) > 0)
			rte_pktmbuf_free_bulk(mbufs, count);
	}
}

unsigned int
quirk_kept_buffers(void)
{
	struct xdp_rings rings;

	xdp_rings_look(&rings);
	return xdp_rings_held(&rings);
}

unsigned int
quirk_close(uint16_t port, bool started)
{
	struct xdp_rings rings;

	xdp_rings_look(&rings);
	ethdev_stop(port, started);
	return xdp_rings_held_by_gone(&rings);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API

#include <stdio.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_pcapng.h>
#include <rte_version.h>

#include "capture/capture_tap.h"
#include "pipeline.h"

/* Memory for the copies of one lcore, in bytes. */
#define POOL_BYTES (8u << 20)

_Static_assert(PIPELINE_BURST <= 64, "a bit for each packet of a burst");

static struct rte_mbuf *
copy_packet(const struct capture_tap *tap, uint16_t port, uint16_t queue, struct rte_mbuf *mbuf,
	enum rte_pcapng_direction direction)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	return rte_pcapng_copy(port, queue, mbuf, tap->pool, tap->snaplen, direction, NULL);
#else
	return rte_pcapng_copy(port, queue, mbuf, tap->pool, tap->snaplen, tap->epoch, direction);
#endif
}

/*
 * DPDK 22.11 converts the time of a copy to nanoseconds with a process-wide variable, which lcores
 * would write concurrently. It does not change if all pass the same time, one that it has seen
 * before; the file gets the right time from the copy's note.
 */
uint64_t
capture_tap_epoch(struct capture_tap *tap)
{
	struct rte_mbuf *empty = rte_pktmbuf_alloc(tap->pool);

	/* Somewhat later than the library's own beginning, which may be now. */
	tap->epoch = rte_rdtsc() + rte_get_tsc_hz() / 1000;
	if (empty != NULL)
		rte_pktmbuf_free(copy_packet(tap, 0, 0, empty, RTE_PCAPNG_DIRECTION_UNKNOWN));
	rte_pktmbuf_free(empty);
	return tap->epoch;
}

struct capture_tap *
capture_tap_create(unsigned int lcore_id, uint32_t snaplen)
{
	/* A copy is in one segment: the library takes no others. */
	uint32_t data_bytes = RTE_PKTMBUF_HEADROOM + rte_pcapng_mbuf_size(snaplen);
	uint32_t size = POOL_BYTES / (data_bytes + (uint32_t)sizeof(struct rte_mbuf));
	int socket = (int)rte_lcore_to_socket_id(lcore_id);
	struct capture_tap *tap =
		rte_zmalloc_socket("capture", sizeof(*tap), RTE_CACHE_LINE_SIZE, socket);
	char name[RTE_MEMPOOL_NAMESIZE];

	if (tap == NULL)
		return NULL;
	tap->snaplen = snaplen;
	snprintf(name, sizeof(name), "capture%u", lcore_id);
	/* The lcore allocates, the thread frees, neither through a cache. */
	tap->pool = rte_pktmbuf_pool_create_by_ops(name, size, 0, sizeof(struct capture_note),
		(uint16_t)data_bytes, socket, "ring_mp_sc");
	tap->copies = rte_ring_create(
		name, size, socket, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (tap->pool != NULL && tap->copies != NULL)
		return tap;
	capture_tap_free(tap);
	return NULL;
}

void
capture_tap_free(struct capture_tap *tap)
{
	if (tap == NULL)
		return;
	rte_ring_free(tap->copies);
	rte_mempool_free(tap->pool);
	rte_free(tap);
}

static void
copy_burst(const struct capture_tap *tap, uint16_t port, uint16_t queue, struct rte_mbuf **mbufs,
	uint16_t count, enum rte_pcapng_direction direction, struct rte_mbuf **copies)
{
	uint64_t now = rte_rdtsc();

	for (uint16_t i = 0; i < count; i++) {
		copies[i] = copy_packet(tap, port, queue, mbufs[i], direction);
		if (copies[i] != NULL)
			*capture_note(copies[i]) = (struct capture_note){.tsc = now};
	}
}

void
capture_copy(struct capture_tap *tap, uint16_t port, uint16_t queue, struct rte_mbuf **mbufs,
	uint16_t count, struct rte_mbuf **copies)
{
	copy_burst(tap, port, queue, mbufs, count, RTE_PCAPNG_DIRECTION_OUT, copies);
}

void
capture_sent(struct capture_tap *tap, uint16_t port, struct rte_mbuf **copies, uint16_t count,
	uint64_t refused)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < count; i++) {
		bool sent = (refused >> i & 1) == 0;

		if (copies[i] == NULL) {
			tap->missed[port] += sent;
			continue;
		}
		/* Only the thread frees, so that no thread waits for another at the pool. */
		capture_note(copies[i])->refused = !sent;
		copies[kept++] = copies[i];
	}
	rte_ring_sp_enqueue_bulk(tap->copies, (void **)copies, kept, NULL);
}

void
capture_received(struct capture_tap *tap, uint16_t port, uint16_t queue, struct rte_mbuf **mbufs,
	uint16_t count)
{
	struct rte_mbuf *copies[PIPELINE_BURST];

	copy_burst(tap, port, queue, mbufs, count, RTE_PCAPNG_DIRECTION_IN, copies);
	capture_sent(tap, port, copies, count, 0);
}

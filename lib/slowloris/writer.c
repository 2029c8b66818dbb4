/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer lock, and the segments that lcores without it leave to its holder. */
#include "find.h"
#include "track.h"
#include "writer.h"

/* Segments of other lcores, at the most: a flood of them must not delay a burst. */
#define DRAIN_BURST 64
#define DRAIN_BURSTS 8

void
writer_leave(struct slowloris_worker *worker, struct segment *segment)
{
	if (rte_ring_enqueue_elem(worker->detector->segments, segment, sizeof(*segment)) == 0)
		worker->counters.queued++;
	else
		worker->counters.missed++;
}

void
writer_drain(struct slowloris_worker *worker)
{
	struct rte_ring *ring = worker->detector->segments;
	struct segment segment[DRAIN_BURST];
	unsigned int count;

	for (unsigned int bursts = 0; bursts < DRAIN_BURSTS && !rte_ring_empty(ring); bursts++) {
		count = rte_ring_dequeue_burst_elem(
			ring, segment, sizeof(segment[0]), DRAIN_BURST, NULL);
		worker->changed = true;
		for (unsigned int s = 0; s < count; s++) {
			const struct found_records unknown = {NONE, NONE, NONE};

			track(worker, &segment[s], find_again(worker, &segment[s], unknown));
		}
	}
	track_flush(worker);
}

bool
writer_trylock(struct slowloris_worker *worker)
{
	uint32_t *lock = &worker->detector->writer_lock;
	uint32_t free = 0;

	if (load_u32(lock) != 0 ||
		!__atomic_compare_exchange_n(
			lock, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	worker->is_writer = true;
	return true;
}

void
writer_unlock(struct slowloris_worker *worker)
{
	writer_drain(worker);
	worker->is_writer = false;
	__atomic_store_n(&worker->detector->writer_lock, 0, __ATOMIC_RELEASE);
}

/* The ring first, then the lock: who takes segments out counts them before it releases the lock. */
bool
writer_is_quiet(const struct slowloris *detector)
{
	if (!detector->config.shared)
		return true;
	if (!rte_ring_empty(detector->segments))
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&detector->writer_lock, __ATOMIC_ACQUIRE) == 0;
}

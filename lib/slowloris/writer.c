/* SPDX-License-Identifier: BSD-3-Clause */
/* What only the holder of the writer lock does: it counts segments of other lcores, and ages
 * records. */

#include <rte_common.h>

#include "connections.h"
#include "destinations.h"
#include "detector.h"

/* Maximum number of segments of other lcores per call: a flood must not delay a burst. */
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

/* The ring first, then the lock: an lcore counts the segments it takes before it unlocks. */
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

/* ---- ageing, in small steps: no call looks at more than a few records ------------------------ */

/* Records looked at per call at most. */
#define LOOKS 256u
/* How often all connections are looked at within a time-out. */
#define TURNS 8u
/* All destinations are looked at once in this many ticks: about a tenth of a second. */
#define REVIEW_TICKS 4096u

/* How many of `count` records are due when `passed` of `turn` ticks have passed. */
static uint32_t
due(uint32_t count, uint32_t passed, uint32_t turn)
{
	uint64_t records = (uint64_t)count * RTE_MIN(passed, turn) / turn;

	return (uint32_t)RTE_MIN(records, (uint64_t)LOOKS);
}

static void
age_connection(struct slowloris_worker *worker, uint32_t index)
{
	struct slowloris *detector = worker->detector;
	struct connection *connection = &detector->connections.record[index];
	enum connection_state state = connection_state(connection);

	if (state == CONNECTION_ENDED) {
		/* An lcore may have counted bytes for it while it ended. */
		if (connection->bytes != 0)
			track_settle(worker, connection);
		return;
	}
	/* Others end by age_handshakes(). */
	if (state != CONNECTION_OPEN ||
		ticks_since(load_u32(&connection->seen), worker->now) <= RULE(detector, timeout))
		return;
	track_end(worker, index);
	detector->counters.timed_out++;
}

static void
age_connections(struct slowloris_worker *worker)
{
	struct slowloris *detector = worker->detector;
	struct connections *connections = &detector->connections;
	uint32_t turn = RTE_MAX(RULE(detector, timeout) / TURNS, 1u);
	uint32_t count = due(connections->high, ticks_since(detector->aged_at, worker->now), turn);

	if (count == 0 && connections->high != 0)
		return;
	detector->aged_at = worker->now;
	for (uint32_t looks = 0; looks < count; looks++) {
		if (connections->next >= connections->high)
			connections->next = 0;
		age_connection(worker, connections->next++);
	}
}

static void
age_handshakes(struct slowloris_worker *worker)
{
	struct slowloris *detector = worker->detector;
	unsigned int looks = LOOKS;
	uint32_t index;

	do {
		index = connections_expire(
			&detector->connections, worker->now, RULE(detector, handshake), &looks);
		if (index == NONE)
			return;
		track_end(worker, index);
		detector->counters.half_open_expired++;
	} while (looks > 0);
}

/* Bytes of no connection are subtracted after one to two time-outs. */
static void
rotate_unattributed(struct slowloris_worker *worker, uint32_t index)
{
	struct slowloris *detector = worker->detector;
	struct destination *destination = &detector->destinations.record[index];
	uint64_t leaving = destination->unattributed_before;

	__atomic_store_n(&destination->unattributed_before,
		__atomic_exchange_n(&destination->unattributed, 0, __ATOMIC_RELAXED),
		__ATOMIC_RELAXED);
	destination->rotated = worker->now;
	if (leaving != 0)
		track_divide(worker, index, add_u64(detector, &destination->bytes, -leaving), 0);
}

static void
age_destination(struct slowloris_worker *worker, uint32_t index)
{
	struct slowloris *detector = worker->detector;
	struct destination *destination = &detector->destinations.record[index];
	const uint32_t timeout = RULE(detector, timeout);

	if (destination->used == 0)
		return;
	if (ticks_since(destination->rotated, worker->now) > timeout)
		rotate_unattributed(worker, index);
	defence_review(worker, destination);
	if (destination->connections != 0 || destination->alarm != 0 ||
		ticks_since(load_u32(&destination->seen), worker->now) <= timeout)
		return;
	destinations_remove(&detector->destinations, index);
	detector->counters.destinations_forgotten++;
	worker->changed = true;
}

static void
age_destinations(struct slowloris_worker *worker)
{
	struct slowloris *detector = worker->detector;
	struct destinations *destinations = &detector->destinations;
	uint32_t count = due(
		destinations->high, ticks_since(detector->watched_at, worker->now), REVIEW_TICKS);

	if (count == 0 && destinations->high != 0)
		return;
	detector->watched_at = worker->now;
	for (uint32_t looks = 0; looks < count; looks++) {
		if (destinations->next >= destinations->high)
			destinations->next = 0;
		age_destination(worker, destinations->next++);
	}
}

void
age_tables(struct slowloris_worker *worker)
{
	age_handshakes(worker);
	age_connections(worker);
	age_destinations(worker);
	track_flush(worker);
}

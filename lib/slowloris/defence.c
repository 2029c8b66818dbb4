/* SPDX-License-Identifier: BSD-3-Clause */
/* When an attack begins and ends, and what is dropped meanwhile. */
#include <rte_cycles.h>

#include "detector.h"

/* How long a condition has held; `since` is 0 while it does not. Any lcore may write it. */
static bool
has_held(uint32_t *since, bool holds, uint32_t now, uint32_t time)
{
	uint32_t start = load_u32(since);

	if (!holds) {
		if (start != 0)
			__atomic_store_n(since, 0, __ATOMIC_RELAXED);
		return false;
	}
	if (start == 0) {
		/* Never 0, even if that is a tick ahead. */
		start = now | 1;
		__atomic_store_n(since, start, __ATOMIC_RELAXED);
	}
	return (int32_t)(now - start) >= (int32_t)time || time == 0;
}

static uint64_t
ms_of_cycles(uint64_t cycles)
{
	const uint64_t hz = rte_get_tsc_hz();

	return cycles / hz * MS_PER_S + cycles % hz * MS_PER_S / hz;
}

/* None if another lcore wrote it later. */
static uint64_t
cycles_since(const uint64_t *then, uint64_t now)
{
	int64_t cycles = (int64_t)(now - __atomic_load_n(then, __ATOMIC_RELAXED));

	return (uint64_t)RTE_MAX(cycles, 0);
}

/* So many TSC cycles after the attack began. */
static void
tell(struct slowloris_worker *worker, const struct destination *destination, uint64_t cycles)
{
	struct slowloris *detector = worker->detector;
	struct slowloris_alert alert = {.after_ms = ms_of_cycles(cycles)};

	destination_read(destination, &alert.registers);
	alert.dry_run = RULE(detector, dry_run);
	if (rte_ring_enqueue_elem(detector->alerts, &alert, sizeof(alert)) != 0)
		add_u64(detector, &detector->counters.alerts_lost, 1);
}

/*
 * Connections per byte of complete handshakes alone: those that are not complete, and packets of no
 * connection, anyone can send in anyone's name. With such connections, a flood would have a busy
 * server cut off; with such bytes, it would hide an attack.
 */
static uint16_t
complete_ratio(const struct slowloris *detector, const struct destination *destination,
	uint32_t established)
{
	uint64_t bytes = destination_complete_bytes(destination);
	uint16_t ratio;

	divide(detector->divider, &established, &bytes, &ratio, 1);
	return ratio;
}

static bool
looks_attacked(const struct slowloris *detector, const struct destination *destination)
{
	uint32_t established = load_u32(&destination->established);

	return established >= RULE(detector, least) &&
		complete_ratio(detector, destination, established) > RULE(detector, threshold);
}

static bool
looks_calm(const struct slowloris *detector, const struct destination *destination)
{
	uint32_t established = load_u32(&destination->established);

	return established < RULE(detector, least_release) ||
		complete_ratio(detector, destination, established) <= RULE(detector, release);
}

void
defence_watch(struct slowloris_worker *worker, struct destination *destination)
{
	struct slowloris *detector = worker->detector;
	uint8_t alarm = __atomic_load_n(&destination->alarm, __ATOMIC_ACQUIRE);
	uint64_t held;

	if (alarm != 0 ||
		!has_held(&destination->since, looks_attacked(detector, destination), worker->now,
			RULE(detector, time)))
		return;
	held = (uint64_t)ticks_since(load_u32(&destination->since), worker->now)
		<< detector->tick_shift;
	__atomic_store_n(&destination->attacked, worker->tsc - held, __ATOMIC_RELAXED);
	if (!__atomic_compare_exchange_n(
		    &destination->alarm, &alarm, 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return;
	add_u32(detector, &detector->alarms, 1);
	add_u64(detector, &detector->counters.alarms_raised, 1);
	tell(worker, destination, held);
}

void
defence_review(struct slowloris_worker *worker, struct destination *destination)
{
	struct slowloris *detector = worker->detector;

	if (__atomic_load_n(&destination->alarm, __ATOMIC_ACQUIRE) == 0) {
		defence_watch(worker, destination);
		return;
	}
	if (!has_held(&destination->calm, looks_calm(detector, destination), worker->now,
		    RULE(detector, time)))
		return;
	destination->calm = 0;
	/* In this order: an lcore that sees no alarm sees `since` as zero, too. */
	__atomic_store_n(&destination->since, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&destination->alarm, 0, __ATOMIC_RELEASE);
	add_u32(detector, &detector->alarms, UINT32_MAX);
	add_u64(detector, &detector->counters.alarms_released, 1);
	tell(worker, destination, cycles_since(&destination->attacked, worker->tsc));
}

static bool
is_slow(const struct slowloris_worker *worker, const struct connection *connection)
{
	const struct slowloris *detector = worker->detector;

	return ticks_since(connection->opened, worker->now) >= RULE(detector, grace) &&
		(__atomic_load_n(&connection->bytes, __ATOMIC_RELAXED) & ~BYTES_COMPLETE) <
		RULE(detector, slow_bytes);
}

bool
defence_drops(struct slowloris_worker *worker, unsigned int packet,
	const struct destination *destination, struct connection *connection)
{
	const struct slowloris *detector = worker->detector;
	enum slowloris_policy policy = (enum slowloris_policy)RULE(detector, policy);
	uint64_t bit = UINT64_C(1) << packet;

	if (__atomic_load_n(&destination->alarm, __ATOMIC_RELAXED) == 0)
		return false;
	if (policy == SLOWLORIS_CONNECTION && (connection == NULL || !is_slow(worker, connection)))
		return false;
	if (RULE(detector, dry_run)) {
		worker->counters.would_drop++;
		return false;
	}
	if (policy == SLOWLORIS_CONNECTION)
		worker->verdict->drop_connection |= bit;
	else
		worker->verdict->drop_destination |= bit;
	/* The packet is not counted, but shows that its connection is not silent. */
	if (connection != NULL)
		refresh(&connection->seen, worker->now);
	return true;
}

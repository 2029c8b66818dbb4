/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_ring_elem.h>

#include "detector.h"

#define SEGMENTS_LEFT 16384
#define ALERTS 256
/* A server waits less than this for the end of a handshake: Linux 63 s, with five answers repeated.
 */
#define HANDSHAKE_MS 64000u

_Static_assert(sizeof(struct slowloris_alert) % 4 == 0, "ring elements are multiples of 4 bytes");

static uint32_t
ticks_of_ms(const struct slowloris *detector, uint64_t ms)
{
	return (uint32_t)(ms * (rte_get_tsc_hz() / MS_PER_S) >> detector->tick_shift);
}

/* What the heaps have given so far. */
static uint64_t
allocated(void)
{
	struct rte_malloc_socket_stats stats;
	uint64_t bytes = 0;

	for (int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++) {
		if (rte_malloc_get_socket_stats(socket, &stats) == 0)
			bytes += stats.heap_allocsz_bytes;
	}
	return bytes;
}

static int
create_tables(struct slowloris *detector)
{
	uint64_t before = allocated();
	int error;

	error = connections_create(&detector->connections, &detector->config);
	detector->memory.connections = allocated() - before + detector->connections.own_bytes;
	if (error != 0)
		return error;
	before = allocated();
	error = destinations_create(&detector->destinations, &detector->config);
	detector->memory.destinations = allocated() - before;
	detector->connections.destination = detector->destinations.record;
	return error;
}

static int
create_rings(struct slowloris *detector)
{
	char name[RTE_RING_NAMESIZE];

	/* A segment that was left is there before its packet leaves: whatever follows from the
	 * packet comes after it in the ring. */
	snprintf(name, sizeof(name), "segments-%" PRIxPTR, (uintptr_t)detector);
	/* Not RTS: what an lcore has left must be seen before its next burst, writer_is_quiet(). */
	detector->segments = rte_ring_create_elem(name, sizeof(struct segment), SEGMENTS_LEFT,
		detector->config.socket_id, RING_F_SC_DEQ);
	snprintf(name, sizeof(name), "alerts-%" PRIxPTR, (uintptr_t)detector);
	detector->alerts = rte_ring_create_elem(name, sizeof(struct slowloris_alert), ALERTS,
		detector->config.socket_id, RING_F_MP_RTS_ENQ | RING_F_SC_DEQ);
	return detector->segments != NULL && detector->alerts != NULL ? 0 : -ENOMEM;
}

void
slowloris_set_rules(struct slowloris *detector, const struct slowloris_rules *rules)
{
	const uint32_t timeout = ticks_of_ms(detector, (uint64_t)rules->timeout_s * MS_PER_S);

#define SET_(name, value) __atomic_store_n(&detector->rules.name, value, __ATOMIC_RELAXED)
	SET_(threshold, rules->threshold);
	SET_(release, rules->release);
	SET_(least, rules->least);
	SET_(least_release, rules->least_release);
	SET_(time, ticks_of_ms(detector, rules->time_ms));
	SET_(policy, (uint8_t)rules->policy);
	SET_(slow_bytes, rules->slow_bytes);
	SET_(grace, ticks_of_ms(detector, rules->grace_ms));
	SET_(timeout, timeout);
	SET_(handshake, RTE_MIN(ticks_of_ms(detector, HANDSHAKE_MS), timeout));
	SET_(dry_run, rules->dry_run);
#undef SET_
}

int
slowloris_create(const struct slowloris_config *config, struct slowloris **result)
{
	struct slowloris *detector;
	int error;

	detector = rte_zmalloc_socket(
		"slowloris", sizeof(*detector), RTE_CACHE_LINE_SIZE, config->socket_id);
	if (detector == NULL)
		return -ENOMEM;
	detector->config = *config;
	detector->tick_shift = tick_shift_of(rte_get_tsc_hz());
	slowloris_set_rules(detector, &config->rules);
	error = divider_create(config->match, config->socket_id, &detector->divider);
	if (error == 0)
		error = create_tables(detector);
	if (error == 0)
		error = create_rings(detector);
	if (error != 0) {
		slowloris_free(detector);
		return error;
	}
	*result = detector;
	return 0;
}

void
slowloris_free(struct slowloris *detector)
{
	if (detector == NULL)
		return;
	rte_ring_free(detector->segments);
	rte_ring_free(detector->alerts);
	connections_destroy(&detector->connections);
	destinations_destroy(&detector->destinations);
	divider_free(detector->divider);
	rte_free(detector);
}

struct slowloris_worker *
slowloris_worker_create(struct slowloris *detector, int socket_id)
{
	struct slowloris_worker *worker = rte_zmalloc_socket(
		"slowloris_worker", sizeof(*worker), RTE_CACHE_LINE_SIZE, socket_id);

	if (worker != NULL)
		worker->detector = detector;
	return worker;
}

void
slowloris_worker_free(struct slowloris_worker *worker)
{
	rte_free(worker);
}

bool
slowloris_next_alert(struct slowloris *detector, struct slowloris_alert *alert)
{
	return rte_ring_dequeue_elem(detector->alerts, alert, sizeof(*alert)) == 0;
}

bool
slowloris_find(
	const struct slowloris *detector, uint32_t address, struct slowloris_registers *registers)
{
	const struct destinations *destinations = &detector->destinations;
	uint32_t index = destinations_find(destinations, rte_cpu_to_be_32(address));

	if (index == NONE)
		return false;
	destination_read(&destinations->record[index], registers);
	/* The record may have been reused while it was read, so it is checked again afterwards.
	 */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return registers->address == address &&
		load_u32(&destinations->record[index].address) == rte_cpu_to_be_32(address) &&
		__atomic_load_n(&destinations->record[index].used, __ATOMIC_RELAXED) != 0;
}

uint32_t
slowloris_alarms(
	const struct slowloris *detector, struct slowloris_registers *registers, uint32_t max)
{
	const struct destinations *destinations = &detector->destinations;
	uint32_t high = load_u32(&destinations->high), count = 0;

	for (uint32_t index = 0; index < high && count < max; index++) {
		const struct destination *destination = &destinations->record[index];

		if (__atomic_load_n(&destination->used, __ATOMIC_RELAXED) != 0 &&
			__atomic_load_n(&destination->alarm, __ATOMIC_RELAXED) != 0)
			destination_read(destination, &registers[count++]);
	}
	return count;
}

const struct slowloris_counters *
slowloris_counters(const struct slowloris *detector)
{
	return &detector->counters;
}

const struct slowloris_worker_counters *
slowloris_worker_counters(const struct slowloris_worker *worker)
{
	return &worker->counters;
}

void
slowloris_usage(const struct slowloris *detector, struct slowloris_usage *usage)
{
	uint32_t connections = load_u32(&detector->connections.count);
	uint32_t established = load_u32(&detector->established);

	*usage = (struct slowloris_usage){
		.connections = connections,
		.half_open = connections - RTE_MIN(established, connections),
		.destinations = load_u32(&detector->destinations.count),
		.alarms = load_u32(&detector->alarms),
	};
}

struct slowloris_memory
slowloris_memory(const struct slowloris *detector)
{
	return detector->memory;
}

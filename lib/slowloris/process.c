/* SPDX-License-Identifier: BSD-3-Clause */
/* A burst: all keys are looked up together, then packets are counted in their order. */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_prefetch.h>

#include "detector.h"

/* How many packets ahead destinations are prefetched. */
#define AHEAD 4
/* No position: the bucket has overflowed, only the rte_hash knows. */
#define ASK_HASH (NONE - 1)

/* What is to be done for the packets of a burst; packets as bits. */
struct burst {
	uint64_t tcp;     /* TCP segments */
	uint64_t answers; /* of those, SYN-ACKs: their receiver is the client */
	uint64_t other;   /* what has a destination only */
	bool changes;     /* a connection may begin or end */
	bool independent; /* no packet depends on one before it */
};

/* Keys to be looked up together. */
struct keys {
	unsigned int count;
	const struct connection_key *key[PIPELINE_BURST];
	uint32_t hash[PIPELINE_BURST];
	uint32_t candidate[PIPELINE_BURST]; /* positions, NONE or ASK_HASH */
	uint8_t packet[PIPELINE_BURST];
	struct connection_key reversed[PIPELINE_BURST];
};

/* A segment with SYN, FIN or RST: it may begin, answer or end a connection. */
static void
read_control_segment(const struct segment *segment, unsigned int packet, struct burst *burst,
	const struct connection_key **key, struct connection_key *reversed)
{
	burst->changes |= segment_opens(segment) || segment_ends(segment);
	burst->independent = false;
	if (!segment_answers(segment))
		return;
	burst->answers |= UINT64_C(1) << packet;
	*reversed = key_reversed(&segment->key);
	*key = reversed;
}

static void
read_burst(struct slowloris_worker *worker, struct rte_mbuf **mbufs, const struct frame *frames,
	uint16_t count, struct burst *burst, struct keys *keys)
{
	const struct slowloris *detector = worker->detector;
	const struct hash_secret secret = detector->connections.secret;
	bool alarms = load_u32(&detector->alarms) != 0;

	for (unsigned int i = 0; i < count; i++) {
		struct segment *segment = &worker->segment[i];

		segment_read(mbufs[i], &frames[i], segment);
		if (likely(segment->kind == SEGMENT_TCP)) {
			unsigned int k = keys->count++;

			keys->key[k] = &segment->key;
			if (unlikely((segment->flags & SEGMENT_CONTROL_FLAGS) != 0))
				read_control_segment(
					segment, i, burst, &keys->key[k], &keys->reversed[k]);
			keys->hash[k] = hash_connection(&secret, keys->key[k]);
			rte_prefetch0(connections_bucket(&detector->connections, keys->hash[k]));
			keys->packet[k] = (uint8_t)i;
			burst->tcp |= UINT64_C(1) << i;
		} else if (segment->kind == SEGMENT_PARTIAL || segment->kind == SEGMENT_QUERY ||
			(segment->kind == SEGMENT_OTHER && alarms)) {
			worker->found[i] = (struct found_records){NONE, NONE, NONE};
			burst->other |= UINT64_C(1) << i;
			burst->independent = false;
		}
	}
}

/* The buckets are in the cache: prefetch the record that each key is likely to have. */
static void
fetch_records(const struct connections *connections, struct keys *keys)
{
	for (unsigned int k = 0; k < keys->count; k++) {
		const struct bucket *bucket = connections_bucket(connections, keys->hash[k]);
		uint32_t match = bucket_match(bucket, keys->hash[k]);

		if (likely(match != 0)) {
			keys->candidate[k] =
				bucket_position(bucket, (unsigned int)__builtin_ctz(match));
			rte_prefetch0(&connections->record[keys->candidate[k]]);
		} else {
			keys->candidate[k] = bucket_elsewhere(bucket) != 0 ? ASK_HASH : NONE;
		}
	}
}

/* The record is in the cache, or will soon be: prefetch that of its destination. */
static inline void
fetch_destination(const struct connections *connections, uint32_t candidate)
{
	if (candidate < ASK_HASH)
		rte_prefetch0(&connections->destination[connection_destination(
			&connections->record[candidate])]);
}

static inline uint32_t
settle_candidate(const struct connections *connections, const struct keys *keys, unsigned int k)
{
	uint32_t candidate = keys->candidate[k];

	if (candidate == NONE ||
		(likely(candidate != ASK_HASH) &&
			likely(connections_is(connections, candidate, keys->key[k]))))
		return candidate;
	return connections_find(connections, keys->key[k], keys->hash[k]);
}

/*
 * Count a packet that neither begins nor ends a connection, for a destination that is not under
 * attack, as most are. False for others.
 */
static inline bool
count_data(struct slowloris_worker *worker, const struct segment *segment, uint32_t index)
{
	struct slowloris *detector = worker->detector;
	struct connection *connection = &detector->connections.record[index];
	uint32_t word = __atomic_load_n(&connection->state, __ATOMIC_ACQUIRE);
	uint32_t destination = word >> STATE_BITS;
	enum connection_state state = (enum connection_state)(word & STATE_MASK);

	if (state == CONNECTION_ENDED || state == CONNECTION_ANSWERED ||
		__atomic_load_n(
			&detector->destinations.record[destination].alarm, __ATOMIC_RELAXED) != 0)
		return false;
	worker->counters.segments++;
	track_bytes(worker, segment, destination, connection);
	return true;
}

/*
 * Look up connections, and count the packets that can be counted at once: they are taken out of
 * `burst`. Returns the packets without a connection.
 */
static uint64_t
look_up_connections(struct slowloris_worker *worker, struct keys *keys, struct burst *burst)
{
	const struct connections *connections = &worker->detector->connections;
	uint64_t without = burst->answers;

	fetch_records(connections, keys);
	for (unsigned int k = 0; k < keys->count; k++) {
		uint8_t packet = keys->packet[k];
		uint64_t bit = UINT64_C(1) << packet;
		uint32_t index;

		if (k + AHEAD < keys->count)
			fetch_destination(connections, keys->candidate[k + AHEAD]);
		index = settle_candidate(connections, keys, k);
		if (likely(burst->independent && index != NONE) &&
			likely(count_data(worker, &worker->segment[packet], index))) {
			burst->tcp ^= bit;
			continue;
		}
		if (unlikely((burst->answers & bit) != 0))
			worker->found[packet] = (struct found_records){NONE, index, NONE};
		else
			worker->found[packet] = (struct found_records){index, NONE, NONE};
		without |= index == NONE ? bit : 0;
	}
	return without;
}

static void
look_up_destinations(struct slowloris_worker *worker, uint64_t packets)
{
	const struct destinations *destinations = &worker->detector->destinations;
	const void *key[PIPELINE_BURST];
	hash_sig_t hash[PIPELINE_BURST];
	int32_t position[PIPELINE_BURST];
	uint8_t packet[PIPELINE_BURST];
	unsigned int count = 0;

	for (; packets != 0; packets &= packets - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(packets);

		key[count] = &worker->segment[i].key.destination;
		hash[count] =
			hash_address(&destinations->secret, worker->segment[i].key.destination);
		packet[count++] = (uint8_t)i;
	}
	rte_hash_lookup_with_hash_bulk(destinations->hash, key, hash, count, position);
	for (unsigned int k = 0; k < count; k++) {
		/* cppcheck-suppress uninitvar ; where count is 0, none is read */
		worker->found[packet[k]].destination =
			destinations_known(destinations, position[k]);
	}
}

static void
answer_query(struct slowloris_worker *worker, unsigned int packet, uint32_t destination)
{
	const struct destinations *destinations = &worker->detector->destinations;
	uint16_t query = worker->verdict->query_count++;

	worker->counters.queries++;
	worker->verdict->query[query].packet = (uint16_t)packet;
	worker->verdict->query[query].answer = (struct pipeline_answer){0};
	if (destination != NONE)
		track_divide(worker, destination,
			__atomic_load_n(&destinations->record[destination].bytes, __ATOMIC_RELAXED),
			(uint8_t)(query + 1));
}

static void
count_packet(struct slowloris_worker *worker, unsigned int i)
{
	struct slowloris *detector = worker->detector;
	struct segment *segment = &worker->segment[i];
	struct found_records found = find_again(worker, segment, worker->found[i]);
	struct connection *connection = NULL;

	if (segment->kind == SEGMENT_QUERY) {
		answer_query(worker, i, found.destination);
		return;
	}
	if (found.connection != NONE)
		connection = &detector->connections.record[found.connection];
	if (found.destination != NONE &&
		defence_drops(
			worker, i, &detector->destinations.record[found.destination], connection))
		return;
	if (segment->kind == SEGMENT_OTHER)
		return;
	worker->counters.segments++;
	if (!track(worker, segment, found))
		writer_leave(worker, segment);
}

void
slowloris_process(struct slowloris_worker *worker, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count, uint64_t now, struct slowloris_verdict *verdict)
{
	struct burst burst = {.independent = true};
	uint64_t packets, without_connection;
	struct keys keys;
	bool locked = false;

	verdict->drop_destination = 0;
	verdict->drop_connection = 0;
	verdict->query_count = 0;
	keys.count = 0;
	read_burst(worker, mbufs, frames, count, &burst, &keys);
	without_connection = burst.other;
	if ((burst.tcp | burst.other) == 0)
		return;
	worker->verdict = verdict;
	set_time(worker, now);
	worker->quiet = writer_is_quiet(worker->detector);
	worker->changed = false;
	if (burst.changes || !worker->quiet)
		locked = writer_trylock(worker);
	if (locked && !worker->quiet)
		writer_drain(worker);
	worker->changed = false;
	if (burst.tcp != 0)
		without_connection |= look_up_connections(worker, &keys, &burst);
	if (without_connection != 0)
		look_up_destinations(worker, without_connection);
	for (packets = burst.tcp | burst.other; packets != 0; packets &= packets - 1)
		count_packet(worker, (unsigned int)__builtin_ctzll(packets));
	track_flush(worker);
	if (locked)
		writer_unlock(worker);
}

void
slowloris_maintain(struct slowloris_worker *worker, uint64_t now)
{
	set_time(worker, now);
	worker->changed = true;
	if (!writer_trylock(worker))
		return;
	writer_drain(worker);
	age_tables(worker);
	writer_unlock(worker);
}

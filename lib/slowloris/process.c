/* SPDX-License-Identifier: BSD-3-Clause */
/* A burst: looked up at once, counted in order. */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_prefetch.h>

#include "detector.h"

/* Segments of others taken at a time, so that a flood of them does not hold up a burst. */
#define TAKEN_AT_ONCE 64
#define TAKES 8

/* How many packets ahead destinations are fetched. */
#define AHEAD 4
/* Not NONE, but no position either. */
#define UNSURE (NONE - 1)

/* ---- the pen ------------------------------------------------------------------------------- */

static void take_left_segments(struct slowloris_worker *worker);

bool
pen_take(struct slowloris_worker *worker)
{
	uint32_t *pen = &worker->detector->pen;
	uint32_t free = 0;

	if (load_u32(pen) != 0 ||
		!__atomic_compare_exchange_n(
			pen, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	worker->writing = true;
	return true;
}

void
pen_give(struct slowloris_worker *worker)
{
	take_left_segments(worker);
	worker->writing = false;
	__atomic_store_n(&worker->detector->pen, 0, __ATOMIC_RELEASE);
}

/* Whether all that was left by anybody has been counted. In this order: first left, then taken. */
static bool
is_quiet(const struct slowloris *detector)
{
	if (!detector->config.shared)
		return true;
	if (!rte_ring_empty(detector->segments))
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&detector->pen, __ATOMIC_ACQUIRE) == 0;
}

/* ---- places -------------------------------------------------------------------------------- */

static uint32_t
find_connection(const struct slowloris *detector, const struct connection_key *key)
{
	const struct connections *connections = &detector->connections;

	return connections_find(connections, key, hash_connection(&connections->secret, key));
}

/* A connection that was found and has not ended since, or one that has begun since. */
static uint32_t
current_connection(
	const struct slowloris_worker *worker, uint32_t found, const struct connection_key *key)
{
	const struct connections *connections = &worker->detector->connections;

	if (found == NONE && worker->changed)
		found = find_connection(worker->detector, key);
	if (found == NONE)
		return NONE;
	if (connection_state(&connections->record[found]) != CONNECTION_ENDED)
		return found;
	if (!worker->changed)
		return NONE;
	found = find_connection(worker->detector, key);
	return found != NONE && connection_state(&connections->record[found]) != CONNECTION_ENDED
		? found
		: NONE;
}

/* What a segment belongs to when its turn has come. */
static struct place
current_place(
	const struct slowloris_worker *worker, const struct segment *segment, struct place found)
{
	const struct slowloris *detector = worker->detector;
	struct connection_key reversed;

	if (segment->kind == SEGMENT_TCP) {
		if (!segment_answers(segment))
			found.connection =
				current_connection(worker, found.connection, &segment->key);
		if (segment_answers(segment) ||
			(found.connection == NONE && segment_ends(segment))) {
			reversed = key_reversed(&segment->key);
			found.answered = segment_answers(segment) || found.answered != NONE
				? current_connection(worker, found.answered, &reversed)
				: find_connection(detector, &reversed);
		}
	}
	if (found.connection != NONE)
		found.destination =
			connection_destination(&detector->connections.record[found.connection]);
	else if (found.destination == NONE && worker->changed)
		found.destination =
			destinations_find(&detector->destinations, segment->key.destination);
	return found;
}

/* ---- what others have left ----------------------------------------------------------------- */

static void
leave(struct slowloris_worker *worker, struct segment *segment)
{
	if (rte_ring_enqueue_elem(worker->detector->segments, segment, sizeof(*segment)) == 0)
		worker->counters.queued++;
	else
		worker->counters.missed++;
}

static void
take_left_segments(struct slowloris_worker *worker)
{
	struct rte_ring *ring = worker->detector->segments;
	struct segment segment[TAKEN_AT_ONCE];
	unsigned int count;

	for (unsigned int takes = 0; takes < TAKES && !rte_ring_empty(ring); takes++) {
		count = rte_ring_dequeue_burst_elem(
			ring, segment, sizeof(segment[0]), TAKEN_AT_ONCE, NULL);
		worker->changed = true;
		for (unsigned int s = 0; s < count; s++) {
			const struct place unknown = {NONE, NONE, NONE};

			track(worker, &segment[s], current_place(worker, &segment[s], unknown));
		}
	}
	track_flush(worker);
}

/* ---- a burst ------------------------------------------------------------------------------- */

/* What of a burst needs which treatment; packets as bits. */
struct burst {
	uint64_t tcp;     /* have a connection */
	uint64_t answers; /* of those, the ones whose connection is their receiver's */
	uint64_t other;   /* only a destination */
	bool changes;     /* a connection may begin or end */
	bool plain;       /* nothing in it depends on what came before */
};

/* Keys to be looked up together. */
struct keys {
	unsigned int count;
	const struct connection_key *key[PIPELINE_BURST];
	uint32_t hash[PIPELINE_BURST];
	uint32_t candidate[PIPELINE_BURST]; /* positions, or NONE, or UNSURE */
	uint8_t packet[PIPELINE_BURST];
	struct connection_key reversed[PIPELINE_BURST];
};

/* A segment with a flag that may change a connection, or answer to that. */
static void
read_turn(const struct segment *segment, unsigned int packet, struct burst *burst,
	const struct connection_key **key, struct connection_key *reversed)
{
	burst->changes |= segment_opens(segment) || segment_ends(segment);
	burst->plain = false;
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
			if (unlikely((segment->flags & SEGMENT_TURNS) != 0))
				read_turn(segment, i, burst, &keys->key[k], &keys->reversed[k]);
			keys->hash[k] = hash_connection(&secret, keys->key[k]);
			rte_prefetch0(connections_bucket(&detector->connections, keys->hash[k]));
			keys->packet[k] = (uint8_t)i;
			burst->tcp |= UINT64_C(1) << i;
		} else if (segment->kind == SEGMENT_LOOSE || segment->kind == SEGMENT_QUERY ||
			(segment->kind == SEGMENT_OTHER && alarms)) {
			worker->place[i] = (struct place){NONE, NONE, NONE};
			burst->other |= UINT64_C(1) << i;
			burst->plain = false;
		}
	}
}

/* Their buckets have come: fetch the record that each is likely to have. */
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
			keys->candidate[k] = bucket_elsewhere(bucket) != 0 ? UNSURE : NONE;
		}
	}
}

/* The record has come, or will soon: fetch that of its destination. */
static inline void
fetch_destination(const struct connections *connections, uint32_t candidate)
{
	if (candidate < UNSURE)
		rte_prefetch0(&connections->destination[connection_destination(
			&connections->record[candidate])]);
}

static inline uint32_t
settle_candidate(const struct connections *connections, const struct keys *keys, unsigned int k)
{
	uint32_t candidate = keys->candidate[k];

	if (candidate == NONE ||
		(likely(candidate != UNSURE) &&
			likely(connections_is(connections, candidate, keys->key[k]))))
		return candidate;
	return connections_find(connections, keys->key[k], keys->hash[k]);
}

/*
 * What most packets are: neither first nor last of a connection, for a destination that is not
 * under attack. False for others.
 */
static inline bool
count_usual(struct slowloris_worker *worker, const struct segment *segment, uint32_t index)
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
 * Look up connections; count what can be counted at once. Returns the packets that have none, and
 * takes those out of `burst` that were counted.
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
		if (likely(burst->plain && index != NONE) &&
			likely(count_usual(worker, &worker->segment[packet], index))) {
			burst->tcp ^= bit;
			continue;
		}
		if (unlikely((burst->answers & bit) != 0))
			worker->place[packet] = (struct place){NONE, index, NONE};
		else
			worker->place[packet] = (struct place){index, NONE, NONE};
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
		if (position[k] >= 0)
			worker->place[packet[k]].destination = (uint32_t)position[k];
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
	struct place place = current_place(worker, segment, worker->place[i]);
	struct connection *connection = NULL;

	if (segment->kind == SEGMENT_QUERY) {
		answer_query(worker, i, place.destination);
		return;
	}
	if (place.connection != NONE)
		connection = &detector->connections.record[place.connection];
	if (place.destination != NONE &&
		defence_drops(
			worker, i, &detector->destinations.record[place.destination], connection))
		return;
	if (segment->kind == SEGMENT_OTHER)
		return;
	worker->counters.segments++;
	if (!track(worker, segment, place))
		leave(worker, segment);
}

void
slowloris_process(struct slowloris_worker *worker, struct rte_mbuf **mbufs,
	const struct frame *frames, uint16_t count, uint64_t now, struct slowloris_verdict *verdict)
{
	struct burst burst = {.plain = true};
	uint64_t packets, alone;
	struct keys keys;
	bool pen = false;

	verdict->drop_destination = 0;
	verdict->drop_connection = 0;
	verdict->query_count = 0;
	keys.count = 0;
	read_burst(worker, mbufs, frames, count, &burst, &keys);
	alone = burst.other;
	if ((burst.tcp | burst.other) == 0)
		return;
	worker->verdict = verdict;
	worker->now = (uint32_t)(now >> TICK_SHIFT);
	worker->quiet = is_quiet(worker->detector);
	worker->changed = false;
	if (burst.changes || !worker->quiet)
		pen = pen_take(worker);
	if (pen && !worker->quiet)
		take_left_segments(worker);
	worker->changed = false;
	if (burst.tcp != 0)
		alone |= look_up_connections(worker, &keys, &burst);
	if (alone != 0)
		look_up_destinations(worker, alone);
	for (packets = burst.tcp | burst.other; packets != 0; packets &= packets - 1)
		count_packet(worker, (unsigned int)__builtin_ctzll(packets));
	track_flush(worker);
	if (pen)
		pen_give(worker);
}

void
slowloris_keep(struct slowloris_worker *worker, uint64_t now)
{
	worker->now = (uint32_t)(now >> TICK_SHIFT);
	worker->changed = true;
	if (!pen_take(worker))
		return;
	take_left_segments(worker);
	keep_age(worker);
	pen_give(worker);
}

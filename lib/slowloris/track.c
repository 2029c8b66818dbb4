/* SPDX-License-Identifier: BSD-3-Clause */
/* From segments to registers: connections begin and end, bytes are counted and divided. */

#include <rte_tcp.h>

#include "detector.h"

/*
 * How far a client's first acknowledgement may be ahead of the server's sequence number: what a
 * server sends before the first acknowledgement fits into the first window. A client that does not
 * see the answers guesses right once in 65,536 times.
 */
#define FIRST_WINDOW 65535u

void
track_flush(struct slowloris_worker *worker)
{
	struct slowloris *detector = worker->detector;
	struct division_batch *batch = &worker->pending;
	const uint16_t threshold = RULE(detector, threshold);

	if (batch->count == 0)
		return;
	divide(detector->divider, batch->connections, batch->bytes, batch->ratio, batch->count);
	for (unsigned int l = 0; l < batch->count; l++) {
		struct destination *destination =
			&detector->destinations.record[batch->destination[l]];

		__atomic_store_n(&destination->ratio, batch->ratio[l], __ATOMIC_RELAXED);
		/* Where a flood keeps the register low, defence_review() finds the attack. */
		if (unlikely(batch->ratio[l] > threshold || load_u32(&destination->since) != 0))
			defence_watch(worker, destination);
		if (batch->query[l] != 0)
			worker->verdict->query[batch->query[l] - 1].answer =
				(struct pipeline_answer){
					.ratio = batch->ratio[l],
					.connections = batch->connections[l],
					.bytes = batch->bytes[l],
				};
	}
	worker->counters.divisions += batch->count;
	batch->count = 0;
}

void
track_settle(struct slowloris_worker *worker, struct connection *connection)
{
	struct slowloris *detector = worker->detector;
	uint32_t index = connection_destination(connection);
	struct destination *destination = &detector->destinations.record[index];
	uint64_t counted = __atomic_exchange_n(&connection->bytes, 0, __ATOMIC_RELAXED);
	uint64_t bytes = counted & ~BYTES_COMPLETE;

	if ((counted & BYTES_COMPLETE) == 0)
		add_u64(detector, &destination->incomplete, -bytes);
	track_divide(worker, index, add_u64(detector, &destination->bytes, -bytes), 0);
}

void
track_end(struct slowloris_worker *worker, uint32_t index)
{
	struct slowloris *detector = worker->detector;
	struct connection *connection = &detector->connections.record[index];
	struct destination *destination =
		&detector->destinations.record[connection_destination(connection)];
	const struct connection_key key = {
		.source = connection->source,
		.destination = destination->address,
		.source_port = connection->source_port,
		.destination_port = connection->destination_port,
	};
	uint32_t before =
		__atomic_fetch_and(&connection->state, ~STATE_MASK, __ATOMIC_RELAXED) & STATE_MASK;

	if (before == CONNECTION_OPEN) {
		add_u32(detector, &destination->established, UINT32_MAX);
		add_u32(detector, &detector->established, UINT32_MAX);
	}
	add_u32(detector, &destination->connections, UINT32_MAX);
	track_settle(worker, connection);
	connections_remove(&detector->connections, &key, index);
	worker->changed = true;
}

/* A new connection's destination, which is added if it is not known. */
static uint32_t
destination_for_new(
	struct slowloris_worker *worker, const struct segment *segment, uint32_t destination)
{
	struct slowloris *detector = worker->detector;

	if (destination != NONE)
		return destination;
	destination =
		destinations_add(&detector->destinations, segment->key.destination, worker->now);
	if (destination == NONE)
		detector->counters.destinations_refused++;
	return destination;
}

/* A record for a new connection, if need be that of the oldest incomplete handshake. */
static uint32_t
record_for_new(struct slowloris_worker *worker, const struct segment *segment)
{
	struct slowloris *detector = worker->detector;
	uint32_t oldest = connections_evict(&detector->connections), index;

	if (oldest != NONE) {
		track_end(worker, oldest);
		detector->counters.half_open_evicted++;
	}
	index = connections_add(&detector->connections, &segment->key, worker->now);
	if (index == NONE)
		detector->counters.connections_refused++;
	return index;
}

/* A connection begins. Returns its record, or NULL if the table is full. */
static struct connection *
begin(struct slowloris_worker *worker, const struct segment *segment, uint32_t destination)
{
	struct slowloris *detector = worker->detector;
	uint32_t index = record_for_new(worker, segment);
	struct connection *connection;

	if (index == NONE)
		return NULL;
	connection = &detector->connections.record[index];
	if (connection->bytes != 0)
		track_settle(worker, connection);
	connection->source = segment->key.source;
	connection->source_port = segment->key.source_port;
	connection->destination_port = segment->key.destination_port;
	connection->seen = worker->now;
	connection->opened = worker->now;
	__atomic_store_n(
		&connection->state, destination << STATE_BITS | CONNECTION_SYN, __ATOMIC_RELEASE);
	add_u32(detector, &detector->destinations.record[destination].connections, 1);
	detector->counters.opened++;
	worker->changed = true;
	return connection;
}

static bool
track_syn(
	struct slowloris_worker *worker, const struct segment *segment, struct found_records found)
{
	struct slowloris *detector = worker->detector;
	struct connection *connection;

	if (!worker->is_writer)
		return false;
	if (found.connection != NONE) {
		connection = &detector->connections.record[found.connection];
		detector->counters.retransmitted++;
		track_bytes(worker, segment, connection_destination(connection), connection);
		return true;
	}
	found.destination = destination_for_new(worker, segment, found.destination);
	if (found.destination == NONE)
		return true;
	connection = begin(worker, segment, found.destination);
	track_bytes(worker, segment, found.destination, connection);
	return true;
}

/* A server's answer: from now on, its client can prove that it received it. */
static bool
track_answer(
	struct slowloris_worker *worker, const struct segment *segment, struct found_records found)
{
	struct slowloris *detector = worker->detector;
	struct connection *connection;

	if (found.answered == NONE && !worker->is_writer && !worker->quiet)
		return false;
	if (found.answered != NONE) {
		connection = &detector->connections.record[found.answered];
		__atomic_store_n(&connection->expected, rte_be_to_cpu_32(segment->sequence) + 1,
			__ATOMIC_RELAXED);
		connection_advance(connection, CONNECTION_SYN, CONNECTION_ANSWERED);
	}
	if (found.destination != NONE)
		track_bytes(worker, segment, found.destination, NULL);
	return true;
}

/* Whether a client has acknowledged its server's answer: the handshake is complete. */
static void
track_handshake(struct slowloris_worker *worker, const struct segment *segment,
	struct connection *connection)
{
	struct slowloris *detector = worker->detector;
	struct destination *destination;

	if (likely(connection_state(connection) != CONNECTION_ANSWERED) ||
		(segment->flags & RTE_TCP_ACK_FLAG) == 0 ||
		rte_be_to_cpu_32(segment->acknowledgement) - load_u32(&connection->expected) >
			FIRST_WINDOW ||
		!connection_advance(connection, CONNECTION_ANSWERED, CONNECTION_OPEN))
		return;
	destination = &detector->destinations.record[connection_destination(connection)];
	add_u64(detector, &destination->incomplete,
		-__atomic_fetch_or(&connection->bytes, BYTES_COMPLETE, __ATOMIC_RELAXED));
	add_u32(detector, &destination->established, 1);
	add_u32(detector, &detector->established, 1);
}

/* FIN or RST of either side. */
static void
track_last(struct slowloris_worker *worker, struct found_records found)
{
	uint32_t ended = found.connection != NONE ? found.connection : found.answered;

	if (ended == NONE)
		return;
	track_end(worker, ended);
	worker->detector->counters.closed++;
}

bool
track(struct slowloris_worker *worker, const struct segment *segment, struct found_records found)
{
	struct slowloris *detector = worker->detector;
	struct connection *connection = NULL;

	if (segment_opens(segment))
		return track_syn(worker, segment, found);
	if (segment_answers(segment))
		return track_answer(worker, segment, found);
	if (!worker->is_writer &&
		(segment_ends(segment) || (found.connection == NONE && !worker->quiet)))
		return false;
	if (found.connection != NONE) {
		connection = &detector->connections.record[found.connection];
		found.destination = connection_destination(connection);
		track_handshake(worker, segment, connection);
	}
	if (found.destination != NONE)
		track_bytes(worker, segment, found.destination, connection);
	if (segment_ends(segment))
		track_last(worker, found);
	return true;
}

/* ---- the records that a segment belongs to, at the moment when it is counted ----------------- */

static uint32_t
find_connection(const struct slowloris *detector, const struct connection_key *key)
{
	const struct connections *connections = &detector->connections;

	return connections_find(connections, key, hash_connection(&connections->secret, key));
}

/* The connection that was found, unless it has ended; or one that has begun since. */
static uint32_t
find_connection_again(
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

struct found_records
find_again(const struct slowloris_worker *worker, const struct segment *segment,
	struct found_records found)
{
	const struct slowloris *detector = worker->detector;
	struct connection_key reversed;

	if (segment->kind == SEGMENT_TCP) {
		if (!segment_answers(segment))
			found.connection =
				find_connection_again(worker, found.connection, &segment->key);
		if (segment_answers(segment) ||
			(found.connection == NONE && segment_ends(segment))) {
			reversed = key_reversed(&segment->key);
			found.answered = segment_answers(segment) || found.answered != NONE
				? find_connection_again(worker, found.answered, &reversed)
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* The records that a segment belongs to, at the moment when it is counted. */
#include "find.h"

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

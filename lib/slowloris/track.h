/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_TRACK_H
#define SLOWLORIS_TRACK_H

/** @file Segments counted in the registers of their connections and destinations. */

#include "detector.h"

/* Count a segment. False if that needs the writer lock, which this lcore does not hold. */
bool
track(struct slowloris_worker *worker, const struct segment *segment, struct found_records found);
/* End a connection; the lock's holder only. */
void track_end(struct slowloris_worker *worker, uint32_t connection);
/* Subtract a connection's bytes from its destination's; the lock's holder only. */
void track_settle(struct slowloris_worker *worker, struct connection *connection);
/* Divide what has changed: registers, alarms, answers. */
void track_flush(struct slowloris_worker *worker);

/* Divide a destination's registers. `query`: 0, or which of the burst's queries asks, plus 1. */
static inline void
track_divide(struct slowloris_worker *worker, uint32_t destination, uint64_t bytes, uint8_t query)
{
	const struct destination *record = &worker->detector->destinations.record[destination];
	struct division_batch *batch = &worker->pending;
	unsigned int lane;

	if (unlikely(batch->count == DIVIDE_BULK))
		track_flush(worker);
	lane = batch->count++;
	batch->connections[lane] = load_u32(&record->connections);
	batch->established[lane] = load_u32(&record->established);
	batch->bytes[lane] = bytes;
	batch->destination[lane] = destination;
	batch->query[lane] = query;
}

/* Count a segment's bytes for its receiver, and for its connection, if it has one. */
static inline void
track_bytes(struct slowloris_worker *worker, const struct segment *segment, uint32_t destination,
	struct connection *connection)
{
	struct slowloris *detector = worker->detector;
	struct destination *record = &detector->destinations.record[destination];
	uint64_t bytes = add_u64(detector, &record->bytes, segment->length);

	if (connection != NULL) {
		add_u64(detector, &connection->bytes, segment->length);
		refresh(&connection->seen, worker->now);
	} else {
		add_u64(detector, &record->unattributed, segment->length);
	}
	refresh(&record->seen, worker->now);
	track_divide(worker, destination, bytes, 0);
}

#endif /* SLOWLORIS_TRACK_H */

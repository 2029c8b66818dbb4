/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_WINDOW_H
#define ALLREDUCE_WINDOW_H

/** @file Chunks in flight: which are sent, on which channel, received, sent again. */

#include <aggregate_wire.h>

#include "comm/comm.h"

/* Which values of which arrays a chunk holds. */

/* A chunk's values in the arrays. */
struct piece {
	const uint8_t *from; /* NULL: this worker sends none */
	bool zeros;          /* it sends none since they are all +0 */
	uint8_t *to;         /* NULL: it receives none */
	uint32_t bytes;      /* of values */
	uint32_t result_bytes;
	uint32_t label;            /* of the call that it begins, without values; 0: none */
	uint16_t count;            /* values; the last one's bytes may be there in part */
	uint8_t op, format, owner; /* as in requests */
};

/* The number, among those of all switches, of a switch's chunk. */
static inline uint64_t
piece_number(const struct netfc_allreduce *comm, const struct peer *peer, uint64_t chunk)
{
	return chunk * comm->peers + peer->index;
}

/* The values of the chunk that a slot has in flight. */
struct piece
piece_of(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot);

/* The values of a chunk that is not done, by its number among those of all switches. */
struct piece piece_numbered(const struct netfc_allreduce *comm,
	const struct netfc_allreduce_handle *handle, uint64_t number);

/* Chunks of exact sums, each of which is several packets. */

bool
parts_are_of(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot);

/*
 * Send parts of a slot's chunk that are still to be sent. Returns whether all have been, or -1 and
 * errno.
 */
int parts_send(struct netfc_allreduce *comm, struct channel *channel, struct slot *slot);

/* Scheduling of chunks: each slot takes its chunks one after the other. */

/* An allreduce has been put at the queue's end: number its chunks, begin those that can be. */
void window_extend(struct netfc_allreduce *comm, struct netfc_allreduce_handle *handle);

/* Whose chunk that is; it is not done. */
struct netfc_allreduce_handle *window_handle(const struct netfc_allreduce *comm, uint64_t number);

/* A chunk of an allreduce is done; this may complete it. */
void
window_count(struct netfc_allreduce *comm, struct netfc_allreduce_handle *handle, uint64_t now);

/* A slot's result has been stored: start its next chunk; this may complete allreduces. */
void window_complete(struct netfc_allreduce *comm, struct peer *peer, uint32_t slot, uint64_t now);

/*
 * For tests: go on as if `chunks` more of each switch had been done, a multiple of twice the
 * slots. Nothing may be under way.
 */
void window_skip(struct netfc_allreduce *comm, uint64_t chunks);

/* A channel: which chunks are to be sent on it, which are in flight, and sending them. */

/* The channel of a slot. */
struct channel *channel_of(struct peer *peer, uint32_t slot);

/* Have a slot's chunk sent (again). */
void channel_queue(struct channel *channel, uint32_t slot);

/* A slot's chunk is no longer in flight. */
void channel_land(struct channel *channel, uint32_t slot);

/* Whether something is queued that the window allows. */
bool channel_may_send(const struct channel *channel);

/* Whether few are in flight: too few later results would reveal their loss. */
bool channel_is_ending(const struct channel *channel);

/*
 * Send what is queued, as far as the socket takes it. Returns OK, or has said what went wrong.
 */
int channel_send(struct netfc_allreduce *comm, struct channel *channel, uint64_t now);

/* Receiving replies. */

/*
 * Process all packets that a channel has received. Queue again what they show to be lost. Returns
 * OK, or has said what went wrong. Adds to *count how many there were.
 */
int receive_packets(struct netfc_allreduce *comm, struct channel *channel, unsigned int *count);

/* Timers: retransmission, keep-alives and deadlines. */

/* A slot's chunk has been sent: its result is due. */
void timers_note(struct channel *channel, const struct slot *slot);

/* When the next of it is due, ns; NEVER. */
uint64_t timers_next(const struct netfc_allreduce *comm);

/* Do what is due. Returns OK, or has said what went wrong. */
int timers_run(struct netfc_allreduce *comm, uint64_t now);

/*
 * Keep-alives: a switch ends idle jobs, and a training step may take longer than its limit. A join
 * shows that this worker is alive and adds nothing.
 */

/* When the next keep-alive is due, ns; NEVER. */
uint64_t keepalive_due(const struct netfc_allreduce *comm);

/* Send the keep-alives that are due; receive replies until comm->keepalive_until. */
void keepalive_send(struct netfc_allreduce *comm);

/* A reply to a join. Returns OK, or has said what went wrong. */
int keepalive_reply(struct netfc_allreduce *comm, struct peer *peer,
	const struct aggregate_message *reply, uint64_t now);

/* The switches of a communicator: their sockets and slots. */

/*
 * Make a peer of each address, with the socket to its first shard. Returns OK, or has said what
 * went wrong; peers_close() is for both.
 */
int peers_open(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options);

/* All have been joined: open the sockets to the other shards, make slots. */
int peers_complete(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options);

/* Close and free all there is of them. */
void peers_close(struct netfc_allreduce *comm);

#endif /* ALLREDUCE_WINDOW_H */

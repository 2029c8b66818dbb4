/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <errno.h>
#include <string.h>

#include <aggregate_registers.h>
#include <aggregate_wire.h>

#include "clock.h"

/* So many batches are received in a row: then timers have their turn, and who wants the lock. */
#define BATCHES 64

/* Of this worker; whether it is of this session, too, depends on what it answers. */
static bool
is_mine(const struct netfc_allreduce *comm, const struct aggregate_message *reply)
{
	return reply->job == comm->options.job && reply->worker == comm->options.worker;
}

/* Results, zeros in their place, or sums to round. Returns the flags that this raises. */
static unsigned int
take_values(const struct netfc_allreduce *comm, const struct aggregate_message *reply,
	const struct piece *piece, unsigned int word_bytes)
{
	if (reply->reason == AGGREGATE_ZEROS) {
		memset(piece->to, 0, piece->result_bytes);
		return 0;
	}
	if (reply->reason == AGGREGATE_SUMS)
		return aggregate_registers_round(reply->format, reply->op, comm->options.workers,
			reply->values, piece->count, piece->to);
	aggregate_swap_values(
		piece->to, reply->values, piece->result_bytes / word_bytes, word_bytes);
	return 0;
}

/* A worker is late, the member of a level; -1: none. */
static void
set_late(struct peer *peer, int member, unsigned int level)
{
	peer->member.silent = 0;
	peer->member.late = member;
	peer->member.late_level = level;
	peer->window.late = member >= 0;
}

static void
take_result(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel,
	struct slot *slot, const struct aggregate_message *reply, struct evidence *evidence)
{
	struct call *call = slot->call;
	const struct piece piece = window_piece(&peer->window, slot);

	if (reply->op != piece.op || reply->format != piece.format || reply->count != piece.count ||
		(piece.to != NULL && reply->values == NULL && reply->reason != AGGREGATE_ZEROS)) {
		comm->stats.foreign++;
		return;
	}
	call->flags |= reply->flags;
	/* A switch that knows no owners gives everybody the values. */
	if (piece.to != NULL)
		call->flags |= take_values(comm, reply, &piece, call->result_word_bytes);
	comm->stats.received++;
	set_late(peer, -1, 0);
	call = channel_answered(channel, slot, evidence);
	if (call != NULL)
		calls_finish(comm, call, evidence->now);
}

/*
 * The switch says whose values are missing. Wait for a late worker; wait for a silent one as long
 * as the user wants.
 */
static bool
is_patient(const struct netfc_allreduce *comm, struct peer *peer,
	const struct aggregate_message *reply, uint64_t now)
{
	if (reply->reason < AGGREGATE_MISSING ||
		reply->reason >= AGGREGATE_MISSING + tree_members(&comm->options, reply->level))
		return false;
	if (reply->absence == AGGREGATE_ABSENT_LATE) {
		set_late(peer, reply->reason - AGGREGATE_MISSING, reply->level);
		return true;
	}
	if (reply->absence != AGGREGATE_ABSENT_SILENT)
		return false;
	if (peer->member.silent == 0)
		peer->member.silent = now;
	return now - peer->member.silent < comm->options.patience_ms * NS_PER_MS;
}

static int
take_reply(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel,
	const struct aggregate_message *reply, struct evidence *evidence)
{
	struct slot *slot;

	if (!is_mine(comm, reply)) {
		comm->stats.foreign++;
		return NETFC_ALLREDUCE_OK;
	}
	if (reply->op == AGGREGATE_JOIN) {
		peer->member.heard = evidence->now;
		link_heard(&peer->link);
		return member_take(&peer->member, reply, evidence->now)
			? NETFC_ALLREDUCE_OK
			: error_of_member(comm, peer);
	}
	if (reply->session != peer->member.machine.session) {
		comm->stats.foreign++;
		return NETFC_ALLREDUCE_OK;
	}
	peer->member.heard = evidence->now;
	link_heard(&peer->link);
	slot = aggregate_is_chunk(reply->op) ? channel_find(channel, reply->id) : NULL;
	if (slot == NULL) {
		comm->stats.duplicates++;
		if (aggregate_is_chunk(reply->op) && reply->code == NETFC_STATUS_OK)
			channel_answered_again(channel, reply->id);
		return NETFC_ALLREDUCE_OK;
	}
	if (reply->code == NETFC_STATUS_OK) {
		take_result(comm, peer, channel, slot, reply, evidence);
		return NETFC_ALLREDUCE_OK;
	}
	comm->stats.refusals++;
	if (reply->code == AGGREGATE_STATUS_CODE && is_patient(comm, peer, reply, evidence->now))
		return NETFC_ALLREDUCE_OK;
	if (reply->code == AGGREGATE_STATUS_CODE && reply->reason >= AGGREGATE_MISSING)
		return error_of_absence(comm, peer, reply);
	return error_of_reply(comm, peer, reply->code, reply->reason);
}

static int
take_packet(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel,
	const uint8_t *payload, size_t length, struct evidence *evidence)
{
	struct aggregate_message reply;

	if (keys_read_reply(&peer->member, payload, length, &reply))
		return take_reply(comm, peer, channel, &reply, evidence);
	comm->stats.foreign++;
	return NETFC_ALLREDUCE_OK;
}

/* A datagram: one packet, or several that the kernel has joined (UDP_GRO). */
static int
take_datagram(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel,
	const struct received *received, struct evidence *evidence)
{
	size_t at = 0;
	int status;

	peer->link.gro |= received->segment < received->length;
	evidence->marked = received->marked;
	do {
		size_t left = received->length - at;

		status = take_packet(comm, peer, channel, received->payload + at,
			left < received->segment ? left : received->segment, evidence);
		at += received->segment;
	} while (status == NETFC_ALLREDUCE_OK && at < received->length);
	return status;
}

int
receive_packets(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel,
	unsigned int *count)
{
	const unsigned int port = channel->number;
	struct link *link = &peer->link;
	struct evidence evidence = {0};
	int status = NETFC_ALLREDUCE_OK;
	unsigned int errors = 0, batches = 0;
	int n;

	do {
		n = batch_receive(&comm->batch, link, port);
		evidence.now = clock_now();
		if (n < 0 && link_softens(link, errno)) {
			/* Packets may have come beside it. */
			n = errors++ < LINK_MAX_SOFT_ERRORS ? BATCH_RECEIVED : 0;
			continue;
		}
		if (n < 0)
			return errno == EAGAIN || errno == EINTR
				? NETFC_ALLREDUCE_OK
				: error_of_call(comm, peer, "receive from", errno);
		*count += (unsigned int)n;
		for (int i = 0; i < n && status == NETFC_ALLREDUCE_OK; i++) {
			const struct received received =
				batch_received(&comm->batch, link, port, (unsigned int)i);

			/* Rings have packets for all. */
			if (received.port >= 0 && (unsigned int)received.port != channel->number) {
				channel_learn(channel, &evidence);
				evidence = (struct evidence){.now = evidence.now};
				channel = &peer->window.channel[received.port];
			}
			status = take_datagram(comm, peer, channel, &received, &evidence);
		}
		batch_release(link, (unsigned int)n);
		channel_learn(channel, &evidence);
	} while (status == NETFC_ALLREDUCE_OK && n == BATCH_RECEIVED && ++batches < BATCHES);
	return status;
}

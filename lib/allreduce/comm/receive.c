/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/window.h"

#include <errno.h>
#include <string.h>

#include <aggregate_registers.h>
#include <aggregate_wire.h>

#include "clock.h"
#include "comm/error.h"
#include "member/keys.h"
#include "link/link.h"
#include "comm/comm.h"

/*
 * A chunk is lost if that many sent after it have been answered: half of those that can be in
 * flight, and a few at least; or one that was sent later by the time-out. Answers come in
 * another order than requests did when any of the workers has lost something, and what is sent
 * again for nothing takes as much of the link as what is not.
 */
#define REORDERED_SHARE 2
#define REORDERED_LEAST 4

/* So many batches are received in a row: then timers have their turn, and who wants the lock. */
#define BATCHES 64

/* What was learnt from a batch of packets. */
struct evidence {
	uint64_t now;
	bool marked;       /* the packet that is at hand, by a router that was congested */
	uint64_t answered; /* the greatest order of a packet that was, plus 1 */
	uint64_t sent;     /* ns: when that packet was */
};

/* Of this worker; whether it is of this session, too, depends on what it answers. */
static bool
is_mine(const struct netfc_allreduce *comm, const struct aggregate_message *reply)
{
	return reply->job == comm->options.job && reply->worker == comm->options.worker;
}

/* The channel's slot whose chunk is in flight, or NULL. */
static struct slot *
find_slot(const struct channel *channel, uint32_t chunk)
{
	struct peer *peer = channel->peer;
	struct slot *slot = &peer->slot[chunk & (peer->slots - 1)];

	return slot->handle != NULL && slot->times > 0 && (uint32_t)slot->chunk == chunk &&
			channel_of(peer, (uint32_t)(slot - peer->slot)) == channel
		? slot
		: NULL;
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

/*
 * What a result says of time and of losses. A chunk that was sent more than once does not tell
 * which of its packets was answered (Karn and Partridge, 1987). If the result came sooner after the
 * last one than any ever did, it was an earlier one, and the time-out is too short. Else it was the
 * last one, most likely, as in RFC 8985, section 6.2: what was sent well before is lost. And if
 * even since the last one more time has passed than the time-out, that is too short in any case.
 */
static void
learn(struct channel *channel, const struct slot *slot, struct evidence *evidence)
{
	struct rtt *rtt = &channel->rtt;
	uint64_t since = evidence->now - slot->sent;

	if (slot->times > 1 && since < rtt->least) {
		rtt_sample(rtt, evidence->now - slot->first);
		return;
	}
	if (slot->times == 1 || since > rtt->timeout)
		rtt_sample(rtt, since);
	if (slot->order + 1 > evidence->answered && !slot->ack_ambiguous) {
		evidence->answered = slot->order + 1;
		evidence->sent = slot->sent;
	}
}

/* What it says of the queues on its way. */
static void
learn_of_queues(struct channel *channel, const struct slot *slot, const struct evidence *evidence)
{
	const struct congestion_sample sample = {
		.order = slot->order,
		.next = channel->orders,
		.trip = slot->times == 1 ? evidence->now - slot->sent : 0,
		.limited = channel->queued > 0,
	};
	uint64_t full = congestion_answered(&channel->congestion, &sample);

	if (full != 0)
		rtt_full_window(&channel->rtt, full);
	if (evidence->marked)
		congestion_marked(&channel->congestion, slot->order, channel->orders);
}

static void
take_result(struct netfc_allreduce *comm, struct channel *channel, struct slot *slot,
	const struct aggregate_message *reply, struct evidence *evidence)
{
	struct netfc_allreduce_handle *handle = slot->handle;
	struct peer *peer = channel->peer;
	const struct piece piece = piece_of(comm, peer, slot);

	if (reply->op != piece.op || reply->format != piece.format || reply->count != piece.count ||
		(piece.to != NULL && reply->values == NULL && reply->reason != AGGREGATE_ZEROS)) {
		comm->stats.foreign++;
		return;
	}
	handle->flags |= reply->flags;
	/* A switch that knows no owners gives everybody the values. */
	if (piece.to != NULL)
		handle->flags |= take_values(comm, reply, &piece, handle->result_word_bytes);
	comm->stats.received++;
	learn(channel, slot, evidence);
	learn_of_queues(channel, slot, evidence);
	channel->backoff = 0;
	channel->answered++;
	channel->heard = evidence->now;
	peer->silent = 0;
	peer->late = -1;
	window_complete(comm, peer, (uint32_t)(slot - peer->slot), evidence->now);
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
		peer->silent = 0;
		peer->late = reply->reason - AGGREGATE_MISSING;
		peer->late_level = reply->level;
		return true;
	}
	if (reply->absence != AGGREGATE_ABSENT_SILENT)
		return false;
	if (peer->silent == 0)
		peer->silent = now;
	return now - peer->silent < comm->options.patience_ms * NS_PER_MS;
}

/* The result of a slot's latest chunk comes twice, which was asked for twice. */
static bool
was_sent_in_vain(const struct peer *peer, const struct aggregate_message *reply)
{
	const struct slot *slot = &peer->slot[reply->id & (peer->slots - 1)];

	return aggregate_is_chunk(reply->op) && reply->code == NETFC_STATUS_OK &&
		(uint32_t)slot->chunk - peer->slots == reply->id && slot->times_before > 1;
}

static void
learn_of_vain(struct channel *channel, struct slot *slot)
{
	rtt_too_short(&channel->rtt);
	if (slot->lost_before)
		congestion_found(&channel->congestion);
	slot->lost_before = false;
}

static int
take_reply(struct netfc_allreduce *comm, struct channel *channel,
	const struct aggregate_message *reply, struct evidence *evidence)
{
	struct peer *peer = channel->peer;
	struct slot *slot;

	if (!is_mine(comm, reply)) {
		comm->stats.foreign++;
		return NETFC_ALLREDUCE_OK;
	}
	if (reply->op == AGGREGATE_JOIN) {
		peer->heard = evidence->now;
		link_heard(&peer->link);
		return keepalive_reply(comm, peer, reply, evidence->now);
	}
	if (reply->session != peer->member.session) {
		comm->stats.foreign++;
		return NETFC_ALLREDUCE_OK;
	}
	peer->heard = evidence->now;
	link_heard(&peer->link);
	slot = aggregate_is_chunk(reply->op) ? find_slot(channel, reply->id) : NULL;
	if (slot == NULL) {
		comm->stats.duplicates++;
		if (was_sent_in_vain(peer, reply))
			learn_of_vain(channel, &peer->slot[reply->id & (peer->slots - 1)]);
		return NETFC_ALLREDUCE_OK;
	}
	if (reply->code == NETFC_STATUS_OK) {
		take_result(comm, channel, slot, reply, evidence);
		return NETFC_ALLREDUCE_OK;
	}
	comm->stats.refusals++;
	if (reply->code == AGGREGATE_STATUS_CODE && is_patient(comm, peer, reply, evidence->now))
		return NETFC_ALLREDUCE_OK;
	if (reply->code == AGGREGATE_STATUS_CODE && reply->reason >= AGGREGATE_MISSING)
		return error_of_absence(comm, peer, reply);
	return error_of_reply(comm, peer, reply->code, reply->reason);
}

/*
 * What has been sent again may wait for another worker, who has lost its own packet or the result
 * before: who needs as long to notice and as long to mend it.
 */
static bool
is_mended_elsewhere(const struct channel *channel, const struct slot *slot, uint64_t now)
{
	return slot->times > 1 && now - slot->sent < channel->rtt.timeout;
}

static uint64_t
reordering(const struct channel *channel)
{
	unsigned int share = channel->congestion.window / REORDERED_SHARE;

	return rtt_stretched(&channel->rtt, share > REORDERED_LEAST ? share : REORDERED_LEAST);
}

/* Queue packets sent well before one that has been answered. */
static void
queue_lost(struct channel *channel, const struct evidence *evidence)
{
	struct slot *slots = channel->peer->slot;
	uint64_t reordered = reordering(channel);
	uint32_t at;

	for (at = channel->oldest; at != ALLREDUCE_NO_SLOT &&
		(slots[at].order + reordered < evidence->answered ||
			slots[at].sent + channel->rtt.timeout < evidence->sent);
		at = slots[at].newer) {
		if (is_mended_elsewhere(channel, &slots[at], evidence->now))
			continue;
		channel_queue(channel, at);
		slots[at].lost = true;
		congestion_lost(&channel->congestion, slots[at].order, channel->orders);
	}
}

static int
take_packet(struct netfc_allreduce *comm, struct channel *channel, const uint8_t *payload,
	size_t length, struct evidence *evidence)
{
	struct aggregate_message reply;

	if (keys_read_reply(comm, channel->peer, payload, length, &reply))
		return take_reply(comm, channel, &reply, evidence);
	comm->stats.foreign++;
	return NETFC_ALLREDUCE_OK;
}

/* A datagram: one packet, or several that the kernel has joined (UDP_GRO). */
static int
take_datagram(struct netfc_allreduce *comm, struct channel *channel,
	const struct received *received, struct evidence *evidence)
{
	size_t at = 0;
	int status;

	channel->peer->link.gro |= received->segment < received->length;
	evidence->marked = received->marked;
	do {
		size_t left = received->length - at;

		status = take_packet(comm, channel, received->payload + at,
			left < received->segment ? left : received->segment, evidence);
		at += received->segment;
	} while (status == NETFC_ALLREDUCE_OK && at < received->length);
	return status;
}

int
receive_packets(struct netfc_allreduce *comm, struct channel *channel, unsigned int *count)
{
	struct peer *peer = channel->peer;
	struct link *link = &peer->link;
	const unsigned int number = channel_number(channel);
	struct channel *at = channel; /* rings have packets for all */
	struct evidence evidence = {0};
	int status = NETFC_ALLREDUCE_OK;
	unsigned int errors = 0, batches = 0;
	int n;

	do {
		n = batch_receive(&comm->batch, link, number);
		evidence.now = clock_now();
		if (n < 0 && link_softens(link, errno)) {
			/* Packets may have come beside it. */
			n = errors++ < LINK_MAX_SOFT_ERRORS ? BATCH_RECEIVED : 0;
			continue;
		}
		if (n < 0)
			return errno == EAGAIN || errno == EINTR
				? NETFC_ALLREDUCE_OK
				: error_of_call(comm, channel->peer, "receive from", errno);
		*count += (unsigned int)n;
		for (int i = 0; i < n && status == NETFC_ALLREDUCE_OK; i++) {
			const struct received received =
				batch_received(&comm->batch, link, number, (unsigned int)i);

			if (received.port >= 0 && &peer->channel[received.port] != at) {
				queue_lost(at, &evidence);
				evidence = (struct evidence){.now = evidence.now};
				at = &peer->channel[received.port];
			}
			status = take_datagram(comm, at, &received, &evidence);
		}
		batch_release(link, (unsigned int)n);
		queue_lost(at, &evidence);
	} while (status == NETFC_ALLREDUCE_OK && n == BATCH_RECEIVED && ++batches < BATCHES);
	return status;
}

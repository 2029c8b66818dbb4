/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>
#include <rte_udp.h>

#include "aggregate/aggregation.h"
#include "aggregate_table.h"
#include "capture/trace.h"
#include "endpoint/endpoint.h"
#include "bytes.h"
#include "sleep/sleep.h"
#include "transmit.h"

static void
drop(struct lcore *lcore, struct rte_mbuf *mbuf, enum drop_reason reason)
{
	lcore->counters.drops[reason]++;
	rte_pktmbuf_free(mbuf);
}

static void
take_up(struct lcore *lcore, struct rte_mbuf *mbuf, enum taken_reason reason)
{
	lcore->counters.taken_up[reason]++;
	rte_pktmbuf_free(mbuf);
}

/* A request that has become its reply, to its sender. */
static void
send_back(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf *mbuf,
	const struct frame *frame)
{
	const struct endpoint *endpoint = &app->port[in].endpoint;

	answer_turn_udp(mbuf, frame, &endpoint->mac, endpoint->checksum);
	lcore->counters.answers++;
	transmit_later(app, lcore, in, mbuf);
}

/* The end of a packet that needs no answer. */
static void
finish(struct lcore *lcore, struct rte_mbuf *mbuf, enum aggregate_action action)
{
	switch (action) {
	case AGGREGATE_ADDED:
	case AGGREGATE_PASSED:
		take_up(lcore, mbuf, TAKEN_AGGREGATED);
		break;
	case AGGREGATE_DUPLICATE:
	case AGGREGATE_STALE:
	case AGGREGATE_PASSED_AGAIN:
		take_up(lcore, mbuf, TAKEN_AGGREGATE_REPEATED);
		break;
	case AGGREGATE_HANDED_DOWN:
	case AGGREGATE_REFUSAL_DOWN:
	case AGGREGATE_PARENT_ANSWERED:
		take_up(lcore, mbuf, TAKEN_PARENT);
		break;
	case AGGREGATE_STRAY_REPLY:
		drop(lcore, mbuf, DROP_STRAY_REPLY);
		break;
	default:
		drop(lcore, mbuf, DROP_AGGREGATE_DENIED);
		break;
	}
}

/* The parent is there. */
static bool
is_from_parent(enum aggregate_action action)
{
	return action == AGGREGATE_HANDED_DOWN || action == AGGREGATE_REFUSAL_DOWN ||
		action == AGGREGATE_PARENT_ANSWERED;
}

/* Why a packet is dropped that could not be parsed. */
static enum drop_reason
reason_not_read(int code)
{
	return code == AGGREGATE_FORGED ? DROP_AGGREGATE_DENIED : DROP_NOT_NETFC;
}

/* For a trace. */
static void
trace(const struct app *app, const struct lcore *lcore, unsigned int in,
	const struct aggregate_message *request, const struct aggregate_outcome *outcome)
{
	struct trace_slot *slot = __atomic_load_n(&lcore->trace, __ATOMIC_ACQUIRE);

	if (unlikely(slot != NULL))
		trace_sample_aggregate(slot, app->port[in].id, request, outcome);
}

/* A packet that may be the parent's reply. */
static void
process_parent_reply(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf *mbuf,
	const struct frame *frame, const uint8_t *payload)
{
	struct shard *shard = lcore->shard;
	struct aggregate_message reply;
	struct aggregate_outcome outcome;
	struct aggregate_sender sender;
	uint64_t now = rte_rdtsc();
	int code;

	code = aggregate_leaf_read(shard->state, payload, frame->payload_length, &reply);
	if (code != 0) {
		drop(lcore, mbuf, reason_not_read(code));
		return;
	}
	reply.marked = result_learn_sender(in, mbuf, frame, &sender);
	aggregate_leaf_reply(shard->state, &reply, &sender, now, &outcome);
	trace(app, lcore, in, &reply, &outcome);
	if (aggregate_action_send(outcome.action) == AGGREGATE_SEND_RESULTS)
		result_hand_down(app, lcore, &reply, &outcome);
	if (is_from_parent(outcome.action))
		parent_link_heard(&shard->parent_link, now);
	finish(lcore, mbuf, outcome.action);
}

/* Process a packet of a job, on the lcore that owns its shard. */
static void
process_request(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf *mbuf,
	const struct frame *frame, uint8_t *payload)
{
	struct aggregate_shard *shard = lcore->shard->state;
	struct aggregate_message request;
	struct aggregate_outcome outcome;
	struct aggregate_sender sender;
	struct aggregate_seal seal;
	size_t length;
	int code = aggregate_shard_read(shard, payload, frame->payload_length, &request, &seal);

	if (code == AGGREGATE_NOT_OURS && app->aggregation->parent_link != NULL) {
		process_parent_reply(app, lcore, in, mbuf, frame, payload);
		return;
	}
	if (code == AGGREGATE_NOT_OURS || code == AGGREGATE_FORGED) {
		drop(lcore, mbuf, reason_not_read(code));
		return;
	}
	if (code != 0) {
		lcore->shard->refused[code]++;
		aggregate_refuse(payload, frame->payload_length, (uint8_t)code, 0);
		send_back(app, lcore, in, mbuf, frame);
		return;
	}
	request.marked = result_learn_sender(in, mbuf, frame, &sender);
	aggregate_shard_packet(shard, &request, &sender, rte_rdtsc(), &outcome);
	trace(app, lcore, in, &request, &outcome);
	switch (aggregate_action_send(outcome.action)) {
	case AGGREGATE_SEND_NOTHING:
		finish(lcore, mbuf, outcome.action);
		break;
	case AGGREGATE_SEND_UPWARDS:
		parent_link_send_sums(app, lcore, &outcome);
		finish(lcore, mbuf, outcome.action);
		break;
	case AGGREGATE_SEND_RESULTS:
		result_send(app, lcore, &request, &outcome, &seal, payload);
		if (!result_fits_request(&request, &outcome)) {
			take_up(lcore, mbuf, TAKEN_AGGREGATED);
			break;
		}
		/* The tag is at the end of the packet, whatever its length. */
		if (frame->payload_length !=
			aggregate_message_bytes(&request) + aggregate_seal_bytes(&seal))
			aggregate_seal_reply(&seal, payload, frame->payload_length);
		if (outcome.entry->marked)
			answer_mark(mbuf, frame);
		send_back(app, lcore, in, mbuf, frame);
		break;
	case AGGREGATE_SEND_RESULT:
		if (!result_fits_request(&request, &outcome)) {
			result_send_separately(app, lcore, &request, &outcome, &seal, &sender);
			take_up(lcore, mbuf, TAKEN_AGGREGATE_REPEATED);
			break;
		}
		if (outcome.entry->marked)
			answer_mark(mbuf, frame);
		/* fallthrough */
	case AGGREGATE_SEND_REPLY:
		length = aggregate_write_reply(payload, frame->payload_length, &outcome);
		aggregate_seal_reply(&seal, payload, length);
		if (unlikely(length < frame->payload_length))
			answer_cut_udp(mbuf, frame, (uint16_t)length);
		send_back(app, lcore, in, mbuf, frame);
		break;
	}
}

/* There is no aggregation: refuse the request. */
static void
refuse(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf *mbuf,
	const struct frame *frame, uint8_t *payload)
{
	struct aggregate_message request;
	int code = aggregate_parse_request(payload, frame->payload_length, &request);

	if (code == AGGREGATE_NOT_OURS) {
		drop(lcore, mbuf, DROP_NO_SERVICE);
		return;
	}
	if (code == 0)
		aggregate_refuse(payload, frame->payload_length, AGGREGATE_STATUS_CODE,
			AGGREGATE_REASON_OFF);
	else
		aggregate_refuse(payload, frame->payload_length, (uint8_t)code, 0);
	send_back(app, lcore, in, mbuf, frame);
}

/* The payload in one piece, its checksum verified; NULL if it is damaged. */
static uint8_t *
sound_payload(struct rte_mbuf *mbuf, const struct frame *frame, checksum_fn *checksum)
{
	uint32_t offset = frame_payload_offset(frame);

	if (mbuf_bytes(mbuf, 0, offset + frame->payload_length) == NULL &&
		rte_pktmbuf_linearize(mbuf) != 0)
		return NULL;
	if (!answer_verify_udp(mbuf, frame, checksum))
		return NULL;
	return rte_pktmbuf_mtod_offset(mbuf, uint8_t *, offset);
}

/* Hand a packet over to the lcore of its shard, which processes it from the start. */
static void
hand_over(struct lcore *lcore, struct shard *shard, unsigned int in, struct rte_mbuf *mbuf)
{
	mbuf->hash.usr = in;
	if (unlikely(rte_ring_enqueue(shard->inbox, mbuf) != 0))
		drop(lcore, mbuf, DROP_AGGREGATE_INBOX);
	else
		sleep_wake(shard->sleeper);
}

void
aggregate_receive(struct app *app, struct lcore *lcore, unsigned int in, struct rte_mbuf *mbuf,
	const struct frame *frame)
{
	struct aggregation *aggregation = app->aggregation;
	struct shard *shard = NULL;
	uint8_t *payload;

	if (aggregation != NULL) {
		shard = &aggregation->shard[frame->udp_port - aggregation->port];
		if (shard != lcore->shard) {
			hand_over(lcore, shard, in, mbuf);
			return;
		}
	}
	payload = sound_payload(mbuf, frame, app->port[in].endpoint.checksum);
	if (payload == NULL)
		drop(lcore, mbuf, DROP_MALFORMED);
	else if (shard != NULL)
		process_request(app, lcore, in, mbuf, frame, payload);
	else
		refuse(app, lcore, in, mbuf, frame, payload);
}

unsigned int
aggregate_poll(struct app *app, struct lcore *lcore)
{
	struct shard *shard = lcore->shard;
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	unsigned int count =
		rte_ring_dequeue_burst(shard->inbox, (void **)mbufs, PIPELINE_BURST, NULL);

	for (unsigned int i = 0; i < count; i++) {
		struct frame frame;

		if (i + 1 < count)
			aggregate_prefetch(mbufs[i + 1]);
		frame_parse(mbufs[i], &frame);
		aggregate_receive(app, lcore, mbufs[i]->hash.usr, mbufs[i], &frame);
	}
	if (count > 0) {
		shard->handed_over += count;
		transmit_flush(app, lcore);
	}
	aggregate_shard_quiescent(shard->state);
	return count;
}

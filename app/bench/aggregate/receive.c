/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "aggregate/team.h"

/* What the switch has to grant: exact sums fill packets, also where values do not. */
static uint32_t
least_bytes(const struct aggregate_options *options)
{
	return options->behind != 0 ? (uint32_t)options->bytes
				    : bench_aggregate_value_bytes(options);
}

static void
enter(struct team *team, const struct aggregate_message *message)
{
	if (team->keys != NULL && team->session != aggregate_granted_session(message))
		worker_keys_set_session(
			team->keys, message->job, aggregate_granted_session(message));
	team->session = aggregate_granted_session(message);
	team->slots = message->join.slots;
	team->shards = message->join.shards;
	if (message->join.bytes < least_bytes(&team->options->aggregate))
		team->failure = "the switch grants smaller chunks; give bytes=N, as its own";
}

/* An answer to a join or a leave. */
static void
take_short(struct team *team, struct team_worker *worker, const struct aggregate_message *message,
	uint64_t now)
{
	const struct aggregate_member_times times = team_times();
	const enum aggregate_member_action action =
		aggregate_member_take(&worker->member, &times, message, now);

	team->counters.answers++;
	if (action == AGGREGATE_DO_ENTER)
		enter(team, message);
	else if (action == AGGREGATE_DO_GIVE_UP)
		team->fatal_reason = worker->member.refused;
}

static void
take_refusal(struct team *team, const struct aggregate_message *message)
{
	team->counters.refused++;
	if (message->code != AGGREGATE_STATUS_CODE)
		team->counters.refused_code[message->code]++;
	else
		team->counters.refused_reason[message->reason]++;
	/* The other job is that of a bad packet. */
	if (message->code == AGGREGATE_STATUS_CODE &&
		message->job == team->options->aggregate.job &&
		message->reason == AGGREGATE_REASON_NO_JOB)
		team->fatal_reason = message->reason;
}

/* The worker's own request as a reply: with source and destination swapped. */
static bool
is_for(const struct team *team, const struct team_worker *worker, const struct worker_reply *reply)
{
	uint32_t shard = aggregate_shard_of(reply->message.id, team->slots, team->shards);

	return reply->sound && reply->ip6 == worker->flow.ip6 &&
		reply->dst_udp == worker->flow.src_udp &&
		reply->src_udp == team->options->aggregate.port + shard &&
		memcmp(reply->dst_ip, worker->flow.src_ip, flow_address_bytes(&worker->flow)) == 0;
}

static void
note_mismatch(struct team *team, const struct aggregate_message *message)
{
	const struct chunk *chunk = chunks_of(&team->chunks, message->id);
	struct team_mismatch *mismatch = &team->mismatch;

	if (mismatch->any)
		return;
	*mismatch = (struct team_mismatch){
		.any = true,
		.chunk = message->id,
		.worker = message->worker,
		.format = chunk->format,
		.op = chunk->op,
	};
	if (message->format != chunk->format || message->count != chunk->count ||
		message->values == NULL)
		return;
	for (uint32_t lane = 0; lane < chunk->count; lane++) {
		const unsigned int format = aggregate_results_format(chunk->format);
		uint64_t expected = data_get(format, chunk->result, lane);
		uint64_t got = data_get(format, message->values, lane);

		if (expected == got)
			continue;
		mismatch->has_lane = true;
		mismatch->lane = lane;
		mismatch->expected = expected;
		mismatch->got = got;
		return;
	}
}

static bool
is_right(
	const struct team *team, const struct team_worker *worker, const struct worker_reply *reply)
{
	const struct aggregate_message *message = &reply->message;
	const struct chunk *chunk = chunks_of(&team->chunks, message->id);

	return is_for(team, worker, reply) && message->session == team->session &&
		chunk_is_right(chunk, message);
}

/* All workers have the result of every chunk up to where the slowest is. */
static void
take_result(struct team *team, struct team_worker *worker, const struct worker_reply *reply,
	uint64_t now)
{
	const struct aggregate_message *message = &reply->message;
	struct team_slot *slot = &worker->slots[message->id & (team->slots - 1)];
	struct team_counters *counters = &team->counters;
	bool right = message->id < worker->next && is_right(team, worker, reply);

	if (!right) {
		counters->wrong++;
		note_mismatch(team, message);
	}
	if (!slot->waiting || slot->chunk != message->id) {
		counters->repeated++;
		return;
	}
	slot->waiting = false;
	worker->waiting--;
	counters->results++;
	counters->right += right;
	if (right)
		counters->values += message->count;
	histogram_add(&team->latency, now - slot->first_sent);
	team->last_result = now;
}

static void
take_packet(struct team *team, struct rte_mbuf *mbuf, uint64_t now)
{
	struct team_worker *worker;
	struct worker_reply reply;

	if (rte_pktmbuf_linearize(mbuf) != 0 || !worker_packet_read(mbuf, team->keys, &reply)) {
		team->counters.others++;
		return;
	}
	if (!worker_keys_verify(team->keys, &reply)) {
		team->counters.forged++;
		return;
	}
	/* Bad packets have no worker of ours, or another job. */
	if (reply.message.worker >= team->count ||
		reply.message.job != team->options->aggregate.job) {
		if (reply.message.code != 0)
			take_refusal(team, &reply.message);
		else
			team->counters.others++;
		return;
	}
	worker = &team->workers[reply.message.worker];
	if (reply.message.op == AGGREGATE_JOIN || reply.message.op == AGGREGATE_LEAVE)
		take_short(team, worker, &reply.message, now);
	else if (reply.message.code != 0)
		take_refusal(team, &reply.message);
	else
		take_result(team, worker, &reply, now);
}

unsigned int
team_receive(struct team *team, uint64_t now)
{
	struct rte_mbuf *mbufs[BENCH_BURST], *out[2];
	struct bench *bench = team->bench;
	uint16_t count = rte_eth_rx_burst(bench->rx_port, bench->rx_queue, mbufs, BENCH_BURST);

	bench->rx_queue = bench_next_queue(bench, bench->rx_queue);
	team->counters.received += count;
	if (count == 0) {
		mbufs[0] = impair_release(&team->inward);
		if (mbufs[0] != NULL) {
			take_packet(team, mbufs[0], now);
			rte_pktmbuf_free(mbufs[0]);
		}
		return mbufs[0] != NULL;
	}
	for (uint16_t i = 0; i < count; i++) {
		unsigned int through = impair_packet(&team->inward, mbufs[i], out);

		for (unsigned int o = 0; o < through; o++) {
			take_packet(team, out[o], now);
			rte_pktmbuf_free(out[o]);
		}
	}
	return count;
}

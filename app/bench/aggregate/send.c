/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "aggregate/team.h"

/* A message of a worker, except for what depends on its kind. */
static struct aggregate_message
message_of(const struct team *team, unsigned int worker, uint8_t op, uint32_t id)
{
	const struct aggregate_options *options = &team->options->aggregate;

	return (struct aggregate_message){
		.op = op,
		.worker = (uint8_t)worker,
		.job = (uint16_t)options->job,
		.id = id,
		.session = team->session,
	};
}

static struct rte_mbuf *
allocate(struct team *team)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(team->bench->pool);

	team->counters.no_buffer += mbuf == NULL;
	return mbuf;
}

/* Of the port, for the packets of a shard. */
static uint16_t
queue_for(const struct team *team, uint32_t shard)
{
	uint32_t other = team->options->aggregate.queue == QUEUE_OF_OTHER;

	return (uint16_t)((shard + other) % team->bench->port[0].queues);
}

/* Onto the link that loses packets. */
static void
enqueue(struct team *team, struct rte_mbuf *mbuf, uint16_t queue)
{
	mbuf->hash.usr = queue;
	team->unsent_count +=
		impair_packet(&team->outward, mbuf, team->unsent + team->unsent_count);
}

static struct flow
flow_to(const struct team *team, unsigned int worker, uint32_t shard)
{
	struct flow flow = team->workers[worker].flow;

	flow.dst_udp = (uint16_t)(team->options->aggregate.port + shard);
	return flow;
}

/* A worker asks for what the options say. */
static void
complete(const struct team *team, struct aggregate_join *join)
{
	const struct aggregate_options *options = &team->options->aggregate;

	join->workers = (uint8_t)team->count;
	join->slots = (uint16_t)options->slots;
	join->bytes = (uint16_t)options->bytes;
	join->least =
		options->parent.version != 0 ? (uint16_t)bench_aggregate_value_bytes(options) : 0;
	join->place = options->place;
	if (options->place.levels != 0 || options->behind != 0) {
		join->place.workers = team->all;
		join->place.below = options->behind != 0 ? (uint32_t)options->behind : 1;
	}
}

void
team_send_short(struct team *team, unsigned int w, uint64_t now)
{
	const struct aggregate_member_times times = team_times();
	const struct flow flow = flow_to(team, w, 0);
	struct aggregate_member *member = &team->workers[w].member;
	struct aggregate_message message;
	struct rte_mbuf *mbuf;

	if (now < aggregate_member_due(member, &times, 0))
		return;
	mbuf = allocate(team);
	if (mbuf == NULL)
		return;
	if (aggregate_member_poll(member, &times, 0, now, &message) != AGGREGATE_DO_SEND) {
		rte_pktmbuf_free(mbuf);
		return;
	}
	if (message.op == AGGREGATE_JOIN) {
		complete(team, &message.join);
		team->counters.joins++;
	} else {
		team->counters.leaves++;
	}
	worker_packet_write_short(mbuf, &flow, &message, worker_keys_of(team->keys, message.op));
	enqueue(team, mbuf, queue_for(team, 0));
}

/* A chunk's packet as it has to be, and where it goes. */
struct chunk_request {
	uint16_t queue;
	struct flow flow;
	struct aggregate_message message;
	struct worker_body body;
};

static struct chunk_request
request_of(const struct team *team, unsigned int worker, uint32_t number)
{
	const unsigned int w = team->first + worker;

	const struct chunk *chunk = chunks_of(&team->chunks, number);
	const uint32_t shard = aggregate_shard_of(number, team->slots, team->shards);
	struct chunk_request request = {
		.queue = queue_for(team, shard),
		.flow = flow_to(team, worker, shard),
		.message = message_of(team, worker, chunk->op, number),
		.body = {.bytes = chunk_values(chunk, w),
			.length = chunk_sent_bytes(chunk, w),
			.key = worker_keys_of(team->keys, chunk->op)},
	};

	if (request.body.length > 0)
		request.body.sum = chunk->sums[w];
	request.message.format = chunk->format;
	request.message.owner = chunk->owner;
	request.message.count = chunk->count;
	return request;
}

static bool
send_packet(struct team *team, const struct chunk_request *request)
{
	struct rte_mbuf *mbuf = allocate(team);

	if (mbuf == NULL)
		return false;
	worker_packet_write(mbuf, &request->flow, &request->message, &request->body);
	enqueue(team, mbuf, request->queue);
	return true;
}

/* Exact sums that are not sent for lack of buffers are sent with the next repetition. */
static bool
send_chunk(struct team *team, unsigned int worker, uint32_t number)
{
	struct chunk_request request = request_of(team, worker, number);
	struct exact_sums_parts parts = {0};

	if (team->sums.parts != NULL) {
		parts = exact_sums_of(&team->sums, number, worker);
		request.message.part.parts = parts.count;
		exact_sums_body(&parts, 0, &request.body);
	}
	if (!send_packet(team, &request))
		return false;
	for (unsigned int part = 1; part < parts.count; part++) {
		exact_sums_body(&parts, part, &request.body);
		team->counters.parts += send_packet(team, &request);
	}
	return true;
}

/* Identical to the worker's next packet except for one thing. */
static bool
send_bad(struct team *team, unsigned int worker)
{
	enum bad_packet kind = (enum bad_packet)(team->turn % BAD_PACKETS);
	struct chunk_request request = request_of(team, worker, team->workers[worker].next);
	struct rte_mbuf *mbuf = allocate(team);

	if (mbuf == NULL)
		return false;
	bad_packet_write(kind, mbuf, &request.flow, &request.message, &request.body);
	team->turn++;
	team->counters.bad++;
	team->counters.bad_of[kind]++;
	mbuf->hash.usr = request.queue;
	/* Not over the bad link: each of them is to arrive. */
	team->unsent[team->unsent_count++] = mbuf;
	return true;
}

static struct team_slot *
slot_of(const struct team *team, const struct team_worker *worker, uint32_t chunk)
{
	return &worker->slots[chunk & (team->slots - 1)];
}

/* A chunk goes only when the result of the one before it in its slot has come. */
static bool
send_next(struct team *team, unsigned int w, uint64_t now)
{
	struct team_worker *worker = &team->workers[w];
	struct team_slot *slot = slot_of(team, worker, worker->next);

	if (worker->next >= team->end || slot->waiting || !send_chunk(team, w, worker->next))
		return false;
	*slot = (struct team_slot){worker->next, true, now, now};
	worker->next++;
	worker->waiting++;
	team->counters.requests++;
	team->flood_due += team->options->aggregate.flood / 100;
	return true;
}

/* Workers are not at the same pace: who is next to send, and how much, is drawn. */
unsigned int
team_send_chunks(struct team *team, uint64_t now)
{
	unsigned int sent = 0, first = (unsigned int)(next_random(&team->seed) % team->count);

	for (unsigned int turn = 0; turn < team->count; turn++) {
		unsigned int w = (first + turn) % team->count;
		uint64_t most = 1 + next_random(&team->seed) % BENCH_BURST;

		/* First what is due: good packets wait for results, bad ones for nothing. */
		while (team->flood_due >= 1 && team_can_send(team) && send_bad(team, w)) {
			team->flood_due--;
			sent++;
		}
		while (most-- > 0 && team_can_send(team) && send_next(team, w, now))
			sent++;
	}
	return sent;
}

unsigned int
team_send_again(struct team *team, uint64_t now)
{
	unsigned int sent = 0;

	for (unsigned int w = 0; w < team->count; w++) {
		const struct team_worker *worker = &team->workers[w];

		for (uint32_t s = 0; worker->waiting > 0 && s < team->slots; s++) {
			struct team_slot *slot = &worker->slots[s];

			if (!slot->waiting || now - slot->latest_sent < team->retry)
				continue;
			if (!team_can_send(team) || !send_chunk(team, w, slot->chunk))
				return sent;
			slot->latest_sent = now;
			team->counters.retries++;
			sent++;
		}
	}
	return sent;
}

/* As many as the port takes of the packets from one on that are for the same queue. */
static unsigned int
flush_queue(struct team *team, unsigned int first, unsigned int *count)
{
	struct rte_mbuf **mbufs = team->unsent + first;
	unsigned int left = team->unsent_count - first;
	uint16_t queue = (uint16_t)mbufs[0]->hash.usr;

	for (*count = 1; *count < left && mbufs[*count]->hash.usr == queue;)
		++*count;
	return rte_eth_tx_burst(team->bench->tx_port, queue, mbufs, (uint16_t)*count);
}

unsigned int
team_flush(struct team *team)
{
	struct rte_mbuf *held = team->unsent_count == 0 ? impair_release(&team->outward) : NULL;
	unsigned int sent = 0, count, taken;

	if (held != NULL)
		team->unsent[team->unsent_count++] = held;
	do {
		if (sent == team->unsent_count)
			break;
		taken = flush_queue(team, sent, &count);
		sent += taken;
	} while (taken == count);
	team->counters.sent += sent;
	team->unsent_count -= sent;
	memmove(team->unsent, team->unsent + sent, team->unsent_count * sizeof(team->unsent[0]));
	return sent;
}

static uint64_t
abandon_held(struct impair *impair)
{
	struct rte_mbuf *mbuf;
	uint64_t count = 0;

	while ((mbuf = impair_release(impair)) != NULL) {
		rte_pktmbuf_free(mbuf);
		count++;
	}
	return count;
}

void
team_abandon(struct team *team)
{
	rte_pktmbuf_free_bulk(team->unsent, team->unsent_count);
	team->abandoned_out = team->unsent_count + abandon_held(&team->outward);
	team->abandoned_in = abandon_held(&team->inward);
	team->unsent_count = 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "exact.h"
#include "tree.h"

#define MAX_EVENTS 20000
#define NO_CHUNK UINT32_MAX
#define AGAIN 40 /* ticks until a worker sends again */
#define PACKET_BYTES (AGGREGATE_HEADER_BYTES + TREE_BYTES + 64)

/* A packet that is on its way. */
struct tree_event {
	uint64_t time;
	unsigned int from, to; /* host: switches, then workers */
	uint16_t from_port, to_port;
	size_t length;
	uint8_t bytes[PACKET_BYTES];
};

struct tree *
tree_new(uint64_t seed)
{
	struct tree *tree = allocate(sizeof(*tree));

	tree->seed = seed;
	tree->now = 1000;
	tree->slots = 4;
	tree->chunk = allocate(TREE_MAX_CHUNKS * sizeof(*tree->chunk));
	tree->events = allocate(MAX_EVENTS * sizeof(*tree->events));
	tree->actions = allocate(AGGREGATE_ACTION_COUNT * sizeof(*tree->actions));
	return tree;
}

void
tree_free(struct tree *tree)
{
	for (unsigned int s = 0; s < tree->switches; s++)
		free(tree->sw[s].table);
	free(tree->chunk);
	free(tree->events);
	free(tree->actions);
	aggregate_secret_free(tree->secret);
	free(tree);
}

unsigned int
tree_add_switch(struct tree *tree, unsigned int parent, uint32_t shards)
{
	struct tree_switch *sw = &tree->sw[tree->switches];

	sw->parent = parent;
	sw->limits = (struct aggregate_limits){.shards = shards,
		.jobs = 4,
		.slots = 16,
		.workers = AGGREGATE_MAX_WORKERS,
		.bytes = TREE_BYTES,
		.formats = AGGREGATE_ALL_FORMATS,
		.digits = AGGREGATE_ALL_FORMATS,
		.isa = aggregate_isa_best(),
		.per_address = 4,
		.idle = 20000,
		.half_open = 3000,
		.stall = 2000,
		.cookie_period = 100000,
		.key = {(uint8_t)tree->switches, 1, 2}};
	if (tree->switches != 0) {
		sw->index = tree->sw[parent].members++;
		sw->level = tree->sw[parent].level + 1;
		sw->limits.parent = (struct aggregate_parent){.address = {[15] = (uint8_t)parent},
			.port = TREE_PORT,
			.retry = 50,
			.repeat = 20};
	}
	return tree->switches++;
}

void
tree_add_worker(struct tree *tree, unsigned int at)
{
	struct tree_worker *worker = &tree->worker[tree->workers++];

	worker->at = at;
	worker->incarnation = UINT64_MAX - tree->workers;
	worker->index = tree->sw[at].members++;
}

void
tree_seal(struct tree *tree)
{
	tree->secret = aggregate_secret_create((const uint8_t *)"a cluster's key has 32 bytes....");
	for (unsigned int s = 0; s < tree->switches; s++)
		tree->sw[s].limits.secret = tree->secret;
}

static void
make_table(struct tree_switch *sw)
{
	sw->table = allocate(aggregate_table_bytes(&sw->limits));
	aggregate_table_init(sw->table, &sw->limits);
}

void
tree_start(struct tree *tree)
{
	for (unsigned int s = 0; s < tree->switches; s++)
		make_table(&tree->sw[s]);
}

void
tree_restart(struct tree *tree, unsigned int number)
{
	struct tree_switch *sw = &tree->sw[number];

	free(sw->table);
	sw->limits.key[5]++;
	make_table(sw);
}

struct aggregate_place
tree_place(const struct tree *tree, unsigned int worker)
{
	const struct tree_switch *sw = &tree->sw[tree->worker[worker].at];
	struct aggregate_place place = {
		.levels = (uint8_t)sw->level, .workers = tree->workers, .below = 1};

	for (unsigned int l = 0; l < place.levels; l++) {
		const struct tree_switch *parent = &tree->sw[sw->parent];

		place.level[l] =
			(struct aggregate_level){(uint8_t)parent->members, (uint8_t)sw->index};
		sw = parent;
	}
	if (place.levels == 0 && tree->switches == 1)
		place.workers = 0;
	return place;
}

static struct aggregate_sender
sender_of(unsigned int host, uint16_t port)
{
	return (struct aggregate_sender){.address = {[15] = (uint8_t)host}, .port = port};
}

static void
put_on_its_way(struct tree *tree, const struct tree_event *packet)
{
	struct tree_event *event;

	if (tree->queued == MAX_EVENTS || next_random(&tree->seed) % 100 < tree->network.loss)
		return;
	event = &tree->events[tree->queued++];
	*event = *packet;
	event->time = tree->now + 1 +
		(tree->network.disorder == 0 ? 0
					     : next_random(&tree->seed) % tree->network.disorder);
}

static void
transmit(struct tree *tree, unsigned int from, uint16_t from_port, unsigned int to,
	uint16_t to_port, const uint8_t *bytes, size_t length)
{
	struct tree_event packet = {.from = from,
		.to = to,
		.from_port = from_port,
		.to_port = to_port,
		.length = length};

	memcpy(packet.bytes, bytes, length);
	put_on_its_way(tree, &packet);
	if (next_random(&tree->seed) % 100 < tree->network.twice)
		put_on_its_way(tree, &packet);
}

/* The switch. */

static void
send_results(struct tree *tree, unsigned int s, struct aggregate_shard *shard, uint16_t port,
	const struct aggregate_message *request, const struct aggregate_outcome *outcome,
	const struct aggregate_seal *seal)
{
	const size_t tag = aggregate_seal_bytes(seal);
	uint8_t packet[PACKET_BYTES];

	for (uint8_t w = 0; w < outcome->workers; w++) {
		const struct aggregate_sender *to =
			aggregate_worker_sender(shard, outcome->index, w);
		uint32_t bytes = aggregate_result_bytes(outcome->entry, w);

		aggregate_build_result(packet, request, w,
			(uint8_t)aggregate_result_kind(outcome->entry, w), outcome->entry->flags,
			outcome->entry->result, bytes);
		aggregate_seal_reply(seal, packet, AGGREGATE_HEADER_BYTES + bytes + tag);
		transmit(tree, s, port, to->address[15], outcome->entry->ports[w], packet,
			AGGREGATE_HEADER_BYTES + bytes + tag);
	}
}

static void
send_upwards(struct tree *tree, unsigned int s, struct aggregate_shard *shard, uint16_t port,
	const struct aggregate_outcome *outcome)
{
	unsigned int packets = aggregate_leaf_packets(shard, outcome);
	uint8_t packet[PACKET_BYTES];

	if (packets == 0)
		abort();
	for (unsigned int p = 0; p < packets; p++) {
		size_t length = aggregate_leaf_write(shard, outcome, p, packet);

		if (length > AGGREGATE_HEADER_BYTES + TREE_BYTES +
				(tree->secret == NULL ? 0 : AGGREGATE_TAG_BYTES))
			abort();
		transmit(tree, s, port, tree->sw[s].parent, aggregate_leaf_port(shard, outcome),
			packet, length);
	}
}

static void
act(struct tree *tree, struct tree_event *event, struct aggregate_shard *shard,
	const struct aggregate_message *request, const struct aggregate_outcome *outcome,
	const struct aggregate_seal *seal)
{
	size_t length = event->length;

	tree->actions[outcome->action]++;
	switch (aggregate_action_send(outcome->action)) {
	case AGGREGATE_SEND_NOTHING:
		break;
	case AGGREGATE_SEND_REPLY:
	case AGGREGATE_SEND_RESULT:
		length = aggregate_write_reply(event->bytes, length, outcome);
		aggregate_seal_reply(seal, event->bytes, length);
		transmit(tree, event->to, event->to_port, event->from, event->from_port,
			event->bytes, length);
		break;
	case AGGREGATE_SEND_RESULTS:
		send_results(tree, event->to, shard, event->to_port, request, outcome, seal);
		break;
	case AGGREGATE_SEND_UPWARDS:
		send_upwards(tree, event->to, shard, event->to_port, outcome);
		break;
	}
}

static void
arrive_at_switch(struct tree *tree, struct tree_event *event)
{
	struct tree_switch *sw = &tree->sw[event->to];
	const struct aggregate_sender sender = sender_of(event->from, event->from_port);
	struct aggregate_shard *shard;
	struct aggregate_outcome outcome;
	struct aggregate_message message;
	struct aggregate_seal seal;
	int code;

	if (sw->dead || event->to_port < TREE_PORT ||
		event->to_port >= TREE_PORT + sw->limits.shards)
		return;
	shard = aggregate_table_shard(sw->table, event->to_port - TREE_PORT);
	code = aggregate_shard_read(shard, event->bytes, event->length, &message, &seal);
	if (code == 0) {
		aggregate_shard_packet(shard, &message, &sender, tree->now, &outcome);
	} else if (code == AGGREGATE_NOT_OURS &&
		aggregate_leaf_read(shard, event->bytes, event->length, &message) == 0) {
		aggregate_leaf_reply(shard, &message, &sender, tree->now, &outcome);
		if (aggregate_action_send(outcome.action) == AGGREGATE_SEND_RESULTS)
			aggregate_leaf_seal(shard, &outcome, &seal);
	} else {
		tree->wrong++; /* nobody forges anything, and all are of one version */
		return;
	}
	act(tree, event, shard, &message, &outcome, &seal);
}

static void
poll_switch(struct tree *tree, unsigned int s)
{
	struct tree_switch *sw = &tree->sw[s];
	struct aggregate_message message;
	uint8_t packet[PACKET_BYTES];

	if (sw->dead)
		return;
	for (uint32_t shard = 0; shard < sw->limits.shards; shard++)
		aggregate_shard_quiescent(aggregate_table_shard(sw->table, shard));
	aggregate_table_poll(sw->table, tree->now);
	while (aggregate_leaf_poll(aggregate_table_shard(sw->table, 0), tree->now, &message)) {
		size_t length =
			aggregate_leaf_build(aggregate_table_shard(sw->table, 0), &message, packet);

		transmit(tree, s, TREE_PORT, sw->parent, TREE_PORT, packet, length);
	}
}

/* The worker. */

static struct aggregate_message
message_of(const struct tree_worker *worker, unsigned int op, uint32_t id)
{
	return (struct aggregate_message){.op = (uint8_t)op,
		.worker = (uint8_t)worker->index,
		.job = TREE_JOB,
		.id = id,
		.session = worker->session};
}

static void
make_key(const struct tree *tree, const struct aggregate_message *message,
	enum aggregate_direction direction, struct aggregate_tag_key *key)
{
	if (message->op == AGGREGATE_JOIN)
		aggregate_tag_join_key(tree->secret, direction, key);
	else
		aggregate_tag_session_key(tree->secret, TREE_JOB, message->session, direction, key);
}

static void
send_to_switch(struct tree *tree, unsigned int w, uint32_t shard,
	const struct aggregate_message *message, uint8_t *packet)
{
	size_t length = aggregate_message_bytes(message);
	struct aggregate_tag_key key;

	aggregate_build_request(packet, message);
	if (tree->secret != NULL) {
		make_key(tree, message, AGGREGATE_TO_SWITCH, &key);
		aggregate_tag_make(&key, packet, length, 0);
		length += AGGREGATE_TAG_BYTES;
	}
	transmit(tree, TREE_WORKERS_HOST + w, (uint16_t)(TREE_WORKER_PORT + tree->worker[w].port),
		tree->worker[w].at, (uint16_t)(TREE_PORT + shard), packet, length);
}

static void
send_join(struct tree *tree, unsigned int w)
{
	struct tree_worker *worker = &tree->worker[w];
	struct aggregate_message message = message_of(worker, AGGREGATE_JOIN, ++worker->id);
	uint8_t packet[PACKET_BYTES];

	message.token = TREE_TOKEN;
	message.join = (struct aggregate_join){.workers = (uint8_t)tree->sw[worker->at].members,
		.slots = tree->slots,
		.bytes = TREE_BYTES,
		.cookie = worker->cookie,
		.features = worker->asks_for_zeros ? AGGREGATE_FEATURE_ZEROS : 0,
		.incarnation = worker->incarnation,
		.place = tree_place(tree, w)};
	worker->next_join = tree->now + AGAIN;
	send_to_switch(tree, w, 0, &message, packet);
}

void
tree_leave(struct tree *tree, unsigned int w, uint8_t reason)
{
	struct tree_worker *worker = &tree->worker[w];
	struct aggregate_message message = message_of(worker, AGGREGATE_LEAVE, ++worker->id);
	uint8_t packet[PACKET_BYTES];

	message.reason = reason;
	worker->over = true;
	send_to_switch(tree, w, 0, &message, packet);
}

static bool
is_zero(const struct tree_chunk *chunk, unsigned int w)
{
	for (uint32_t lane = 0; lane < chunk->count; lane++)
		if (chunk->values[lane][w] != 0)
			return false;
	return chunk->count != 0;
}

static void
send_chunk(struct tree *tree, unsigned int w, uint32_t slot)
{
	struct tree_worker *worker = &tree->worker[w];
	const uint32_t c = worker->next[slot];
	const struct tree_chunk *chunk = &tree->chunk[c];
	struct aggregate_message message = message_of(worker, chunk->op, c);
	uint8_t packet[PACKET_BYTES];

	message.format = (uint8_t)chunk->format;
	message.count = chunk->count;
	message.values = packet + AGGREGATE_HEADER_BYTES;
	for (uint32_t lane = 0; lane < chunk->count; lane++)
		data_put(chunk->format, packet + AGGREGATE_HEADER_BYTES, lane,
			chunk->values[lane][w]);
	message.zeros = worker->knows_zeros && is_zero(chunk, w);
	worker->again[slot] = tree->now + AGAIN + next_random(&tree->seed) % AGAIN;
	send_to_switch(
		tree, w, aggregate_shard_of(c, worker->slots, worker->shards), &message, packet);
}

static void
take_join_reply(struct tree *tree, unsigned int w, const struct aggregate_message *reply)
{
	struct tree_worker *worker = &tree->worker[w];

	if (worker->joined || reply->id != worker->id)
		return;
	worker->reason = reply->code == 0 ? 0 : reply->reason;
	worker->decided = reply->join.place.decided;
	if (worker->reason == AGGREGATE_REASON_COOKIE) {
		worker->cookie = reply->join.cookie;
		send_join(tree, w);
	}
	if (reply->code != 0)
		return;
	worker->joined = true;
	worker->session = aggregate_granted_session(reply);
	worker->slots = reply->join.slots;
	worker->shards = reply->join.shards;
	worker->knows_zeros = (reply->join.features & AGGREGATE_FEATURE_ZEROS) != 0;
	for (uint32_t slot = 0; slot < worker->slots; slot++) {
		worker->next[slot] = slot < tree->chunks ? slot : NO_CHUNK;
		worker->again[slot] = 0;
	}
}

/* Rounded once, whatever the tree. */
static void
expect(struct tree_chunk *chunk, unsigned int workers)
{
	for (uint32_t lane = 0; lane < chunk->count && chunk->op != AGGREGATE_COPY; lane++) {
		struct oracle_result result =
			oracle_reduce(chunk->op, chunk->format, chunk->values[lane], workers);

		chunk->flags |= result.flags;
		chunk->expected[lane] = result.bits;
	}
	chunk->known = true;
}

/* What has no values is all zeros, and all zeros have no values, if all know that. */
static void
check_zeros(struct tree *tree, const struct tree_worker *worker, const struct tree_chunk *chunk,
	const struct aggregate_message *reply)
{
	bool zero = worker->knows_zeros && chunk->op != AGGREGATE_COPY && chunk->flags == 0;

	for (uint32_t lane = 0; lane < chunk->count && chunk->op != AGGREGATE_COPY; lane++)
		zero &= chunk->expected[lane] == 0;
	tree->wrong += zero != (reply->reason == AGGREGATE_ZEROS);
	tree->zeros += zero;
}

static void
check_result(struct tree *tree, const struct tree_worker *worker, uint32_t c,
	const struct aggregate_message *reply)
{
	struct tree_chunk *chunk = &tree->chunk[c];
	const unsigned int results = aggregate_results_format(chunk->format);

	if (!chunk->known)
		expect(chunk, tree->workers);
	check_zeros(tree, worker, chunk, reply);
	for (uint32_t lane = 0; lane < chunk->count && reply->values != NULL; lane++) {
		if (data_get(results, reply->values, lane) == chunk->expected[lane])
			continue;
		if (tree->wrong++ == 0)
			printf("# chunk %u, %s of %s, lane %u: %#lx, not %#lx\n", c,
				aggregate_op_name(chunk->op), aggregate_format_name(chunk->format),
				lane, (unsigned long)data_get(results, reply->values, lane),
				(unsigned long)chunk->expected[lane]);
	}
	tree->wrong += chunk->flags != reply->flags;
}

/* Whether it is one, and has a good tag if it has to have one. */
static bool
read_reply(const struct tree *tree, const struct tree_event *event, struct aggregate_message *reply)
{
	const size_t tag = tree->secret == NULL ? 0 : AGGREGATE_TAG_BYTES;
	struct aggregate_tag_key key;

	if (aggregate_parse_reply(event->bytes, event->length - tag, reply) != 0)
		return false;
	if (tree->secret == NULL)
		return true;
	make_key(tree, reply, AGGREGATE_TO_WORKERS, &key);
	return aggregate_tag_is_good(&key, event->bytes, event->length, 0);
}

static void
arrive_at_worker(struct tree *tree, const struct tree_event *event)
{
	const unsigned int w = event->to - TREE_WORKERS_HOST;
	struct tree_worker *worker = &tree->worker[w];
	struct aggregate_message reply;
	uint32_t slot;

	if (!read_reply(tree, event, &reply)) {
		tree->wrong++;
		return;
	}
	if (worker->over || reply.op == AGGREGATE_LEAVE)
		return;
	if (reply.op == AGGREGATE_JOIN) {
		take_join_reply(tree, w, &reply);
		return;
	}
	slot = reply.id & (worker->slots - 1u);
	if (!worker->joined || reply.session != worker->session || worker->next[slot] != reply.id)
		return;
	worker->reason = reply.code == 0 ? 0 : reply.reason;
	worker->absence = reply.absence;
	worker->level = reply.level;
	worker->detail = reply.detail;
	if (reply.code != 0)
		return;
	check_result(tree, worker, reply.id, &reply);
	worker->results++;
	worker->next[slot] += worker->slots;
	worker->again[slot] = 0;
	if (worker->next[slot] >= tree->chunks)
		worker->next[slot] = NO_CHUNK;
}

static void
poll_worker(struct tree *tree, unsigned int w)
{
	struct tree_worker *worker = &tree->worker[w];

	if (worker->over)
		return;
	if (!worker->joined) {
		if (tree->now >= worker->next_join)
			send_join(tree, w);
		return;
	}
	for (uint32_t slot = 0; slot < worker->slots; slot++)
		if (worker->next[slot] != NO_CHUNK && tree->now >= worker->again[slot])
			send_chunk(tree, w, slot);
}

/* All of it. */

static void
deliver(struct tree *tree)
{
	for (unsigned int e = 0; e < tree->queued;) {
		struct tree_event event = tree->events[e];

		if (event.time > tree->now) {
			e++;
			continue;
		}
		tree->events[e] = tree->events[--tree->queued];
		if (event.to >= TREE_WORKERS_HOST)
			arrive_at_worker(tree, &event);
		else
			arrive_at_switch(tree, &event);
	}
}

bool
tree_is_done(const struct tree *tree)
{
	for (unsigned int w = 0; w < tree->workers; w++)
		if (tree->worker[w].results != tree->chunks)
			return false;
	return true;
}

static void
tick(struct tree *tree)
{
	tree->now++;
	deliver(tree);
	for (unsigned int s = 0; s < tree->switches; s++)
		poll_switch(tree, s);
	for (unsigned int w = 0; w < tree->workers; w++)
		poll_worker(tree, w);
}

void
tree_run(struct tree *tree, uint64_t until)
{
	while (!tree_is_done(tree) && tree->now < until)
		tick(tree);
}

void
tree_pass(struct tree *tree, uint64_t until)
{
	while (tree->now < until)
		tick(tree);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tree of switches with thousands of workers, on links of a given rate, delay, loss and disorder:
 * real tables, real packets from switch to switch, and every result compared with the exact sum.
 * Prints a row of a table, see scripts/tree-simulation. Usage: aggregate_simulate FANS MEGABYTES
 * WORKER_GBITS SWITCH_GBITS LOSS_PERCENT; FANS: members of the root, of a switch below it and so
 * on, as 64x64.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate.h>

#include "block.h"
#include "exact.h"
#include "simulate.h"

#define FORMAT AGGREGATE_FP32
#define BYTES 1448u
#define LANES (BYTES / 4)
#define SLOTS 64u
#define PORT 20040
#define TOKEN 99
#define POOL 251 /* packets of values; a worker's is another one for each chunk */
#define MAX_LEVELS 4
#define GROUP 1024u /* workers that are added up at once */

/* Seconds: of a hop; of packets that overtake; until a worker, or a switch, sends again. */
#define DELAY 1e-6
#define DISORDER 5e-7
#define WORKER_AGAIN 100e-6
#define SWITCH_AGAIN 50e-6

#define TICKS 1e9 /* a second */

enum kind {
	AT_SWITCH_FROM_WORKER, /* node: switch; from: worker */
	AT_SWITCH,             /* node: switch; from: its member, a switch */
	AT_SWITCH_FROM_PARENT, /* node: switch */
	AT_WORKER,             /* node: worker */
	TIMER,                 /* node: worker */
};

struct node {
	struct aggregate_table *table;
	struct aggregate_limits limits;
	unsigned int level, parent, index, members, first; /* first: of its members */
	struct link up, down;                              /* to its parent, and back */
};

struct worker {
	unsigned int at, index;
	uint64_t session;
	struct link up, down;
	uint32_t wants[SLOTS]; /* the chunk, by slot */
	double sent[SLOTS];
};

static unsigned int fans[MAX_LEVELS], levels, nodes, workers;
static struct node *node;
static struct worker *worker;
static uint8_t pool[POOL][BYTES];
static uint8_t (*expected)[BYTES]; /* by chunk, as results are looked at */
static struct events events;
static uint32_t chunks;
static uint64_t seed = 1, finished;
static double worker_rate, switch_rate, loss, now, half_time;

static void
fail(const char *what)
{
	fprintf(stderr, "aggregate_simulate: %s\n", what);
	exit(1);
}

static uint64_t
ticks(void)
{
	return (uint64_t)(now * TICKS) + 1000000000;
}

/* Values. */

static const uint8_t *
values_of(uint32_t w, uint32_t chunk)
{
	return pool[(w * 7 + chunk * 13 + w / POOL) % POOL];
}

static void
fill_pool(void)
{
	uint64_t lane[AGGREGATE_MAX_WORKERS];

	for (unsigned int i = 0; i < LANES; i++)
		for (unsigned int p = 0; p < POOL; p++) {
			if (p % AGGREGATE_MAX_WORKERS == 0)
				data_fill(
					DATA_GRADIENTS, FORMAT, lane, AGGREGATE_MAX_WORKERS, &seed);
			data_put(FORMAT, pool[p], i, lane[p % AGGREGATE_MAX_WORKERS]);
		}
}

/* The exact sum of all workers' values, rounded once. */
static void
expect(uint32_t chunk)
{
	const size_t bytes = aggregate_totals_bytes(FORMAT, LANES);
	void *some_memory = allocate(bytes), *all_memory = allocate(bytes);
	struct aggregate_totals all = aggregate_totals_init(FORMAT, LANES, all_memory);
	uint8_t *packet = allocate(bytes);
	struct aggregate_part part;

	for (uint32_t first = 0; first < workers; first += GROUP) {
		struct aggregate_totals some = aggregate_totals_init(FORMAT, LANES, some_memory);
		size_t length;

		for (uint32_t w = first; w < workers && w < first + GROUP; w++)
			aggregate_totals_add_values(&some, values_of(w, chunk));
		length = aggregate_totals_write_part(&some, 0, LANES, 0, 1, packet, bytes);
		if (aggregate_part_read(packet, length, &part) != 0)
			fail("no part");
		aggregate_totals_add_part(&all, &part);
	}
	aggregate_totals_round(&all, AGGREGATE_SUM, workers, expected[chunk]);
	free(some_memory);
	free(all_memory);
	free(packet);
}

/* The tree. */

static struct link
link_of(double gbits)
{
	return (struct link){
		.rate = gbits * 1e9 / 8, .delay = DELAY, .disorder = DISORDER, .loss = loss};
}

static void
make_table(struct node *n, unsigned int number)
{
	n->limits = (struct aggregate_limits){.shards = 1,
		.jobs = 1,
		.slots = SLOTS,
		.workers = n->members,
		.bytes = BYTES,
		.formats = 1u << FORMAT,
		.digits = n->level + 1 < levels ? 1u << FORMAT : 0,
		.isa = aggregate_isa_best(),
		.per_address = 1,
		.idle = (uint64_t)(1000 * TICKS),
		.half_open = (uint64_t)(1000 * TICKS),
		.stall = (uint64_t)(1000 * TICKS),
		.cookie_period = (uint64_t)(1000 * TICKS),
		.key = {(uint8_t)number, (uint8_t)(number >> 8)}};
	if (number != 0)
		n->limits.parent = (struct aggregate_parent){
			.address = {[12] = (uint8_t)(n->parent >> 8), [13] = (uint8_t)n->parent},
			.port = PORT,
			.retry = 1,
			.repeat = (uint64_t)(SWITCH_AGAIN * TICKS)};
	n->table = allocate(aggregate_table_bytes(&n->limits));
	aggregate_table_init(n->table, &n->limits);
}

/* Level by level, from the root. */
static void
make_tree(void)
{
	unsigned int most = 1, at_level = 1, first = 0;

	for (unsigned int l = 0; l + 1 < levels; l++)
		most += at_level *= fans[l];
	workers = at_level * fans[levels - 1];
	node = allocate(most * sizeof(*node));
	worker = allocate(workers * sizeof(*worker));
	at_level = nodes = 1;
	for (unsigned int l = 0; l < levels; first += at_level, at_level *= fans[l++])
		for (unsigned int n = first; n < first + at_level; n++) {
			node[n].level = l;
			node[n].members = fans[l];
			node[n].first = l + 1 < levels ? nodes : (n - first) * fans[l];
			for (unsigned int m = 0; m < fans[l]; m++)
				if (l + 1 < levels)
					node[nodes++] = (struct node){.parent = n,
						.index = m,
						.up = link_of(switch_rate),
						.down = link_of(switch_rate)};
				else
					worker[node[n].first + m] = (struct worker){.at = n,
						.index = m,
						.up = link_of(worker_rate),
						.down = link_of(worker_rate)};
			make_table(&node[n], n);
		}
}

static struct aggregate_sender
switch_address(unsigned int number)
{
	return (struct aggregate_sender){
		.address = {[12] = (uint8_t)(number >> 8), [13] = (uint8_t)number}, .port = PORT};
}

static struct aggregate_sender
worker_address(unsigned int w)
{
	return (struct aggregate_sender){
		.address = {[10] = 1, [12] = (uint8_t)(w >> 8), [13] = (uint8_t)w}, .port = 5000};
}

static struct aggregate_shard *
shard_of(unsigned int number)
{
	return aggregate_table_shard(node[number].table, 0);
}

/* Joins, without links: what is measured begins afterwards. */

static void
relay_joins(void)
{
	struct aggregate_message message, reply;
	struct aggregate_outcome outcome;

	for (unsigned int n = nodes; n-- > 1;)
		while (aggregate_leaf_poll(shard_of(n), ticks(), &message)) {
			const struct aggregate_sender from = switch_address(n);
			const struct aggregate_sender parent = switch_address(node[n].parent);
			uint8_t bytes[128];
			size_t length = aggregate_leaf_build(shard_of(n), &message, bytes);

			if (aggregate_parse_request(bytes, length, &message) != 0)
				fail("a join is none");
			aggregate_shard_packet(
				shard_of(node[n].parent), &message, &from, ticks(), &outcome);
			length = aggregate_write_reply(bytes, length, &outcome);
			if (aggregate_leaf_read(shard_of(n), bytes, length, &reply) != 0)
				fail("a reply is none");
			aggregate_leaf_reply(shard_of(n), &reply, &parent, ticks(), &outcome);
		}
}

static struct aggregate_message
join_of(unsigned int w, uint64_t cookie)
{
	const struct node *n = &node[worker[w].at];
	struct aggregate_message message = {.op = AGGREGATE_JOIN,
		.job = 1,
		.worker = (uint8_t)worker[w].index,
		.token = TOKEN,
		.join = {.workers = (uint8_t)n->members,
			.slots = SLOTS,
			.bytes = BYTES,
			.cookie = cookie,
			.incarnation = 1,
			.place = {.workers = workers, .below = 1, .levels = (uint8_t)n->level}}};

	for (unsigned int l = 0; l < message.join.place.levels; l++, n = &node[n->parent])
		message.join.place.level[l] = (struct aggregate_level){
			(uint8_t)node[n->parent].members, (uint8_t)n->index};
	return message;
}

static bool
join(unsigned int w)
{
	const struct aggregate_sender from = worker_address(w);
	struct aggregate_outcome outcome = {.join.cookie = 0};
	struct aggregate_message message;

	for (unsigned int i = 0; i < 2; i++) {
		message = join_of(w, outcome.join.cookie);
		aggregate_shard_packet(shard_of(worker[w].at), &message, &from, ticks(), &outcome);
	}
	worker[w].session = outcome.join.session;
	return outcome.action == AGGREGATE_JOINED;
}

static void
join_all(void)
{
	unsigned int joined = 0;

	for (unsigned int again = 0; again < 20 && joined < workers; again++) {
		joined = 0;
		for (unsigned int w = 0; w < workers; w++)
			joined += join(w);
		now += 1e-3;
		relay_joins();
	}
	if (joined < workers)
		fail("not all can join");
}

/* Chunks. */

static void
travel(struct link *link, size_t payload, struct event event)
{
	event.time = link_send(link, now, payload + SIMULATE_FRAME_BYTES, &seed);
	if (event.time < 0)
		free(event.bytes);
	else
		events_add(&events, &event);
}

static void
send_chunk(unsigned int w, uint32_t slot)
{
	struct worker *from = &worker[w];

	from->sent[slot] = now;
	travel(&from->up, AGGREGATE_HEADER_BYTES + BYTES,
		(struct event){.kind = AT_SWITCH_FROM_WORKER,
			.node = from->at,
			.from = w,
			.chunk = from->wants[slot]});
	events_add(&events,
		&(struct event){.time = now + WORKER_AGAIN,
			.kind = TIMER,
			.node = w,
			.chunk = from->wants[slot]});
}

/* To a member: a switch gets the packet itself. */
static void
send_result(unsigned int number, unsigned int m, const struct aggregate_message *request,
	const struct aggregate_entry *entry)
{
	const size_t length = AGGREGATE_HEADER_BYTES + BYTES;
	struct node *n = &node[number];
	struct event event = {.node = n->first + m, .chunk = entry->chunk};

	if (n->level + 1 == levels) {
		event.kind = AT_WORKER;
		travel(&worker[event.node].down, length, event);
		return;
	}
	event.kind = AT_SWITCH_FROM_PARENT;
	event.from = number;
	event.length = (uint16_t)length;
	event.bytes = allocate(length);
	aggregate_build_result(event.bytes, request, (uint8_t)m, AGGREGATE_ROUNDED, entry->flags,
		entry->result, BYTES);
	travel(&node[event.node].down, length, event);
}

static void
send_results(unsigned int number, const struct aggregate_message *request,
	const struct aggregate_entry *entry)
{
	if (memcmp(entry->result, expected[entry->chunk], BYTES) != 0)
		fail("a result is wrong");
	for (unsigned int m = 0; m < node[number].members; m++)
		send_result(number, m, request, entry);
}

static void
send_up(unsigned int number, const struct aggregate_outcome *outcome)
{
	struct aggregate_shard *shard = shard_of(number);
	unsigned int packets = aggregate_leaf_packets(shard, outcome);

	for (unsigned int p = 0; p < packets; p++) {
		uint8_t *bytes = allocate(AGGREGATE_HEADER_BYTES + BYTES);
		size_t length = aggregate_leaf_write(shard, outcome, p, bytes);

		travel(&node[number].up, length,
			(struct event){.kind = AT_SWITCH,
				.node = node[number].parent,
				.from = number,
				.length = (uint16_t)length,
				.bytes = bytes});
	}
}

static void
act(unsigned int number, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome)
{
	switch (aggregate_action_send(outcome->action)) {
	case AGGREGATE_SEND_NOTHING:
		break;
	case AGGREGATE_SEND_RESULT:
		send_result(number, outcome->worker, request, outcome->entry);
		break;
	case AGGREGATE_SEND_RESULTS:
		send_results(number, request, outcome->entry);
		break;
	case AGGREGATE_SEND_UPWARDS:
		send_up(number, outcome);
		break;
	case AGGREGATE_SEND_REPLY:
		fail(aggregate_action_name(outcome->action));
	}
}

static void
arrive_from_worker(const struct event *event)
{
	const struct aggregate_sender from = worker_address(event->from);
	const struct aggregate_message message = {.op = AGGREGATE_SUM,
		.format = FORMAT,
		.count = LANES,
		.job = 1,
		.worker = (uint8_t)worker[event->from].index,
		.id = event->chunk,
		.session = worker[event->from].session,
		.values = values_of(event->from, event->chunk)};
	struct aggregate_outcome outcome;

	aggregate_shard_packet(shard_of(event->node), &message, &from, ticks(), &outcome);
	act(event->node, &message, &outcome);
}

static void
arrive_from_switch(const struct event *event)
{
	const struct aggregate_sender from = switch_address(event->from);
	struct aggregate_message message;
	struct aggregate_outcome outcome;

	if (aggregate_parse_request(event->bytes, event->length, &message) != 0)
		fail("sums are no request");
	aggregate_shard_packet(shard_of(event->node), &message, &from, ticks(), &outcome);
	act(event->node, &message, &outcome);
}

static void
arrive_from_parent(const struct event *event)
{
	const struct aggregate_sender from = switch_address(event->from);
	struct aggregate_message message;
	struct aggregate_outcome outcome;

	if (aggregate_leaf_read(shard_of(event->node), event->bytes, event->length, &message) != 0)
		fail("a result is no reply");
	aggregate_leaf_reply(shard_of(event->node), &message, &from, ticks(), &outcome);
	act(event->node, &message, &outcome);
}

static void
arrive_at_worker(const struct event *event)
{
	struct worker *at = &worker[event->node];
	const uint32_t slot = event->chunk % SLOTS;

	if (at->wants[slot] != event->chunk)
		return;
	at->wants[slot] += SLOTS;
	finished++;
	if (finished == (uint64_t)workers * chunks / 2)
		half_time = now;
	if (at->wants[slot] < chunks)
		send_chunk(event->node, slot);
}

/* Nothing has come for as long as that. */
static void
look_at_timer(const struct event *event)
{
	struct worker *at = &worker[event->node];
	const uint32_t slot = event->chunk % SLOTS;

	if (at->wants[slot] == event->chunk && now - at->sent[slot] >= 0.99 * WORKER_AGAIN)
		send_chunk(event->node, slot);
}

static void
happen(const struct event *event)
{
	now = event->time;
	switch ((enum kind)event->kind) {
	case AT_SWITCH_FROM_WORKER:
		arrive_from_worker(event);
		break;
	case AT_SWITCH:
		arrive_from_switch(event);
		break;
	case AT_SWITCH_FROM_PARENT:
		arrive_from_parent(event);
		break;
	case AT_WORKER:
		arrive_at_worker(event);
		break;
	case TIMER:
		look_at_timer(event);
		break;
	}
}

static void
run(void)
{
	struct event event;

	now = 0;
	for (unsigned int w = 0; w < workers; w++)
		for (uint32_t slot = 0; slot < SLOTS; slot++) {
			worker[w].wants[slot] = slot;
			if (slot < chunks)
				send_chunk(w, slot);
		}
	while (finished < (uint64_t)workers * chunks && events_take(&events, &event)) {
		happen(&event);
		free(event.bytes);
	}
	if (finished < (uint64_t)workers * chunks)
		fail("it has come to a halt");
}

/* What is told. */

/* Megabytes over one link to the parent, in the mean of a level's. */
static double
megabytes(unsigned int level, bool up)
{
	uint64_t bytes = 0, links = 0;

	for (unsigned int n = 1; n < nodes; n++)
		if (node[n].level == level) {
			bytes += up ? node[n].up.bytes : node[n].down.bytes;
			links++;
		}
	return (double)bytes / (double)links / 1e6;
}

/* For 100 MB of values: as fast as the second half was. */
static void
report(double simulated)
{
	const double all = 100.0 / simulated, late = 2 * (now - half_time) / simulated;
	const double whole = now + (100 - simulated) * late;
	const double bytes =
		100e6 * (BYTES + AGGREGATE_HEADER_BYTES + SIMULATE_FRAME_BYTES) / BYTES;
	const double rate = worker_rate * 1e9 / 8, n = workers;

	for (unsigned int l = 0; l < levels; l++)
		printf("%s%u", l == 0 ? "| " : "x", fans[l]);
	printf(" | %.0f, %.0f | %.2g | %.0f | %.0f | %.0f |", worker_rate, switch_rate, 100 * loss,
		1e3 * whole, 1e3 * (2 * (n - 1) / n * bytes / rate + 2 * (n - 1) * 2 * DELAY),
		1e3 * n * bytes / rate);
	printf("%s", levels == 1 ? " none" : "");
	for (unsigned int l = levels; l-- > 1;)
		printf("%s%.0f, %.0f", l + 1 < levels ? "; " : " ", all * megabytes(l, true),
			all * megabytes(l, false));
	printf(" | %.0f, %.0f | %llu |\n",
		(double)aggregate_table_bytes(&node[nodes - 1].limits) / 1e6,
		(double)aggregate_table_bytes(&node[0].limits) / 1e6, (unsigned long long)finished);
}

static void
read_fans(const char *text)
{
	char *end;

	for (levels = 0; levels < MAX_LEVELS; text = end + 1) {
		fans[levels] = (unsigned int)strtoul(text, &end, 10);
		if (fans[levels] < 1 || fans[levels] > AGGREGATE_MAX_WORKERS)
			fail("a switch has 1 to 64 members");
		levels++;
		if (*end != 'x')
			break;
	}
	if (*end != 0)
		fail("FANS is as 64x64, of up to 4 levels");
}

int
main(int argc, char **argv)
{
	double simulated;

	if (argc != 6) {
		fprintf(stderr, "usage: %s FANS MEGABYTES WORKER_GBITS SWITCH_GBITS LOSS_PERCENT\n",
			argv[0]);
		return 1;
	}
	read_fans(argv[1]);
	simulated = strtod(argv[2], NULL);
	worker_rate = strtod(argv[3], NULL);
	switch_rate = strtod(argv[4], NULL);
	loss = strtod(argv[5], NULL) / 100;
	chunks = (uint32_t)(simulated * 1e6 / BYTES);
	if (chunks < 2 * SLOTS || worker_rate <= 0 || switch_rate <= 0 || loss < 0 || loss >= 1)
		fail("too few megabytes, no rate, or a loss of less than 0 or all");
	fill_pool();
	make_tree();
	expected = allocate((size_t)chunks * BYTES);
	for (uint32_t c = 0; c < chunks; c++)
		expect(c);
	join_all();
	run();
	report(simulated);
	for (unsigned int n = 0; n < nodes; n++)
		free(node[n].table);
	free(node);
	free(worker);
	free(expected);
	events_free(&events);
	return 0;
}

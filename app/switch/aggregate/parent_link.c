/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_log.h>
#include <rte_malloc.h>

#include "aggregate/aggregation.h"
#include "aggregate/datagram.h"
#include "aggregate/parent_link.h"
#include "program.h"
#include "ctrl_thread.h"
#include "transmit.h"

/* A join or leave is sent again after a tenth of a second, as workers do. */
#define RETRIES_PER_S 10

/* Sums are not sent again within a millisecond, longer than a round trip in a rack. */
#define REPEATS_PER_S 1000

/* Seconds after which a parent that does not answer counts as silent. */
#define SILENT_S 3

/* How often the thread that logs looks. */
#define LOOK_US 50000

RTE_LOG_REGISTER(parent_link_logtype, netfc.aggregate, NOTICE)

/* ---- create ---------------------------------------------------------------------------------- */

static void
map_address(const struct address *address, uint8_t mapped[16])
{
	if (address->family == 4)
		datagram_map_ipv4(address->bytes, mapped);
	else
		memcpy(mapped, address->bytes, 16);
}

static void
init(struct parent_link *parent_link, const struct options *options)
{
	const struct parent_option *parent = &options->aggregate.parent;

	*parent_link = (struct parent_link){
		.parent = parent->address,
		.port = parent->port,
		.through_gateway = options->gateway.family != 0,
	};
	map_address(&parent->address, parent_link->address);
	parent_link->neighbour.hz = rte_get_tsc_hz();
	parent_link->neighbour.address =
		parent_link->through_gateway ? options->gateway : parent->address;
	parent_link->neighbour.own =
		*addresses_towards(&options->addresses, &parent_link->neighbour.address);
}

int
parent_link_create(struct app *app)
{
	struct parent_link *parent_link;

	if (app->options.aggregate.parent.address.family == 0)
		return 0;
	parent_link = rte_zmalloc_socket(
		"parent_link", sizeof(*parent_link), RTE_CACHE_LINE_SIZE, (int)rte_socket_id());
	if (parent_link == NULL)
		return REPORT("--aggregate: no memory; give the EAL more (-m MB)\n");
	init(parent_link, &app->options);
	app->aggregation->parent_link = parent_link;
	for (unsigned int p = 0; p < app->port_count; p++)
		app->port[p].endpoint.asks = true;
	return 0;
}

struct aggregate_parent
parent_link_limits(const struct parent_link *parent_link)
{
	struct aggregate_parent parent = {0};

	if (parent_link == NULL)
		return parent;
	memcpy(parent.address, parent_link->address, sizeof(parent.address));
	parent.port = parent_link->port;
	parent.retry = rte_get_tsc_hz() / RETRIES_PER_S;
	parent.repeat = rte_get_tsc_hz() / REPEATS_PER_S;
	return parent;
}

/* ---- send ------------------------------------------------------------------------------------ */

/* A packet that the switch makes; NULL if the pool is empty, which is counted. */
static struct rte_mbuf *
new_packet(struct lcore *lcore)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(lcore->pool);

	lcore->counters.copies++;
	if (unlikely(mbuf == NULL))
		lcore->counters.drops[DROP_NO_MBUF]++;
	return mbuf;
}

static void
send_packet(struct app *app, struct lcore *lcore, unsigned int out, struct rte_mbuf *mbuf)
{
	lcore->counters.answers++;
	transmit_later(app, lcore, out, mbuf);
}

/* Ask at all ports that have the source address. */
static void
ask(struct app *app, struct lcore *lcore, const struct neighbour *neighbour)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		const struct port *port = &app->port[p];
		struct rte_mbuf *mbuf;

		if (neighbour->own.port != EVERY_PORT && neighbour->own.port != port->id)
			continue;
		mbuf = new_packet(lcore);
		if (mbuf == NULL)
			continue;
		mbuf->data_len = neighbour_write_question(
			neighbour, &port->endpoint.mac, rte_pktmbuf_mtod(mbuf, uint8_t *));
		mbuf->pkt_len = mbuf->data_len;
		send_packet(app, lcore, p, mbuf);
	}
}

/* How to reach the parent now; false: not known. */
static bool
find_path(const struct parent_link *parent_link, struct path *path)
{
	const struct address *own = &parent_link->neighbour.own;
	struct neighbour_place place;

	if (!neighbour_find(&parent_link->neighbour, &place))
		return false;
	*path = (struct path){
		.mac = place.mac,
		.port = place.port,
		.network = own->family == 4 ? FRAME_IPV4 : FRAME_IPV6,
		.ecn = IP_ECN_CAPABLE,
	};
	memcpy(path->address, own->bytes, sizeof(path->address));
	return true;
}

/* Begin a packet to the parent. Returns where its payload goes; NULL: it cannot be sent. */
static struct rte_mbuf *
begin(struct app *app, struct lcore *lcore, struct path *path, uint8_t **payload)
{
	const struct parent_link *parent_link = app->aggregation->parent_link;
	struct rte_mbuf *mbuf;

	if (!find_path(parent_link, path)) {
		lcore->shard->parent_link.counters.unsent++;
		return NULL;
	}
	mbuf = new_packet(lcore);
	if (mbuf != NULL)
		*payload = rte_pktmbuf_mtod(mbuf, uint8_t *) + datagram_headers(path);
	return mbuf;
}

static void
begin_waiting(uint64_t *since)
{
	if (*since == 0)
		__atomic_store_n(since, rte_rdtsc(), __ATOMIC_RELAXED);
}

/* Send it after its payload was written. */
static void
finish(struct app *app, struct lcore *lcore, struct rte_mbuf *mbuf, const struct path *path,
	uint16_t port, const uint8_t *payload, size_t bytes)
{
	const struct aggregation *aggregation = app->aggregation;
	const struct endpoint *endpoint = &app->port[path->port].endpoint;

	datagram_finish(mbuf, path, &endpoint->mac, aggregation->parent_link->address,
		(uint16_t)(aggregation->port + (lcore->shard - aggregation->shard)), port,
		(uint16_t)bytes, endpoint->checksum(payload, bytes));
	begin_waiting(&lcore->shard->parent_link.owed);
	lcore->shard->parent_link.counters.sent++;
	send_packet(app, lcore, path->port, mbuf);
}

void
parent_link_send_sums(struct app *app, struct lcore *lcore, const struct aggregate_outcome *outcome)
{
	struct aggregate_shard *machine = lcore->shard->state;
	unsigned int packets = aggregate_leaf_packets(machine, outcome);
	uint16_t port = aggregate_leaf_port(machine, outcome);

	for (unsigned int i = 0; i < packets; i++) {
		struct path path;
		uint8_t *payload;
		struct rte_mbuf *mbuf = begin(app, lcore, &path, &payload);
		size_t bytes;

		if (mbuf == NULL)
			continue;
		bytes = aggregate_leaf_write(machine, outcome, i, payload);
		finish(app, lcore, mbuf, &path, port, payload, bytes);
	}
}

/* Send a join or a leave. */
static void
send_message(struct app *app, struct lcore *lcore, const struct aggregate_message *message)
{
	struct path path;
	uint8_t *payload;
	struct rte_mbuf *mbuf = begin(app, lcore, &path, &payload);

	begin_waiting(&lcore->shard->parent_link.joining);
	if (mbuf == NULL)
		return;
	finish(app, lcore, mbuf, &path, app->aggregation->parent_link->port, payload,
		aggregate_leaf_build(lcore->shard->state, message, payload));
}

void
parent_link_poll(struct app *app, struct lcore *lcore, uint64_t now)
{
	struct neighbour *neighbour = &app->aggregation->parent_link->neighbour;
	struct aggregate_message message;
	struct parent_link_side sum;

	parent_link_sum(app, &sum);
	if (neighbour_poll(neighbour, now, sum.owed, sum.heard))
		ask(app, lcore, neighbour);
	while (aggregate_leaf_poll(lcore->shard->state, now, &message))
		send_message(app, lcore, &message);
	transmit_flush(app, lcore);
}

/* ---- receive --------------------------------------------------------------------------------- */

void
parent_link_take_answer(struct app *app, struct lcore *lcore, unsigned int in,
	struct rte_mbuf *mbuf, const struct frame *frame)
{
	bool taken = neighbour_take_answer(&app->aggregation->parent_link->neighbour, mbuf, frame,
		(uint16_t)in, app->port[in].id, rte_rdtsc());

	if (taken)
		lcore->counters.taken_up[TAKEN_PARENT]++;
	else
		lcore->counters.drops[DROP_NO_SERVICE]++;
	rte_pktmbuf_free(mbuf);
}

/* ---- state ----------------------------------------------------------------------------------- */

/* The earlier of two times; 0: none. */
static uint64_t
earliest(uint64_t since, const uint64_t *word)
{
	uint64_t other = __atomic_load_n(word, __ATOMIC_RELAXED);

	return since == 0 || (other != 0 && other < since) ? other : since;
}

void
parent_link_sum(const struct app *app, struct parent_link_side *sum)
{
	const struct aggregation *aggregation = app->aggregation;

	*sum = (struct parent_link_side){0};
	for (uint32_t s = 0; s < aggregation->shard_count; s++) {
		const struct parent_link_side *side = &aggregation->shard[s].parent_link;

		sum->joining = earliest(sum->joining, &side->joining);
		sum->owed = earliest(sum->owed, &side->owed);
		sum->heard = RTE_MAX(sum->heard, __atomic_load_n(&side->heard, __ATOMIC_RELAXED));
		counters_add(&sum->counters, &side->counters, sizeof(sum->counters));
	}
}

/* Joins are answered at once, sums when all members have sent theirs. */
static bool
is_silent(const struct app *app, const struct parent_link_side *sum)
{
	uint64_t now = rte_rdtsc(), hz = rte_get_tsc_hz();

	return (sum->joining != 0 && now > RTE_MAX(sum->joining, sum->heard) + SILENT_S * hz) ||
		(sum->owed != 0 &&
			now > RTE_MAX(sum->owed, sum->heard) +
					(SILENT_S + app->options.aggregate.stall) * hz);
}

enum parent_link_state
parent_link_state(const struct app *app)
{
	const struct neighbour *neighbour = &app->aggregation->parent_link->neighbour;
	struct neighbour_place place;
	struct parent_link_side sum;

	parent_link_sum(app, &sum);
	if (neighbour_is_tagged(neighbour))
		return PARENT_LINK_TAGGED;
	if (neighbour_is_gone(neighbour))
		return PARENT_LINK_UNREACHABLE;
	if (!neighbour_find(neighbour, &place))
		return PARENT_LINK_LOOKING;
	if (is_silent(app, &sum))
		return PARENT_LINK_SILENT;
	return sum.heard != 0 ? PARENT_LINK_ANSWERING : PARENT_LINK_REACHABLE;
}

static const struct {
	const char *name, *meaning;
} states[] = {
#define PARENT_LINK_TEXTS_(symbol, name, meaning) [PARENT_LINK_##symbol] = {name, meaning},
	PARENT_LINK_STATES(PARENT_LINK_TEXTS_)
#undef PARENT_LINK_TEXTS_
};

const char *
parent_link_state_name(enum parent_link_state state)
{
	return states[state].name;
}

/* ---- log ------------------------------------------------------------------------------------- */

struct parent_link_log {
	const struct app *app;
	enum parent_link_state told;
	bool stop;
	struct ctrl_work work;
	ctrl_thread thread;
};

static void
look(struct parent_link_log *log)
{
	const struct parent_link *parent_link = log->app->aggregation->parent_link;
	enum parent_link_state state = parent_link_state(log->app);
	char text[64];

	if (state == log->told)
		return;
	log->told = state;
	address_print(&parent_link->parent, text, sizeof(text));
	rte_log(RTE_LOG_NOTICE, parent_link_logtype, "Aggregation: the parent %s is %s: %s\n", text,
		states[state].name, states[state].meaning);
}

static void
run(void *arg)
{
	struct parent_link_log *log = arg;

	while (!__atomic_load_n(&log->stop, __ATOMIC_RELAXED)) {
		look(log);
		rte_delay_us_sleep(LOOK_US);
	}
}

int
parent_link_log_start(struct app *app, struct parent_link_log **result)
{
	struct parent_link_log *log;

	if (app->aggregation == NULL || app->aggregation->parent_link == NULL)
		return 0;
	log = calloc(1, sizeof(*log));
	if (log != NULL) {
		log->app = app;
		log->told = PARENT_LINK_LOOKING;
		log->work = (struct ctrl_work){run, log};
		if (ctrl_thread_start(&log->thread, "netfc-parent", &log->work) == 0) {
			*result = log;
			return 0;
		}
	}
	free(log);
	return REPORT("cannot start the thread that logs the parent's state\n");
}

void
parent_link_log_stop(struct parent_link_log *log)
{
	if (log == NULL)
		return;
	__atomic_store_n(&log->stop, true, __ATOMIC_RELAXED);
	ctrl_thread_join(log->thread);
	free(log);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_ring.h>

#include "aggregate/aggregation.h"
#include "embedded.h"
#include "json.h"
#include "setup.h"
#include "tables/tables.h"

#define NS_PER_SECOND 1e9

/* Besides those that wait in a ring: what an lcore's cache keeps. */
#define LCORE_MBUFS 1024

/*
 * A queue of the load generator, and the busy time of the lcore that polls it, written by that
 * lcore.
 */
struct queue {
	struct embedded *embedded;
	struct rte_ring *in, *out;
	const struct lcore *lcore;
	uint64_t since; /* ns: when the last poll was over */
	uint64_t busy;  /* ns */
	uint64_t inbox; /* packets taken from other lcores until then */
	bool found;     /* that poll has found packets */
} __rte_cache_aligned;

struct embedded {
	struct app app;
	uint16_t port; /* the load's */
	unsigned int lcores;
	uint32_t packets;
	bool yields;
	struct queue queue[EMBEDDED_MAX_LCORES];
	void (*load)(void);
};

static int
fail(const char *what, int error)
{
	fprintf(stderr, "%s: --inline: cannot make %s: %s%s\n", program_invocation_short_name, what,
		rte_strerror(error), error == ENOMEM ? "; give the EAL more memory (-m MB)" : "");
	return -1;
}

static int
set_options(const struct embedded_config *config, struct options *options)
{
	options_set_defaults(options);
	options->tables = config->tables;
	options->functions = config->functions;
	options->match = config->match;
	options->udp_port = config->udp_port;
	options->mtu = config->mtu;
	options->forward = FORWARD_REFLECT;
	options->mbufs = config->lcores * (config->packets + LCORE_MBUFS);
	if (config->address == NULL)
		return 0;
	options->aggregate.on = true;
	options->aggregate.port = config->aggregate_port;
	options->aggregate.slots = config->slots;
	options->aggregate.workers = config->workers;
	options->aggregate.bytes = config->bytes;
	options->aggregate.shards = config->lcores;
	options->aggregate.digits = config->digits;
	options->aggregate.parent.port = config->aggregate_port;
	strncpy(options->aggregate.key, config->key, sizeof(options->aggregate.key) - 1);
	if (config->parent != NULL &&
		!address_read(config->parent, &options->aggregate.parent.address))
		return -1;
	return addresses_add(&options->addresses, config->address);
}

int
embedded_load(const struct embedded_config *config, struct embedded **embedded)
{
	struct embedded *made = aligned_alloc(_Alignof(struct embedded), sizeof(*made));

	*embedded = made;
	if (made == NULL)
		return fail("the switch", ENOMEM);
	memset(made, 0, sizeof(*made));
	pthread_mutex_init(&made->app.trace_lock, NULL);
	pthread_mutex_init(&made->app.state_lock, NULL);
	made->lcores = config->lcores;
	made->yields = config->yields;
	made->packets = config->packets;
	made->port = RTE_MAX_ETHPORTS;
	if (set_options(config, &made->app.options) != 0)
		return -1;
	return prepare_load(&made->app);
}

int
embedded_create_pipeline(struct embedded *embedded)
{
	return tables_start(&embedded->app);
}

const struct pipeline *
embedded_pipeline(const struct embedded *embedded)
{
	return app_pipeline(&embedded->app);
}

const struct netfc_set *
embedded_set(const struct embedded *embedded, unsigned int format)
{
	return embedded->app.sets.by_format[format];
}

/* ---- rings and ports ----------------------------------------------------------------------- */

static int
create_rings(struct embedded *embedded, unsigned int q)
{
	struct queue *queue = &embedded->queue[q];
	const unsigned int flags = RING_F_SP_ENQ | RING_F_SC_DEQ;
	const int socket = (int)rte_socket_id();
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "netfc_in_%u", q);
	queue->in = rte_ring_create(name, embedded->packets, socket, flags);
	snprintf(name, sizeof(name), "netfc_out_%u", q);
	queue->out = rte_ring_create(name, embedded->packets, socket, flags);
	queue->embedded = embedded;
	return queue->in != NULL && queue->out != NULL ? 0 : fail("its rings", rte_errno);
}

/*
 * Keep the load generator's port from the switch, which takes all ports without an owner, and the
 * machine's other ports, unless the switch is to reach a parent over them.
 */
static int
own_ports(uint16_t load, bool others)
{
	struct rte_eth_dev_owner owner = {.name = "netfc_load"};
	int error = rte_eth_dev_owner_new(&owner.id);
	uint16_t port;

	RTE_ETH_FOREACH_DEV (port) {
		if (error == 0 && (others || port == load))
			error = rte_eth_dev_owner_set(port, &owner);
	}
	return error;
}

static int
create_ports(struct embedded *embedded)
{
	struct rte_ring *in[EMBEDDED_MAX_LCORES], *out[EMBEDDED_MAX_LCORES];
	const unsigned int count = embedded->lcores;
	int port, error;

	for (unsigned int q = 0; q < count; q++) {
		if (create_rings(embedded, q) != 0)
			return -1;
		in[q] = embedded->queue[q].in;
		out[q] = embedded->queue[q].out;
	}
	port = rte_eth_from_rings("load", out, count, in, count, 0);
	if (port < 0)
		return fail("its ports", rte_errno);
	embedded->port = (uint16_t)port;
	error = own_ports(
		embedded->port, embedded->app.options.aggregate.parent.address.family == 0);
	if (error != 0)
		return fail("its ports", -error);
	return rte_eth_from_rings("switch", in, count, out, count, 0) < 0
		? fail("its ports", rte_errno)
		: 0;
}

/* ---- time ---------------------------------------------------------------------------------- */

/* Nanoseconds that this thread has run: time in which others had the core does not count. */
static uint64_t
thread_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * (uint64_t)NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static uint64_t
inbox_packets(const struct queue *queue)
{
	return queue->lcore->shard != NULL ? queue->lcore->shard->handed_over : 0;
}

/*
 * A rte_rx_callback_fn. What has passed since the last poll was the switch's work, if there was
 * any. A switch that found nothing lets the load run, which may have the same CPU.
 */
static uint16_t
note_poll(uint16_t port, uint16_t number, struct rte_mbuf **mbufs, uint16_t count, uint16_t most,
	void *arg)
{
	struct queue *queue = arg;
	uint64_t inbox = inbox_packets(queue);

	(void)port, (void)number, (void)mbufs, (void)most;
	if (queue->found || inbox != queue->inbox)
		queue->busy += thread_time() - queue->since;
	else if (count == 0 && queue->embedded->yields)
		sched_yield();
	queue->found = count > 0;
	queue->inbox = inbox;
	queue->since = thread_time();
	return count;
}

static int
add_callback(const struct embedded *embedded, const struct rx_queue *from, struct queue *queue)
{
	return rte_eth_add_rx_callback(
		       embedded->app.port[from->port].id, from->queue, note_poll, queue) != NULL
		? 0
		: fail("its clock", rte_errno);
}

static int
add_callbacks(struct embedded *embedded)
{
	struct queue *queue = embedded->queue;
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		const struct lcore *lcore = &embedded->app.lcore[lcore_id];

		if (lcore->rx_queue_count == 0)
			continue;
		queue->lcore = lcore;
		for (unsigned int p = 0; p < lcore->rx_queue_count; p++)
			if (add_callback(embedded, &lcore->rx_queue[p], queue) != 0)
				return -1;
		queue++;
	}
	return 0;
}

/* ---- running ------------------------------------------------------------------------------- */

unsigned int
embedded_load_lcore(const struct embedded *embedded)
{
	unsigned int lcore_id = rte_get_main_lcore();

	for (unsigned int l = 0; l < embedded->lcores; l++)
		lcore_id = rte_get_next_lcore(lcore_id, 0, 1);
	return lcore_id;
}

int
embedded_create(struct embedded *embedded)
{
	if (rte_lcore_count() <= embedded->lcores) {
		fprintf(stderr,
			"%s: --inline: the switch needs a second lcore, besides that of the load; "
			"on any machine:\n  %s --lcores '(0-%u)@(0-1)' ... -- --inline ...\n",
			program_invocation_short_name, program_invocation_short_name,
			embedded->lcores);
		return -1;
	}
	return create_ports(embedded) == 0 && prepare(&embedded->app) == EXIT_DONE ? 0 : -1;
}

uint16_t
embedded_port(const struct embedded *embedded)
{
	return embedded->port;
}

unsigned int
embedded_buffers(const struct embedded *embedded)
{
	return embedded->lcores * embedded->packets;
}

int
embedded_start(struct embedded *embedded)
{
	return ports_start(&embedded->app) == 0 ? add_callbacks(embedded) : -1;
}

static int
load_main(void *arg)
{
	struct embedded *embedded = arg;

	embedded->load();
	app_quit(&embedded->app);
	return 0;
}

int
embedded_run(struct embedded *embedded, void (*load)(void))
{
	int error;

	embedded->load = load;
	error = rte_eal_remote_launch(load_main, embedded, embedded_load_lcore(embedded));
	if (error != 0)
		return fail("the load run", -error);
	poll_run(&embedded->app);
	return 0;
}

static void
drain(struct rte_ring *ring)
{
	void *mbuf;

	while (ring != NULL && rte_ring_dequeue(ring, &mbuf) == 0)
		rte_pktmbuf_free(mbuf);
}

void
embedded_stop(struct embedded *embedded)
{
	if (embedded == NULL)
		return;
	for (unsigned int q = 0; q < embedded->lcores; q++) {
		drain(embedded->queue[q].in);
		drain(embedded->queue[q].out);
	}
	ports_stop(&embedded->app);
}

void
embedded_totals(const struct embedded *embedded, struct embedded_totals *totals)
{
	unsigned int lcore_id;

	*totals = (struct embedded_totals){.mbufs_leaked = embedded->app.mbufs_leaked};
	RTE_LCORE_FOREACH (lcore_id)
		totals->packets += embedded->app.lcore[lcore_id].counters.rx_packets;
	for (unsigned int q = 0; q < embedded->lcores; q++)
		totals->seconds += (double)embedded->queue[q].busy / NS_PER_SECOND;
}

json_t *
embedded_actions(const struct embedded *embedded)
{
	struct aggregate_counters counters;
	json_t *actions = json_object();

	if (embedded->app.aggregation == NULL)
		return actions;
	aggregation_counters(embedded->app.aggregation, &counters);
	for (unsigned int a = 0; a < AGGREGATE_ACTION_COUNT; a++)
		json_object_set_new(
			actions, aggregate_action_name(a), json_count(counters.actions[a]));
	return actions;
}

void
embedded_free(struct embedded *embedded)
{
	if (embedded == NULL)
		return;
	prepare_free(&embedded->app);
	prepare_unload(&embedded->app);
	for (unsigned int q = 0; q < embedded->lcores; q++) {
		rte_ring_free(embedded->queue[q].in);
		rte_ring_free(embedded->queue[q].out);
	}
	free(embedded);
}

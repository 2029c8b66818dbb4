/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "aggregate/aggregation.h"
#include "dpdk/eal.h"
#include "dpdk/quirks.h"
#include "observe/state.h"
#include "setup.h"
#include "slowloris/slowloris_filter.h"
#include "tables/tables.h"

static const struct functions no_functions;

int
prepare_load(struct app *app)
{
	if (sets_load(&app->options, &app->sets, stderr) != 0)
		return -1;
	if (app->options.functions == NULL)
		return 0;
	return functions_load(
		app->options.functions, &app->sets, &no_functions, &app->functions, stderr);
}

void
prepare_unload(struct app *app)
{
	functions_free(&app->functions, &no_functions);
	sets_free(&app->sets);
}

static int
out_of_memory(const char *what)
{
	return REPORT("no memory for %s; give the EAL more (-m MB)\n", what);
}

/* ---- pools of packet buffers, one for each NUMA node whose lcores are in use -------------------
 */

#define MIN_POOL 8191
#define BUFFER_STEP 512 /* bytes */

/*
 * Data bytes of an mbuf: any packet of 2,048 bytes, and the packet of an aggregation's chunk.
 * Rounded up for net_af_packet, whose frames must divide its blocks of pages.
 */
static uint32_t
buffer_bytes(const struct options *options)
{
	uint32_t packet = RTE_MAX((uint32_t)RTE_MBUF_DEFAULT_DATAROOM,
		aggregate_options_packet_bytes(&options->aggregate));

	return RTE_PKTMBUF_HEADROOM + RTE_ALIGN_CEIL(packet, BUFFER_STEP);
}

/* Whether the drivers can have such buffers. */
static int
check_buffers(const struct options *options)
{
	const uint32_t packet = aggregate_options_packet_bytes(&options->aggregate);
	const uint32_t most =
		RTE_ALIGN_FLOOR(quirk_most_data_bytes() - RTE_PKTMBUF_HEADROOM, BUFFER_STEP);

	if (packet <= most)
		return 0;
	return REPORT(
		"--aggregate bytes=%u: a chunk's packet has %u bytes, and ports by net_af_xdp "
		"take %u at most; give at most bytes=%u, or another driver\n",
		options->aggregate.bytes, packet, most, options->aggregate.bytes - (packet - most));
}

/* What the driver takes for a receive queue at most, */
static unsigned int
most_buffers(const struct port *port)
{
	return port->rx_descriptors + quirk_held_buffers(port->id, port->rx_descriptors);
}

/* and at the start, which fails without them. Virtual devices take most of theirs later, if any. */
static unsigned int
first_buffers(const struct port *port)
{
	return ethdev_is_virtual(&port->info)
		? quirk_held_buffers(port->id, port->rx_descriptors) / 2
		: most_buffers(port);
}

/* For all receive queues of a socket's lcores. */
static unsigned int
sum_queues(const struct app *app, unsigned int socket, unsigned int (*buffers)(const struct port *))
{
	unsigned int sum = 0, lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		const struct lcore *lcore = &app->lcore[lcore_id];

		if (rte_lcore_to_socket_id(lcore_id) != socket)
			continue;
		for (unsigned int i = 0; i < lcore->rx_queue_count; i++)
			sum += buffers(&app->port[lcore->rx_queue[i].port]);
	}
	return sum;
}

/* What the receive queues of a socket's lcores, all transmit queues and the lcores' caches hold. */
static unsigned int
count_buffers(const struct app *app, unsigned int socket)
{
	unsigned int mbufs = sum_queues(app, socket, most_buffers), lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		if (rte_lcore_to_socket_id(lcore_id) == socket)
			mbufs += MBUF_CACHE + PIPELINE_BURST;
	}
	for (unsigned int p = 0; p < app->port_count; p++)
		mbufs += app->port[p].tx_queues * app->port[p].tx_descriptors;
	return RTE_MAX(mbufs, (unsigned int)MIN_POOL);
}

/* Whether ports can start with as many as --mbufs says. */
static int
check_mbufs(const struct app *app, unsigned int socket)
{
	const unsigned int first = sum_queues(app, socket, first_buffers);

	if (app->options.mbufs == 0 || app->options.mbufs >= first)
		return 0;
	return REPORT("--mbufs %u: the receive queues take %u at the start; give some more than "
		      "that, or leave --mbufs out\n",
		app->options.mbufs, first);
}

static struct rte_mempool *
create_pool(const struct app *app, unsigned int socket)
{
	unsigned int mbufs =
		app->options.mbufs != 0 ? app->options.mbufs : count_buffers(app, socket);
	char name[RTE_MEMPOOL_NAMESIZE];

	if (check_mbufs(app, socket) != 0)
		return NULL;
	snprintf(name, sizeof(name), "netfc_%u", socket);
	return ethdev_pool_create(name, mbufs, buffer_bytes(&app->options), socket);
}

/* For all that the lcores' queues may hold at once. */
static int
pools_create(struct app *app)
{
	unsigned int lcore_id;

	if (check_buffers(&app->options) != 0)
		return -1;
	RTE_LCORE_FOREACH (lcore_id) {
		struct rte_mempool **pool = &app->pool[rte_lcore_to_socket_id(lcore_id)];

		if (!lcore_in_use(app, lcore_id))
			continue;
		if (*pool == NULL)
			*pool = create_pool(app, rte_lcore_to_socket_id(lcore_id));
		if (*pool == NULL)
			return -1;
		app->lcore[lcore_id].pool = *pool;
	}
	return 0;
}

static void
pools_free(struct app *app)
{
	for (unsigned int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++)
		rte_mempool_free(app->pool[socket]);
}

unsigned int
pools_size(const struct app *app)
{
	unsigned int size = 0;

	for (unsigned int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++)
		size += app->pool[socket] != NULL ? app->pool[socket]->size : 0;
	return size;
}

unsigned int
pools_in_use(const struct app *app)
{
	unsigned int in_use = 0;

	for (unsigned int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++)
		in_use +=
			app->pool[socket] != NULL ? rte_mempool_in_use_count(app->pool[socket]) : 0;
	return in_use;
}

/* ---- what lcores need besides -----------------------------------------------------------------
 */

static int
create_tx_buffers(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		struct lcore *lcore = &app->lcore[lcore_id];

		if (!lcore_works(lcore))
			continue;
		lcore->tx_buffer = rte_calloc_socket("tx buffers", app->port_count,
			sizeof(*lcore->tx_buffer), 0, (int)rte_lcore_to_socket_id(lcore_id));
		if (lcore->tx_buffer == NULL)
			return out_of_memory("tx buffers");
	}
	return latency_create(app) == 0 ? 0 : out_of_memory("latency histograms");
}

static int
create_fdb(struct app *app)
{
	size_t size = rte_rcu_qsbr_get_memsize(RTE_MAX_LCORE);

	app->qsbr = rte_zmalloc_socket("qsbr", size, RTE_CACHE_LINE_SIZE, (int)rte_socket_id());
	if (app->qsbr == NULL || rte_rcu_qsbr_init(app->qsbr, RTE_MAX_LCORE) != 0)
		return out_of_memory("quiescent states");
	if (app->options.forward != FORWARD_BRIDGE)
		return 0;
	app->fdb = fdb_create(app->options.stations, app->options.ageing_s, app->qsbr);
	return app->fdb != NULL ? 0 : out_of_memory("the bridge's stations");
}

/* What does not depend on ports that may still come. */
static int
prepare_found(struct app *app)
{
	if (queues_assign(app) != 0 || steer_check(app) != 0)
		return -1;
	if (pools_create(app) != 0 || tables_start(app) != 0)
		return -1;
	if (create_fdb(app) != 0 || slowloris_filter_create(app) != 0 ||
		aggregation_create(app) != 0)
		return -1;
	return create_tx_buffers(app);
}

/* Check the whole configuration. */
enum exit_status
prepare(struct app *app)
{
	enum exit_status found = ports_find(app);

	if (found != EXIT_DONE)
		return found;
	return prepare_found(app) == 0 ? EXIT_DONE : EXIT_CONFIGURATION;
}

void
prepare_free(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id)
		rte_free(app->lcore[lcore_id].tx_buffer);
	latency_free(app);
	fdb_free(app->fdb);
	slowloris_filter_free(app);
	aggregation_free(app);
	rte_free(app->qsbr);
	tables_free(app);
	pools_free(app);
}

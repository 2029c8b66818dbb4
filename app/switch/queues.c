/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include <rte_lcore.h>

#include "aggregate_table.h"
#include "setup.h"

/* Devices without RSS that offer more queues than this do not expect all to be used. */
#define MANY_QUEUES 64

/*
 * With RSS the switch chooses how many receive queues there are. Without it the device does (files,
 * rings, vhost), and packets of a queue that nobody polls would be lost.
 */
static uint16_t
choose_rx_queues(const struct port *port, unsigned int lcores)
{
	uint16_t max = port->info.max_rx_queues;

	if (port->info.flow_type_rss_offloads != 0)
		return (uint16_t)RTE_MIN(max, lcores);
	return max > MANY_QUEUES ? 1 : RTE_MAX(max, 1);
}

static int
add_rx_queue(struct lcore *lcore, unsigned int lcore_id, struct rx_queue queue)
{
	if (lcore->rx_queue_count == MAX_RX_QUEUES)
		return REPORT("lcore %u: more than %u queues; use more lcores\n", lcore_id,
			MAX_RX_QUEUES);
	lcore->rx_queue[lcore->rx_queue_count++] = queue;
	return 0;
}

/* The first `count` lcores in turn, the main lcore first. */
static unsigned int
lcore_in_turn(unsigned int turn, unsigned int count)
{
	unsigned int lcore_id = rte_get_main_lcore();

	for (turn %= count; turn > 0; turn--)
		lcore_id = rte_get_next_lcore(lcore_id, 0, 1);
	return lcore_id;
}

static int
spread_rx_queues(struct app *app, unsigned int lcores)
{
	unsigned int lcore_id, turn = 0;

	RTE_LCORE_FOREACH (lcore_id)
		app->lcore[lcore_id].rx_queue_count = 0;
	for (unsigned int p = 0; p < app->port_count; p++) {
		struct port *port = &app->port[p];

		port->rx_queues = choose_rx_queues(port, lcores);
		for (uint16_t q = 0; q < port->rx_queues; q++) {
			const struct rx_queue queue = {(uint16_t)p, q};

			lcore_id = lcore_in_turn(turn++, lcores);
			if (add_rx_queue(&app->lcore[lcore_id], lcore_id, queue) != 0)
				return -1;
		}
	}
	return 0;
}

/* ---- --config ----------------------------------------------------------------------------------
 */

static int __rte_format_printf(2, 3)
	refuse_place(const struct queue_place *place, const char *why, ...)
{
	va_list numbers;

	REPORT("--config (%u,%u,%u): ", place->port, place->queue, place->lcore);
	va_start(numbers, why);
	vfprintf(stderr, why, numbers);
	va_end(numbers);
	fprintf(stderr, "\n");
	return -1;
}

static struct port *
find_port(struct app *app, uint16_t id)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (app->port[p].id == id)
			return &app->port[p];
	}
	return NULL;
}

static int
place_queue(struct app *app, const struct queue_place *place)
{
	struct port *port = find_port(app, place->port);

	if (port == NULL)
		return refuse_place(place, "there is no port %u", place->port);
	if (!rte_lcore_is_enabled(place->lcore))
		return refuse_place(place, "the EAL has no lcore %u (-l, --lcores)", place->lcore);
	if (place->queue >= RTE_MAX(port->info.max_rx_queues, 1))
		return refuse_place(place, "the port has %u receive queues at most",
			RTE_MAX(port->info.max_rx_queues, 1));
	port->rx_queues++;
	return add_rx_queue(&app->lcore[place->lcore], place->lcore,
		(struct rx_queue){(uint16_t)(port - app->port), place->queue});
}

static bool
is_placed(const struct queue_config *config, const struct port *port, uint16_t queue)
{
	for (unsigned int c = 0; c < config->count; c++) {
		if (config->place[c].port == port->id && config->place[c].queue == queue)
			return true;
	}
	return false;
}

/* The queues are 0 to N - 1; without RSS, all that the device brings. */
static int
check_places(const struct app *app, const struct port *port)
{
	uint16_t queues = RTE_MAX(port->rx_queues, choose_rx_queues(port, 1));

	for (uint16_t q = 0; q < queues; q++) {
		if (is_placed(&app->options.config, port, q))
			continue;
		return REPORT("--config: no lcore polls queue %u of port %u (%s); name one for "
			      "each of its queues, from 0 on\n",
			q, port->id, port->info.driver_name);
	}
	return 0;
}

static int
place_rx_queues(struct app *app)
{
	const struct queue_config *config = &app->options.config;

	for (unsigned int c = 0; c < config->count; c++) {
		if (place_queue(app, &config->place[c]) != 0)
			return -1;
	}
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (check_places(app, &app->port[p]) != 0)
			return -1;
	}
	return 0;
}

/* ---- shards and transmit queues ----------------------------------------------------------------
 */

/* A shard of the aggregations for each of the first lcores, the main lcore first. */
static void
spread_shards(struct app *app, unsigned int lcores)
{
	const struct aggregate_options *options = &app->options.aggregate;
	uint32_t wanted = options->shards != 0 ? options->shards : AGGREGATE_MAX_SHARDS;
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id)
		app->lcore[lcore_id].aggregates = false;
	app->shard_count = options->on ? RTE_MIN(wanted, lcores) : 0;
	for (uint32_t s = 0; s < app->shard_count; s++) {
		struct lcore *lcore = &app->lcore[lcore_in_turn(s, lcores)];

		lcore->aggregates = true;
		lcore->shard_index = (uint16_t)s;
	}
	/* Without shards, requests to the first port are refused. */
	for (unsigned int p = 0; p < app->port_count; p++)
		app->port[p].endpoint.aggregate_ports = (uint16_t)RTE_MAX(app->shard_count, 1u);
}

static int
check_shards(const struct app *app)
{
	const struct aggregate_options *options = &app->options.aggregate;
	const uint32_t wanted = options->shards;

	if (!options->on)
		return 0;
	if (aggregate_options_check_ports(
		    options, app->shard_count, app->options.udp_port, stderr) != 0)
		return -1;
	if (wanted <= app->shard_count)
		return 0;
	return REPORT("--aggregate shards=%u: there are lcores, or transmit queues of the "
		      "ports for them, for %u; give more lcores (-l), or devices more queues\n",
		wanted, app->shard_count);
}

/* Whether the lcore may send to that port. */
static bool
sends_to(const struct app *app, const struct lcore *lcore, unsigned int out)
{
	/* Results go to the ports where workers joined. */
	if (lcore->aggregates && app->port[out].endpoint.count > 0)
		return true;
	for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
		unsigned int in = lcore->rx_queue[i].port;

		if (app->options.forward == FORWARD_BRIDGE || app->port[in].out == out)
			return true;
		if (in == out && app->port[in].endpoint.count > 0)
			return true;
	}
	return false;
}

/* Number the senders of each port; a port that has too few transmit queues for them, or NULL. */
static const struct port *
number_tx_queues(struct app *app)
{
	for (unsigned int out = 0; out < app->port_count; out++) {
		struct port *port = &app->port[out];
		unsigned int lcore_id;

		port->tx_queues = 0;
		RTE_LCORE_FOREACH (lcore_id) {
			if (sends_to(app, &app->lcore[lcore_id], out))
				app->lcore[lcore_id].tx_queue[out] = port->tx_queues++;
		}
		if (port->tx_queues > RTE_MAX(port->info.max_tx_queues, 1))
			return port;
		/* Some devices (TAP) need as many transmit queues as receive queues. */
		port->tx_queues = RTE_MAX(
			port->tx_queues, RTE_MIN(port->rx_queues, port->info.max_tx_queues));
	}
	return NULL;
}

/* As --config says, on all lcores or not at all. */
static int
assign_as_told(struct app *app)
{
	const struct port *full;

	if (place_rx_queues(app) != 0)
		return -1;
	spread_shards(app, rte_lcore_count());
	full = number_tx_queues(app);
	if (full == NULL)
		return check_shards(app);
	return REPORT("--config: %u lcores send to port %u, which has %u transmit queue%s; name "
		      "fewer lcores, or give the device more queues\n",
		full->tx_queues, full->id, full->info.max_tx_queues,
		full->info.max_tx_queues == 1 ? "" : "s");
}

int
queues_assign(struct app *app)
{
	if (app->options.config.count > 0)
		return assign_as_told(app);
	for (unsigned int lcores = rte_lcore_count(); lcores > 0; lcores--) {
		if (spread_rx_queues(app, lcores) != 0)
			return -1;
		spread_shards(app, lcores);
		if (number_tx_queues(app) == NULL)
			break;
	}
	return check_shards(app);
}

/* Whether each packet has to cross from one NUMA node to another. */
static bool
is_far(const struct port *port, unsigned int lcore_id)
{
	int socket = rte_eth_dev_socket_id(port->id);

	return socket >= 0 && (unsigned int)socket != rte_lcore_to_socket_id(lcore_id);
}

static void
print_rx_queue(const struct app *app, unsigned int lcore_id, const struct rx_queue *queue)
{
	const struct port *port = &app->port[queue->port];

	printf("  lcore %-3u port %u queue %u", lcore_id, port->id, queue->queue);
	if (app->options.forward == FORWARD_BRIDGE)
		printf(" -> bridge");
	else
		printf(" -> port %u queue %u", app->port[port->out].id,
			app->lcore[lcore_id].tx_queue[port->out]);
	printf("%s\n", is_far(port, lcore_id) ? ", on another NUMA node" : "");
}

void
queues_print(const struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		const struct lcore *lcore = &app->lcore[lcore_id];

		for (unsigned int i = 0; i < lcore->rx_queue_count; i++)
			print_rx_queue(app, lcore_id, &lcore->rx_queue[i]);
		if (lcore->aggregates)
			printf("  lcore %-3u aggregates: UDP port %u\n", lcore_id,
				(unsigned int)app->options.aggregate.port + lcore->shard_index);
		if (!lcore_works(lcore))
			printf("  lcore %-3u idle: %s\n", lcore_id,
				app->options.config.count > 0
					? "--config gives it no queue"
					: "there are fewer queues than lcores");
	}
}

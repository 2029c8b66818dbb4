/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "ports.h"

#define DESCRIPTORS 1024
#define POOL_CACHE 256
#define POOL_LEAST 8191
/* Devices without RSS that offer more queues than this do not mean them to be used all. */
#define MANY_QUEUES 64

static int
fail(const struct port *port, const char *what, int error)
{
	fprintf(stderr, PROGRAM ": port %u: cannot %s: %s\n", port->id, what, rte_strerror(-error));
	return -1;
}

static int
say_no_port(void)
{
	fprintf(stderr,
		PROGRAM
		": no port\n"
		"Bind a NIC to a DPDK driver (dpdk-devbind.py), or add a virtual device:\n"
		"  --vdev=net_pcap0,rx_pcap=requests.pcap,tx_pcap=replies.pcap  (files)\n"
		"  --vdev=net_tap0,iface=netfc0                                 (a TAP interface)\n");
	return -1;
}

/* Where the packets of each port leave. */
static int
connect_ports(struct app *app)
{
	enum forward_mode mode = app->options.forward;
	bool even = app->port_count % 2 == 0;

	if (mode == FORWARD_AUTO && app->port_count > 1 && !even) {
		fprintf(stderr,
			PROGRAM
			": %u ports: neither one nor pairs; choose with --forward reflect\n",
			app->port_count);
		return -1;
	}
	if (mode == FORWARD_AUTO)
		mode = even ? FORWARD_PAIR : FORWARD_REFLECT;
	if (mode == FORWARD_PAIR && !even) {
		fprintf(stderr,
			PROGRAM ": --forward pair: needs an even number of ports, there %s %u\n",
			app->port_count == 1 ? "is" : "are", app->port_count);
		return -1;
	}
	app->options.forward = mode;
	for (unsigned int p = 0; p < app->port_count; p++)
		app->port[p].out = (uint16_t)(mode == FORWARD_PAIR ? p ^ 1 : p);
	return 0;
}

/*
 * The EAL goes on without a virtual device that it cannot make (a missing file, say), and
 * forwarding would not be what was asked for.
 */
static int
check_virtual_devices(void)
{
	struct rte_devargs *device;
	uint16_t id;

	RTE_EAL_DEVARGS_FOREACH ("vdev", device) {
		if (rte_eth_dev_get_port_by_name(device->name, &id) == 0)
			continue;
		fprintf(stderr,
			PROGRAM
			": --vdev=%s,%s: there is no such port; the lines above may say why\n",
			device->name, device->args != NULL ? device->args : "");
		return -1;
	}
	return 0;
}

int
ports_find(struct app *app)
{
	uint16_t id;

	if (check_virtual_devices() != 0)
		return -1;
	RTE_ETH_FOREACH_DEV (id) {
		struct port *port = &app->port[app->port_count];
		int error;

		port->id = id;
		error = rte_eth_dev_info_get(id, &port->info);
		if (error != 0)
			return fail(port, "get its properties", error);
		app->port_count++;
	}
	if (app->port_count == 0)
		return say_no_port();
	return connect_ports(app);
}

static bool
has_rss(const struct port *port)
{
	return port->info.flow_type_rss_offloads != 0;
}

/*
 * With RSS the switch says how many receive queues it wants; without, the device does (files,
 * rings, vhost), and leaving one of its queues alone would lose packets.
 */
static uint16_t
choose_rx_queues(const struct port *port, unsigned int lcores)
{
	uint16_t most = port->info.max_rx_queues;

	if (has_rss(port))
		return (uint16_t)RTE_MIN(most, lcores);
	return most > MANY_QUEUES ? 1 : RTE_MAX(most, 1);
}

void
ports_choose_queues(struct app *app, unsigned int lcores)
{
	for (unsigned int p = 0; p < app->port_count; p++)
		app->port[p].rx_queues = choose_rx_queues(&app->port[p], lcores);
	for (unsigned int p = 0; p < app->port_count; p++) {
		const struct port *port = &app->port[p];
		struct port *out = &app->port[port->out];
		unsigned int wanted = RTE_MIN(port->rx_queues, lcores);

		out->tx_queues = (uint16_t)RTE_MAX(RTE_MIN(out->info.max_tx_queues, wanted), 1u);
	}
	for (unsigned int p = 0; p < app->port_count; p++) {
		struct port *port = &app->port[p];

		port->rx_descriptors = DESCRIPTORS;
		port->tx_descriptors = DESCRIPTORS;
		rte_eth_dev_adjust_nb_rx_tx_desc(
			port->id, &port->rx_descriptors, &port->tx_descriptors);
	}
}

int
ports_create_pool(struct app *app, unsigned int lcores)
{
	unsigned int mbufs = lcores * (POOL_CACHE + PIPELINE_BURST);

	for (unsigned int p = 0; p < app->port_count; p++) {
		const struct port *port = &app->port[p];

		mbufs += port->rx_queues * port->rx_descriptors +
			port->tx_queues * port->tx_descriptors;
	}
	app->pool = rte_pktmbuf_pool_create("netfc", RTE_MAX(mbufs, (unsigned int)POOL_LEAST),
		POOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (app->pool != NULL)
		return 0;
	fprintf(stderr,
		PROGRAM ": cannot make %u packet buffers: %s; give the EAL more memory (-m MB)\n",
		mbufs, rte_strerror(rte_errno));
	return -1;
}

static int
setup_queues(struct app *app, const struct port *port)
{
	int socket = rte_eth_dev_socket_id(port->id), error;

	for (uint16_t q = 0; q < port->rx_queues; q++) {
		error = rte_eth_rx_queue_setup(
			port->id, q, port->rx_descriptors, (unsigned int)socket, NULL, app->pool);
		if (error != 0)
			return fail(port, "set up a receive queue", error);
	}
	for (uint16_t q = 0; q < port->tx_queues; q++) {
		error = rte_eth_tx_queue_setup(
			port->id, q, port->tx_descriptors, (unsigned int)socket, NULL);
		if (error != 0)
			return fail(port, "set up a transmit queue", error);
	}
	return 0;
}

static int
start_port(struct app *app, struct port *port)
{
	struct rte_eth_conf conf;
	int error;

	memset(&conf, 0, sizeof(conf));
	if (port->rx_queues > 1 && has_rss(port)) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP) & port->info.flow_type_rss_offloads;
	}
	conf.rxmode.offloads = port->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.txmode.offloads = port->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	error = rte_eth_dev_configure(port->id, port->rx_queues, port->tx_queues, &conf);
	if (error != 0)
		return fail(port, "configure it", error);
	if (setup_queues(app, port) != 0)
		return -1;
	/* Frames for others are forwarded, too; devices that cannot choose deliver them anyway. */
	rte_eth_promiscuous_enable(port->id);
	error = rte_eth_dev_start(port->id);
	if (error != 0)
		return fail(port, "start it", error);
	port->started = true;
	return 0;
}

int
ports_start(struct app *app)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (start_port(app, &app->port[p]) != 0)
			return -1;
	}
	return 0;
}

void
ports_stop(struct app *app)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		struct port *port = &app->port[p];

		if (port->started)
			rte_eth_dev_stop(port->id);
		port->started = false;
		rte_eth_dev_close(port->id);
	}
	app->port_count = 0;
	if (app->pool != NULL)
		app->mbufs_leaked = rte_mempool_in_use_count(app->pool);
}

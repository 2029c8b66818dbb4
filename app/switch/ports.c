/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "dpdk/eal.h"
#include "ports.h"

#define DESCRIPTORS 1024
#define POOL_CACHE 256
#define POOL_LEAST 8191

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
			": %u ports: neither one nor pairs; choose --forward reflect or bridge\n",
			app->port_count);
		return -1;
	}
	if (mode == FORWARD_AUTO)
		mode = even ? FORWARD_PAIR : FORWARD_REFLECT;
	if (mode == FORWARD_BRIDGE && app->port_count == 1) {
		fprintf(stderr,
			PROGRAM ": --forward bridge: needs two ports or more, there is 1\n");
		return -1;
	}
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

/* Frames that may leave: an MTU, an Ethernet header and two VLAN tags. */
#define FRAME_OVERHEAD (RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN)

/* The greatest MTU, of which a device may say more than the frames it takes allow. */
static uint32_t
greatest_mtu(const struct rte_eth_dev_info *info)
{
	uint32_t overhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_mtu;
	return RTE_MIN((uint32_t)info->max_mtu, info->max_rx_pktlen - overhead);
}

static int
check_mtu(struct port *port, uint16_t mtu)
{
	uint32_t most = greatest_mtu(&port->info);

	port->longest = mtu != 0 ? mtu + (uint32_t)FRAME_OVERHEAD : UINT32_MAX;
	if (mtu == 0 || (mtu >= port->info.min_mtu && mtu <= most))
		return 0;
	fprintf(stderr, PROGRAM ": --mtu %u: port %u takes %u to %u\n", mtu, port->id,
		port->info.min_mtu, most);
	return -1;
}

static int
init_endpoint(struct app *app, struct port *port)
{
	struct rte_ether_addr mac;
	int error = rte_eth_macaddr_get(port->id, &mac);

	if (error != 0)
		return fail(port, "get its MAC address", error);
	endpoint_init(&port->endpoint, &app->options.addresses, port->id, &mac);
	return 0;
}

/* An address that names a port must name one that is there. */
static int
check_address_ports(const struct app *app)
{
	const struct addresses *addresses = &app->options.addresses;

	for (unsigned int a = 0; a < addresses->count; a++) {
		uint16_t port = addresses->address[a].port;
		char text[64];

		if (port == EVERY_PORT || rte_eth_dev_is_valid_port(port))
			continue;
		address_print(&addresses->address[a], text, sizeof(text));
		fprintf(stderr, PROGRAM ": --address '%s': there is no port %u\n", text, port);
		return -1;
	}
	return 0;
}

int
ports_find(struct app *app)
{
	uint16_t id;

	if (eal_check_virtual_devices(PROGRAM) != 0)
		return -1;
	RTE_ETH_FOREACH_DEV (id) {
		struct port *port = &app->port[app->port_count];
		int error;

		port->id = id;
		error = rte_eth_dev_info_get(id, &port->info);
		if (error != 0)
			return fail(port, "get its properties", error);
		if (check_mtu(port, app->options.mtu) != 0 || init_endpoint(app, port) != 0)
			return -1;
		port->rx_descriptors = port->tx_descriptors = DESCRIPTORS;
		rte_eth_dev_adjust_nb_rx_tx_desc(id, &port->rx_descriptors, &port->tx_descriptors);
		app->port_count++;
	}
	if (app->port_count == 0)
		return say_no_port();
	if (check_address_ports(app) != 0)
		return -1;
	return connect_ports(app);
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
	mbufs = app->options.mbufs != 0 ? app->options.mbufs
					: RTE_MAX(mbufs, (unsigned int)POOL_LEAST);
	app->pool = rte_pktmbuf_pool_create(
		"netfc", mbufs, POOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
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
	if (port->rx_queues > 1 && port->info.flow_type_rss_offloads != 0) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP) & port->info.flow_type_rss_offloads;
	}
	conf.rxmode.mtu = app->options.mtu;
	conf.rxmode.offloads = port->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.txmode.offloads = port->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	error = rte_eth_dev_configure(port->id, port->rx_queues, port->tx_queues, &conf);
	if (error != 0)
		return fail(port, "configure it", error);
	if (app->options.mtu != 0) {
		error = rte_eth_dev_set_mtu(port->id, app->options.mtu);
		if (error != 0 && error != -ENOTSUP)
			return fail(port, "set its MTU", error);
	}
	if (setup_queues(app, port) != 0)
		return -1;
	/* Frames for others are forwarded, too; devices that cannot choose deliver them anyway. */
	rte_eth_promiscuous_enable(port->id);
	rte_eth_allmulticast_enable(port->id);
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

/*
 * Free what has been sent into rings and not received again: the driver, which does not, would
 * leave it to look like a leak.
 */
static void
drain_rings(const struct port *port)
{
	if (!port->started || strcmp(port->info.driver_name, "net_ring") != 0)
		return;
	for (uint16_t q = 0; q < port->rx_queues; q++) {
		struct rte_mbuf *mbufs[PIPELINE_BURST];
		uint16_t count;

		while ((count = rte_eth_rx_burst(port->id, q, mbufs, PIPELINE_BURST)) > 0)
			rte_pktmbuf_free_bulk(mbufs, count);
	}
}

void
ports_stop(struct app *app)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		struct port *port = &app->port[p];

		drain_rings(port);
		if (port->started)
			rte_eth_dev_stop(port->id);
		port->started = false;
		rte_eth_dev_close(port->id);
	}
	app->port_count = 0;
	if (app->pool != NULL)
		app->mbufs_leaked = rte_mempool_in_use_count(app->pool);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_string_fns.h>

#include "dpdk/eal.h"
#include "dpdk/quirks.h"
#include "interface.h"
#include "setup.h"
#include "sleep/interrupts.h"

static enum exit_status
report_no_port(void)
{
	REPORT("no port\n"
	       "Bind a NIC to a DPDK driver (dpdk-devbind.py), or add a virtual device:\n"
	       "  --vdev=net_pcap0,rx_pcap=requests.pcap,tx_pcap=replies.pcap  (files)\n"
	       "  --vdev=net_tap0,iface=netfc0                                 (a TAP interface)\n");
	return exit_status_later();
}

/* Where the packets of each port leave. */
static int
connect_ports(struct app *app)
{
	enum forward_mode mode = app->options.forward;
	bool even = app->port_count % 2 == 0;

	if (mode == FORWARD_AUTO && app->port_count > 1 && !even)
		return REPORT(
			"%u ports: neither one nor pairs; choose --forward reflect or bridge\n",
			app->port_count);
	if (mode == FORWARD_AUTO)
		mode = even ? FORWARD_PAIR : FORWARD_REFLECT;
	if (mode == FORWARD_BRIDGE && app->port_count == 1)
		return REPORT("--forward bridge: needs two ports or more, there is 1\n");
	if (mode == FORWARD_PAIR && !even)
		return REPORT("--forward pair: needs an even number of ports, there %s %u\n",
			app->port_count == 1 ? "is" : "are", app->port_count);
	app->options.forward = mode;
	for (unsigned int p = 0; p < app->port_count; p++)
		app->port[p].out = (uint16_t)(mode == FORWARD_PAIR ? p ^ 1 : p);
	return 0;
}

/* Frames that may leave: an MTU, an Ethernet header and two VLAN tags. */
#define FRAME_OVERHEAD (RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN)

/* The greatest MTU. A device may report more than its longest frame allows. */
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

	port->max_frame = mtu != 0 ? mtu + (uint32_t)FRAME_OVERHEAD : UINT32_MAX;
	if (mtu == 0 || (mtu >= port->info.min_mtu && mtu <= most))
		return 0;
	return REPORT(
		"--mtu %u: port %u takes %u to %u\n", mtu, port->id, port->info.min_mtu, most);
}

/* Behind a TAP interface is the kernel of this machine, as a host with the port's MAC address. */
static bool
owns_mac(const struct port *port, const struct rte_ether_addr *mac)
{
	const char *driver = port->info.driver_name;

	return strcmp(driver, "net_tap") != 0 && strcmp(driver, "net_virtio_user") != 0 &&
		rte_is_unicast_ether_addr(mac) && !rte_is_zero_ether_addr(mac);
}

static int
init_endpoint(struct app *app, struct port *port)
{
	struct rte_ether_addr mac;
	int error = rte_eth_macaddr_get(port->id, &mac);

	if (error != 0)
		return ethdev_fail(port->id, "get its MAC address", error);
	port->owns_mac = owns_mac(port, &mac);
	endpoint_init(&port->endpoint, &app->options.addresses, port->id, &mac);
	port->endpoint.aggregate_port = (uint16_t)app->options.aggregate.port;
	return 0;
}

/* If an address names a port, the port must exist. */
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
		return REPORT("--address '%s': there is no port %u\n", text, port);
	}
	return 0;
}

enum exit_status
ports_find(struct app *app)
{
	enum exit_status found = eal_check_devices();
	uint16_t id;

	if (found != EXIT_DONE)
		return found;
	RTE_ETH_FOREACH_DEV (id) {
		struct port *port = &app->port[app->port_count];

		port->id = id;
		if (ethdev_examine(id, &port->info, &port->rx_descriptors, &port->tx_descriptors) !=
			0)
			return EXIT_CONFIGURATION;
		rte_eth_dev_get_name_by_port(id, port->name);
		rte_strscpy(port->device, rte_dev_name(port->info.device), sizeof(port->device));
		if (check_mtu(port, app->options.mtu) != 0 || init_endpoint(app, port) != 0)
			return EXIT_CONFIGURATION;
		app->port_count++;
	}
	if (app->port_count == 0)
		return report_no_port();
	if (check_address_ports(app) != 0 || connect_ports(app) != 0)
		return EXIT_CONFIGURATION;
	return EXIT_DONE;
}

/* By receive queue, that of the lcore which polls it. */
static void
choose_pools(const struct app *app, const struct port *port, struct rte_mempool **pools)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		const struct lcore *lcore = &app->lcore[lcore_id];

		for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
			if (&app->port[lcore->rx_queue[i].port] == port)
				pools[lcore->rx_queue[i].queue] = lcore->pool;
		}
	}
}

static int
start_port(const struct app *app, struct port *port)
{
	struct rte_mempool *pools[RTE_MAX_QUEUES_PER_PORT];
	const struct ethdev_setup setup = {
		.rx_queues = port->rx_queues,
		.tx_queues = port->tx_queues,
		.rx_descriptors = port->rx_descriptors,
		.tx_descriptors = port->tx_descriptors,
		.mtu = app->options.mtu,
		.tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS,
		.all_multicast = true,
		.rx_interrupts = interrupts_wanted(app, port),
		.pools = pools,
	};

	choose_pools(app, port, pools);
	port->started = ethdev_start(port->id, &port->info, &setup) == 0;
	return port->started ? 0 : -1;
}

static void
warn_of_cut(const struct port *port)
{
	uint32_t mtu, most;

	if (interface_is_cut(port, &mtu, &most))
		REPORT("port %u, %s: its interface has MTU %u, and of packets longer than %u bytes the "
		       "end is lost; give the port a larger framesz= and blocksz= and the switch larger "
		       "buffers (--aggregate bytes=), or the interface a smaller MTU\n",
			port->id, port->name, mtu, most);
}

int
ports_start(struct app *app)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (start_port(app, &app->port[p]) != 0)
			return -1;
		warn_of_cut(&app->port[p]);
	}
	return 0;
}

void
ports_stop(struct app *app)
{
	const unsigned int may_keep = app->mbufs_kept + quirk_kept_buffers();
	unsigned int in_use;

	for (unsigned int p = 0; p < app->port_count; p++) {
		struct port *port = &app->port[p];

		if (port_is_gone(port))
			continue;
		steer_stop(port);
		if (port->started)
			quirk_drain_rings(port->id, port->rx_queues);
		ethdev_stop(port->id, port->started);
		port->started = false;
	}
	app->port_count = 0;
	in_use = pools_in_use(app);
	app->mbufs_kept = RTE_MIN(in_use, may_keep);
	app->mbufs_leaked = in_use - app->mbufs_kept;
}

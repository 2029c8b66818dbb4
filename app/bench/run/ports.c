/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "dpdk/eal.h"
#include "run/run.h"

/* Ethernet header and two VLAN tags. */
#define LAYER2_BYTES 22
/* How often a link that is down is looked at again. */
#define LINK_POLL_MS 10

static int
report_no_port(void)
{
	return REPORT("no port\n"
		      "Bind a NIC to a DPDK driver (dpdk-devbind.py), add a virtual device:\n"
		      "  --vdev=net_virtio_user0,path=SOCKET,queue_size=1024  (to a vhost port)\n"
		      "  --vdev=net_memif0,socket=SOCKET                      (to a memif port)\n"
		      "or run the switch in this process, too:\n"
		      "  " PROGRAM " ... -- --inline\n");
}

static uint16_t
first_port(void)
{
	return (uint16_t)rte_eth_find_next(0);
}

static int
add_port(struct bench *bench, const char *option, uint16_t id)
{
	struct port *port = &bench->port[bench->port_count];

	if (!rte_eth_dev_is_valid_port(id))
		return REPORT("--%s %u: no such port; there %s %u, from 0 on\n", option, id,
			rte_eth_dev_count_avail() == 1 ? "is" : "are", rte_eth_dev_count_avail());
	bench->port_count++;
	port->id = id;
	port->queues = bench->embedded != NULL ? (uint16_t)bench->options.switch_lcores : 1;
	return ethdev_examine(id, &port->info, &port->rx_descriptors, &port->tx_descriptors);
}

static int
choose_ports(struct bench *bench)
{
	const struct options *options = &bench->options;

	if (bench->embedded != NULL) {
		bench->tx_port = bench->rx_port = embedded_port(bench->embedded);
		return 0;
	}
	if (rte_eth_dev_count_avail() == 0)
		return report_no_port();
	bench->tx_port = options->tx_port != NO_PORT ? options->tx_port : first_port();
	bench->rx_port = options->rx_port != NO_PORT ? options->rx_port : bench->tx_port;
	return 0;
}

/* Where requests come from and go to, as far as the user leaves it to the ports. */
static int
choose_addresses(struct bench *bench)
{
	static const struct rte_ether_addr this_side = {{0x02, 0, 0, 0, 0, 0x01}};
	static const struct rte_ether_addr other_side = {{0x02, 0, 0, 0, 0, 0x02}};
	struct flow *flow = &bench->options.flow;
	const bool dst_mac_given = !rte_is_zero_ether_addr(&flow->dst_mac);
	int error = 0;

	if (rte_is_zero_ether_addr(&flow->src_mac))
		error = rte_eth_macaddr_get(bench->tx_port, &flow->src_mac);
	if (rte_is_zero_ether_addr(&flow->src_mac))
		flow->src_mac = this_side;
	if (!dst_mac_given && bench->rx_port != bench->tx_port)
		error = error != 0 ? error : rte_eth_macaddr_get(bench->rx_port, &flow->dst_mac);
	else if (!dst_mac_given)
		flow->dst_mac = other_side;
	return error != 0 ? ethdev_fail(bench->tx_port, "get its MAC address", error) : 0;
}

static int
check_mtu(const struct bench *bench)
{
	for (unsigned int p = 0; p < bench->port_count; p++) {
		const struct port *port = &bench->port[p];

		if (bench->options.mtu <= port->info.max_mtu)
			continue;
		return REPORT("--mtu %u: port %u takes no more than %u\n", bench->options.mtu,
			port->id, port->info.max_mtu);
	}
	return 0;
}

int
bench_ports_find(struct bench *bench)
{
	if (eal_check_devices() != 0 || choose_ports(bench) != 0)
		return -1;
	if (add_port(bench, "tx-port", bench->tx_port) != 0)
		return -1;
	if (bench->rx_port != bench->tx_port && add_port(bench, "rx-port", bench->rx_port) != 0)
		return -1;
	if (check_mtu(bench) != 0)
		return -1;
	return choose_addresses(bench);
}

int
bench_ports_create_pool(struct bench *bench)
{
	uint32_t data_bytes = RTE_PKTMBUF_HEADROOM + LAYER2_BYTES + bench->options.mtu;
	unsigned int buffers = 2 * (MBUF_CACHE + BENCH_BURST) + MBUF_CACHE / 2;

	/* Buffers that are used in turn stay in the cache as long as there are few. */
	if (bench->embedded != NULL)
		buffers += embedded_buffers(bench->embedded);
	for (unsigned int p = 0; p < bench->port_count && bench->embedded == NULL; p++)
		buffers += bench->port[p].rx_descriptors + bench->port[p].tx_descriptors;
	bench->pool = ethdev_pool_create("netfc_bench", buffers,
		RTE_MAX(data_bytes, (uint32_t)RTE_MBUF_DEFAULT_BUF_SIZE), rte_socket_id());
	return bench->pool != NULL ? 0 : -1;
}

static int
start_port(struct port *port, const struct options *options, struct rte_mempool *pool)
{
	const struct ethdev_setup setup = {
		.rx_queues = port->queues,
		.tx_queues = port->queues,
		.rx_descriptors = port->rx_descriptors,
		.tx_descriptors = port->tx_descriptors,
		.mtu = options->mtu > RTE_ETHER_MTU ? (uint16_t)options->mtu : 0,
		.pool = pool,
	};

	port->started = ethdev_start(port->id, &port->info, &setup) == 0;
	return port->started ? 0 : -1;
}

static bool
is_up(const struct port *port)
{
	struct rte_eth_link link = {0};

	/* A device that cannot tell may still carry packets. */
	return rte_eth_link_get_nowait(port->id, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

static int
wait_for_link(const struct bench *bench, const struct port *port, uint64_t deadline)
{
	while (!is_up(port)) {
		if (bench_should_quit(bench))
			return 0;
		if (rte_rdtsc() > deadline)
			return REPORT("port %u (%s): the link did not come up in %g seconds; "
				      "is the other side running?\n",
				port->id, port->info.driver_name, bench->options.wait);
		rte_delay_us_sleep(LINK_POLL_MS * US_PER_S / MS_PER_S);
	}
	return 0;
}

int
bench_ports_start(struct bench *bench)
{
	uint64_t deadline;

	for (unsigned int p = 0; p < bench->port_count; p++) {
		if (start_port(&bench->port[p], &bench->options, bench->pool) != 0)
			return -1;
	}
	deadline = rte_rdtsc() + (uint64_t)(bench->options.wait * (double)rte_get_tsc_hz());
	for (unsigned int p = 0; p < bench->port_count; p++) {
		if (wait_for_link(bench, &bench->port[p], deadline) != 0)
			return -1;
	}
	return 0;
}

void
bench_ports_stop(struct bench *bench)
{
	for (unsigned int p = 0; p < bench->port_count; p++)
		ethdev_stop(bench->port[p].id, bench->port[p].started);
	bench->port_count = 0;
}

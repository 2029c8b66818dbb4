/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "dpdk/eal.h"
#include "json.h"
#include "options/options.h"
#include "run/run.h"
#include "dpdk/quirks.h"

/* Packets per ring where a rate, not a window, decides how many there may be. */
#define RATE_RING 4096
#define MIN_RING 1024
#define MAX_RING 16384

/* Memory pools that give first what was freed last. */
#define REUSING_OPS "stack"

/* What an aggregation's switch loads besides: it is not used. */
#define SMALL_SET "fp16_k8"

static uint32_t
packets_in_flight(const struct options *options)
{
	uint64_t packets = options->rate != 0 ? RATE_RING : 2 * (uint64_t)options->window;

	if (options->aggregate.on)
		packets = 2 * options->aggregate.slots * options->aggregate.workers;
	return rte_align32pow2((uint32_t)RTE_MIN(RTE_MAX(packets, (uint64_t)MIN_RING),
		(uint64_t)RTE_MAX(MAX_RING, 2 * options->window)));
}

static void
print_address(bool ip6, const uint8_t *bytes, char text[INET6_ADDRSTRLEN])
{
	inet_ntop(ip6 ? AF_INET6 : AF_INET, bytes, text, INET6_ADDRSTRLEN);
}

/* The texts are of the configuration's addresses. */
static void
add_aggregation(const struct options *options, char address[INET6_ADDRSTRLEN],
	char parent[INET6_ADDRSTRLEN], struct embedded_config *config)
{
	const struct aggregate_options *aggregate = &options->aggregate;

	print_address(options->flow.ip6, options->flow.dst_ip, address);
	print_address(aggregate->parent.version == 6, aggregate->parent.bytes, parent);

	config->tables = SMALL_SET;
	config->match = MATCH_DIRECT;
	config->address = address;
	config->aggregate_port = (uint16_t)aggregate->port;
	config->slots = (uint32_t)aggregate->slots;
	config->workers = (uint32_t)aggregate->workers;
	config->bytes = (uint32_t)aggregate->bytes;
	config->key = aggregate->key;
	config->digits = aggregate->behind != 0 ? aggregate->formats : 0;
	config->parent = aggregate->parent.version != 0 ? parent : NULL;
}

/*
 * The lcore that frees a packet is not the one that allocated it. A ring, the default, would reuse
 * buffers in turn, all of them cold; a stack reuses those freed last, as does the cache of an lcore
 * that receives from a NIC and sends to it.
 */
static void
choose_mempool_ops(void)
{
	if (rte_mbuf_user_mempool_ops() == NULL && quirk_pool_ops(REUSING_OPS) != NULL)
		rte_mbuf_set_user_mempool_ops(REUSING_OPS);
}

int
inline_switch_create(struct bench *bench)
{
	const struct options *options = &bench->options;
	char address[INET6_ADDRSTRLEN], parent[INET6_ADDRSTRLEN];
	struct embedded_config config = {
		.tables = options->set,
		.functions = bench->function != NULL ? value_op_name(options->op) : NULL,
		.match = options->match,
		.udp_port = options->flow.dst_udp,
		.mtu = options->mtu > RTE_ETHER_MTU ? (uint16_t)options->mtu : 0,
		.lcores = options->switch_lcores,
		.yields = idle_should_yield(rte_get_main_lcore()),
		.packets = packets_in_flight(options),
	};

	if (options->aggregate.on)
		add_aggregation(options, address, parent, &config);
	if (embedded_load(&config, &bench->embedded) != 0)
		return -1;
	choose_mempool_ops();
	return embedded_create(bench->embedded);
}

void
inline_switch_print(FILE *out, const struct bench *bench)
{
	struct embedded_totals totals;

	if (bench->embedded == NULL)
		return;
	embedded_totals(bench->embedded, &totals);
	fprintf(out, "  switch    %" PRIu64 " packets in %.3f s of its lcores' own time\n",
		totals.packets, totals.seconds);
}

json_t *
inline_switch_json(const struct bench *bench, uint64_t values)
{
	struct embedded_totals totals;
	double each;

	if (bench->embedded == NULL)
		return json_null();
	embedded_totals(bench->embedded, &totals);
	each = RTE_MAX(totals.seconds, 1e-9) / bench->options.switch_lcores;
	return json_pack("{s:i, s:o, s:f, s:f, s:f, s:o}", "lcores",
		(int)bench->options.switch_lcores, "packets", json_count(totals.packets), "seconds",
		totals.seconds, "packets_per_second", (double)totals.packets / each,
		"values_per_second", (double)values / each, "aggregate",
		embedded_actions(bench->embedded));
}

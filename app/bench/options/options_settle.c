/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that need more than one option, and defaults that depend on others. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <rte_udp.h>

#include "bench.h"
#include "options/options.h"

#define DEFAULT_SECONDS 5
/* Of each figure in memory. */
#define DEFAULT_FIGURE_SECONDS 0.05
/* Half of a queue of 1,024 descriptors, so that neither direction ever overflows. */
#define DEFAULT_WINDOW 512

/* Of the networks that are set aside for benchmarks (RFC 2544, RFC 5180). */
#define DEFAULT_SRC_IP4 "198.18.0.1"
#define DEFAULT_WORKERS_IP4 "198.18.0.65"
#define DEFAULT_DST_IP4 "198.18.0.2"
#define DEFAULT_SRC_IP6 "2001:2::1"
#define DEFAULT_WORKERS_IP6 "2001:2::65"
#define DEFAULT_DST_IP6 "2001:2::2"

static int
error(const char *what)
{
	fprintf(stderr, PROGRAM ": %s\n", what);
	return -1;
}

static const char *
default_source(const struct options *options)
{
	if (options->aggregate.on)
		return options->flow.ip6 ? DEFAULT_WORKERS_IP6 : DEFAULT_WORKERS_IP4;
	return options->flow.ip6 ? DEFAULT_SRC_IP6 : DEFAULT_SRC_IP4;
}

static int
settle_addresses(struct options *options)
{
	const struct ip_address *src = &options->src_ip, *dst = &options->dst_ip;
	struct flow *flow = &options->flow;
	int family;

	if (src->version + dst->version == 4 + 6)
		return error("--src-ip and --dst-ip: one is IPv4, the other IPv6");
	if (options->ip6 && (src->version == 4 || dst->version == 4))
		return error("--ip6: the addresses given are IPv4");
	flow->ip6 = options->ip6 || src->version == 6 || dst->version == 6;
	family = flow->ip6 ? AF_INET6 : AF_INET;
	memcpy(flow->src_ip, src->bytes, IP_BYTES);
	memcpy(flow->dst_ip, dst->bytes, IP_BYTES);
	if (src->version == 0)
		inet_pton(family, default_source(options), flow->src_ip);
	if (dst->version == 0)
		inet_pton(family, flow->ip6 ? DEFAULT_DST_IP6 : DEFAULT_DST_IP4, flow->dst_ip);
	if (memcmp(flow->src_ip, flow->dst_ip, IP_BYTES) == 0)
		return error("--src-ip and --dst-ip: both are the same");
	if (flow->src_udp + options->flows - 1 > UINT16_MAX) {
		fprintf(stderr, PROGRAM ": --flows %u: there are not so many ports from %u on\n",
			options->flows, flow->src_udp);
		return -1;
	}
	return 0;
}

/* The number of a set's format. */
static unsigned int
format_of(const char *set)
{
	struct netfc_set_id id;

	return netfc_set_parse_name(set, &id) == NETFC_OK ? netfc_format_id(id.format) : 0;
}

/* Min, max and compare, and functions but for conversions, are of formats of 8 and 16 bits. */
static int
check_op(const struct options *options)
{
	const struct netfc_function *function = netfc_function_by_number(options->op);

	if (options->op <= NETFC_DIV || format_of(options->set) != NETFC_FP32 ||
		(function != NULL && netfc_function_has_format(function, netfc_fp32_format())))
		return 0;
	fprintf(stderr,
		PROGRAM ": --op %s: not of binary32; with --set %s, add, sub, mul, div, all or a "
			"conversion to another format, such as to_bf16\n",
		value_op_name(options->op), options->set);
	return -1;
}

static int
check_lanes(const struct options *options)
{
	const struct flow *flow = &options->flow;
	uint32_t headers = flow_ip_bytes(flow) +
		(uint32_t)(sizeof(struct rte_udp_hdr) + sizeof(struct netfc_hdr));
	const unsigned int format = format_of(options->set), op = options->op;
	const uint32_t space = options->mtu > headers ? (options->mtu - headers) / 3 : 0;
	/* What fills up to an even number of bytes is no lane. */
	const uint32_t most = (space - space % 2) / netfc_wire_slot_bytes(op, format);

	if (options->lanes <= most)
		return 0;
	fprintf(stderr,
		PROGRAM ": --lanes %u: no more than %u fit into an IPv%d packet of %u bytes; "
			"see --mtu\n",
		options->lanes, most, flow->ip6 ? 6 : 4, options->mtu);
	return -1;
}

static int
check_ports(const struct options *options)
{
	if (options->aggregate.queue == QUEUE_OF_OTHER && options->switch_lcores < 2)
		return error("--aggregate queue=other: without --inline=2, or more, there is none");
	if (options->aggregate.parent.version != 0 && options->switch_lcores == 0)
		return error("--aggregate parent=: is that of the switch: it goes with --inline");
	if (options->switch_lcores != 0 &&
		(options->tx_port != NO_PORT || options->rx_port != NO_PORT))
		return error("--inline brings its own ports: no --tx-port or --rx-port");
	return 0;
}

int
options_settle(struct options *options)
{
	if (options->window != 0 && options->rate != 0)
		return error("--window and --rate: give one of them");
	if (options->window == 0 && options->rate == 0)
		options->window = DEFAULT_WINDOW;
	if (options->packets == 0 && options->seconds == 0 && options->aggregate.chunks == 0)
		options->seconds =
			options->mode == MODE_MEMORY ? DEFAULT_FIGURE_SECONDS : DEFAULT_SECONDS;
	if (settle_addresses(options) != 0 || check_lanes(options) != 0 || check_op(options) != 0)
		return -1;
	if (bench_aggregate_check(&options->aggregate) != 0)
		return -1;
	return check_ports(options);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <rte_udp.h>

#include "bench.h"
#include "option.h"
#include "options/options.h"
#include "set_option.h"

#define MAX_LANES 10915
#define MAX_FLOWS 1024
#define MAX_PACKETS (UINT64_C(1) << 50)
#define MAX_WINDOW (1u << 20)
#define MAX_RATE 1e9
#define MAX_TIMEOUT_MS 60000
#define MIN_SECONDS 1e-3
#define MAX_SECONDS (7 * 24 * 60 * 60.)
#define MIN_MTU 68
/* What a packet buffer, whose length has 16 bits, holds besides its headroom. */
#define MAX_MTU 65280
#define LAST_PORT (RTE_MAX_ETHPORTS - 1)

/* The scope of options that --aggregate has no use for. */
#define REQUESTS_ONLY 1

#define FIELD(field) OPTION_FIELD(struct options, field)

/* A default of 0 stands for none where it is outside the range. */
static const struct option_row rows[] = {
	{"set", FIELD(set), .value = "NAME", .preset_text = "fp16_k1024", .parse = option_set,
		.scope = REQUESTS_ONLY, .meaning = "table set that the switch has loaded"},
	{"op", FIELD(op), .value = "OP", .preset = NETFC_ADD, .parse = value_op,
		.scope = REQUESTS_ONLY,
		.meaning = "add (default), sub, mul, div, or all of these in turn; min, max, "
			   "compare, or a function that the switch has loaded"},
	{"lanes", FIELD(lanes), OPTION_RANGE(1, MAX_LANES, 1), .value = "N", .scope = REQUESTS_ONLY,
		.meaning = "lanes per packet"},
	{"operands", FIELD(operands), .value = "random|values|FILE", .preset_text = OPERANDS_RANDOM,
		.scope = REQUESTS_ONLY,
		.meaning = "random: any bits; values: numbers of all sizes from 0.001 to 1000; or "
			   "a file: x and y on each line, decimal or 0x and hex digits; as on the "
			   "wire if its name ends in .bin"},
	{"seed", FIELD(seed), OPTION_RANGE(0, UINT64_MAX, 1), .value = "N",
		.meaning = "seed of the random operands"},
	{"packets", FIELD(packets), OPTION_RANGE(1, MAX_PACKETS, 0), .value = "N",
		.scope = REQUESTS_ONLY, .meaning = "send N packets"},
	{"seconds", FIELD(seconds), OPTION_REAL_RANGE(MIN_SECONDS, MAX_SECONDS, 0), .value = "S",
		.meaning = "send for S seconds (default 5, unless --packets or chunks=)"},
	{"window", FIELD(window), OPTION_RANGE(1, MAX_WINDOW, 0), .value = "N",
		.scope = REQUESTS_ONLY, .meaning = "keep N packets outstanding (default 512)"},
	{"rate", FIELD(rate), OPTION_REAL_RANGE(1, MAX_RATE, 0), .value = "PPS",
		.scope = REQUESTS_ONLY,
		.meaning = "or send PPS packets per second, however many are answered"},
	{"timeout", FIELD(timeout_ms), OPTION_RANGE(1, MAX_TIMEOUT_MS, 1000), .value = "MS",
		.scope = REQUESTS_ONLY,
		.meaning = "milliseconds after which a reply counts as lost"},
	{"flows", FIELD(flows), OPTION_RANGE(1, MAX_FLOWS, 1), .value = "N", .scope = REQUESTS_ONLY,
		.meaning = "spread requests over N UDP source ports"},
	{"src-mac", FIELD(flow.src_mac), .value = "MAC", .parse = value_src_mac,
		.meaning = "source MAC address of requests (default: that of the port)"},
	{"dst-mac", FIELD(flow.dst_mac), .value = "MAC", .parse = value_dst_mac,
		.meaning = "destination MAC address of requests (default: that of --rx-port, else "
			   "02:00:00:00:00:02)"},
	{"src-ip", FIELD(src_ip), .value = "IP", .parse = value_ip,
		.meaning = "source IP address of requests (default 198.18.0.1, for workers "
			   "198.18.0.65 and up)"},
	{"dst-ip", FIELD(dst_ip), .value = "IP", .parse = value_ip,
		.meaning = "destination IP address of requests (default 198.18.0.2)"},
	{"src-udp", FIELD(flow.src_udp), OPTION_RANGE(1, UINT16_MAX, 49152), .value = "PORT",
		.meaning = "source UDP port of requests"},
	{"dst-udp", FIELD(flow.dst_udp), OPTION_RANGE(1, UINT16_MAX, NETFC_UDP_PORT),
		.value = "PORT", .scope = REQUESTS_ONLY,
		.meaning = "destination UDP port of requests"},
	{"ip6", FIELD(ip6), .meaning = "use IPv6 even if no address is given"},
	{"tx-port", FIELD(tx_port), OPTION_RANGE(0, LAST_PORT, NO_PORT), .value = "N",
		.meaning = "DPDK port to send from (default: the first)"},
	{"rx-port", FIELD(rx_port), OPTION_RANGE(0, LAST_PORT, NO_PORT), .value = "N",
		.meaning = "DPDK port to receive at (default: that of --tx-port)"},
	{"mtu", FIELD(mtu), OPTION_RANGE(MIN_MTU, MAX_MTU, 1500), .value = "N",
		.meaning = "longest IP packet"},
	{"wait", FIELD(wait), OPTION_REAL_RANGE(0, MAX_SECONDS, 10), .value = "S",
		.meaning = "seconds for the link to come up"},
	{"inline", FIELD(switch_lcores), .value = "[N]", .parse = value_lcores,
		.meaning = "run the switch in this process, too, on N lcores (default 1) besides "
			   "the sending one"},
	{"match", FIELD(match), .value = "lpm|hash|direct", .preset = MATCH_LPM,
		.parse = option_match, .scope = REQUESTS_ONLY,
		.meaning = "match engine of the --inline switch (default lpm)"},
	{"progress", FIELD(progress), OPTION_REAL_RANGE(0, MAX_SECONDS, 1), .value = "S",
		.meaning = "print a line every S seconds; 0: none"},
	{"json", FIELD(json), .value = "FILE|-",
		.meaning = "write the report to FILE or standard output as JSON"},
	{"strict", FIELD(strict), .scope = REQUESTS_ONLY,
		.meaning = "count lost, late, duplicate and reordered replies as failures"},
	{"aggregate", FIELD(aggregate), .value = "[KEY=VALUE[,...]]",
		OPTION_KEYS(bench_aggregate_keys),
		.meaning =
			"act as the workers of an aggregation (dpdk-netfc --aggregate) and compare "
			"every result with the exact one. Keys:"},
};

/* What an aggregation has no use for. */
static int
check_scopes(const struct options *options, uint64_t given)
{
	for (unsigned int r = 0; r < RTE_DIM(rows) && options->aggregate.on; r++)
		if ((given >> r & 1) != 0 && rows[r].scope == REQUESTS_ONLY)
			return REPORT("--%s: not with --aggregate\n", rows[r].name);
	return 0;
}

static bool
is_given(uint64_t given, const char *name)
{
	for (unsigned int r = 0; r < RTE_DIM(rows); r++)
		if (strcmp(rows[r].name, name) == 0)
			return given >> r & 1;
	return false;
}

static int
check_match(const struct options *options, uint64_t given)
{
	if (options->aggregate.on)
		return 0;
	if (is_given(given, "match") && options->switch_lcores == 0)
		return REPORT("--match is that of the switch: it goes with --inline\n");
	/* Replies are compared with the table set's results. */
	return options->match != MATCH_FPU
		? 0
		: option_refuse(stderr, "match", "fpu", "lpm, hash or direct");
}

/* Checks that need more than one option, and defaults that depend on others. */

#define DEFAULT_SECONDS 5
/* Half of a queue of 1,024 descriptors, so that neither direction ever overflows. */
#define DEFAULT_WINDOW 512

/* Of the networks that are set aside for benchmarks (RFC 2544, RFC 5180). */
#define DEFAULT_SRC_IP4 "198.18.0.1"
#define DEFAULT_WORKERS_IP4 "198.18.0.65"
#define DEFAULT_DST_IP4 "198.18.0.2"
#define DEFAULT_SRC_IP6 "2001:2::1"
#define DEFAULT_WORKERS_IP6 "2001:2::65"
#define DEFAULT_DST_IP6 "2001:2::2"

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
		return REPORT("--src-ip and --dst-ip: one is IPv4, the other IPv6\n");
	if (options->ip6 && (src->version == 4 || dst->version == 4))
		return REPORT("--ip6: the addresses given are IPv4\n");
	flow->ip6 = options->ip6 || src->version == 6 || dst->version == 6;
	family = flow->ip6 ? AF_INET6 : AF_INET;
	memcpy(flow->src_ip, src->bytes, IP_BYTES);
	memcpy(flow->dst_ip, dst->bytes, IP_BYTES);
	if (src->version == 0)
		inet_pton(family, default_source(options), flow->src_ip);
	if (dst->version == 0)
		inet_pton(family, flow->ip6 ? DEFAULT_DST_IP6 : DEFAULT_DST_IP4, flow->dst_ip);
	if (memcmp(flow->src_ip, flow->dst_ip, IP_BYTES) == 0)
		return REPORT("--src-ip and --dst-ip: both are the same\n");
	if (flow->src_udp + options->flows - 1 > UINT16_MAX)
		return REPORT("--flows %u: there are not so many ports from %u on\n",
			options->flows, flow->src_udp);
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
	return REPORT("--op %s: not of binary32; with --set %s, add, sub, mul, div, all or a "
		      "conversion to another format, such as to_bf16\n",
		value_op_name(options->op), options->set);
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
	return REPORT("--lanes %u: no more than %u fit into an IPv%d packet of %u bytes; "
		      "see --mtu\n",
		options->lanes, most, flow->ip6 ? 6 : 4, options->mtu);
}

static int
check_ports(const struct options *options)
{
	if (options->aggregate.queue == QUEUE_OF_OTHER && options->switch_lcores < 2)
		return REPORT(
			"--aggregate queue=other: without --inline=2, or more, there is none\n");
	if (options->aggregate.parent.version != 0 && options->switch_lcores == 0)
		return REPORT(
			"--aggregate parent=: is that of the switch: it goes with --inline\n");
	if (options->switch_lcores != 0 &&
		(options->tx_port != NO_PORT || options->rx_port != NO_PORT))
		return REPORT("--inline brings its own ports: no --tx-port or --rx-port\n");
	return 0;
}

static int
settle(struct options *options)
{
	if (options->window != 0 && options->rate != 0)
		return REPORT("--window and --rate: give one of them\n");
	if (options->window == 0 && options->rate == 0)
		options->window = DEFAULT_WINDOW;
	if (options->packets == 0 && options->seconds == 0 && options->aggregate.chunks == 0)
		options->seconds = DEFAULT_SECONDS;
	if (settle_addresses(options) != 0 || check_lanes(options) != 0 || check_op(options) != 0)
		return -1;
	if (bench_aggregate_check(&options->aggregate) != 0)
		return -1;
	return check_ports(options);
}

enum options_result
bench_options_parse(int argc, char **argv, struct options *options, int *eal_argc)
{
	static const struct option_table table = {rows, RTE_DIM(rows), 0};
	uint64_t given;
	const struct command_line line = {
		.program = PROGRAM,
		.version = NETFC_VERSION,
		.summary = "Usage: " PROGRAM " [EAL options] -- [options]\n"
			   "Sends NetFC requests through a switch, checks every reply, reports "
			   "rate, loss,\n"
			   "latency and accuracy.\n\n",
		.notes =
			"On any machine, with no NIC, hugepages or root:\n"
			"  " PROGRAM " --no-huge -m 512 --no-pci --lcores '(0-1)@(0-1)' -- "
			"--inline\n"
			"\n"
			"Exit status: 0 every reply was right, 1 wrong usage or configuration, 2 a "
			"failure\n"
			"while running, a wrong reply, or none at all.\n",
		.tables = &table,
		.table_count = 1,
		.options = options,
		.given = &given,
	};
	enum options_result result;

	*options = (struct options){0};
	result = command_line_parse(&line, argc, argv, eal_argc);
	if (result != OPTIONS_RUN)
		return result;
	if (check_scopes(options, given) == 0 && check_match(options, given) == 0 &&
		settle(options) == 0)
		return OPTIONS_RUN;
	fprintf(stderr, "Try '" PROGRAM " --help'.\n");
	return OPTIONS_WRONG;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "option_value.h"
#include "options/option_values.h"
#include "options/usage.h"

#define DEFAULT_SET "fp16_k1024"
#define DEFAULT_TIMEOUT_MS 1000
#define DEFAULT_WAIT_SECONDS 10
#define DEFAULT_MTU 1500
#define DEFAULT_SRC_UDP 49152

#define MOST_LANES 10915
#define MOST_FLOWS 1024
#define MOST_PACKETS (UINT64_C(1) << 50)
#define MOST_WINDOW (1u << 20)
#define MOST_RATE 1e9
#define MOST_TIMEOUT_MS 60000
#define LEAST_SECONDS 1e-3
#define MOST_SECONDS (7 * 24 * 60 * 60.)
#define LEAST_MTU 68
/* What a packet buffer, whose length has 16 bits, holds besides its headroom. */
#define GREATEST_MTU 65280

enum option_id {
	OPTION_SET = OPTION_OWN,
	OPTION_OP,
	OPTION_LANES,
	OPTION_OPERANDS,
	OPTION_SEED,
	OPTION_PACKETS,
	OPTION_SECONDS,
	OPTION_WINDOW,
	OPTION_RATE,
	OPTION_TIMEOUT,
	OPTION_PROGRESS,
	OPTION_WAIT,
	OPTION_STRICT,
	OPTION_JSON,
	OPTION_TX_PORT,
	OPTION_RX_PORT,
	OPTION_MTU,
	OPTION_FLOWS,
	OPTION_IP6,
	OPTION_SRC_MAC,
	OPTION_DST_MAC,
	OPTION_SRC_IP,
	OPTION_DST_IP,
	OPTION_SRC_UDP,
	OPTION_DST_UDP,
	OPTION_INLINE,
	OPTION_MATCH,
	OPTION_AGGREGATE,
};

static const struct option long_options[] = {
	{"set", required_argument, NULL, OPTION_SET},
	{"op", required_argument, NULL, OPTION_OP},
	{"lanes", required_argument, NULL, OPTION_LANES},
	{"operands", required_argument, NULL, OPTION_OPERANDS},
	{"seed", required_argument, NULL, OPTION_SEED},
	{"packets", required_argument, NULL, OPTION_PACKETS},
	{"seconds", required_argument, NULL, OPTION_SECONDS},
	{"window", required_argument, NULL, OPTION_WINDOW},
	{"rate", required_argument, NULL, OPTION_RATE},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"progress", required_argument, NULL, OPTION_PROGRESS},
	{"wait", required_argument, NULL, OPTION_WAIT},
	{"strict", no_argument, NULL, OPTION_STRICT},
	{"json", required_argument, NULL, OPTION_JSON},
	{"tx-port", required_argument, NULL, OPTION_TX_PORT},
	{"rx-port", required_argument, NULL, OPTION_RX_PORT},
	{"mtu", required_argument, NULL, OPTION_MTU},
	{"flows", required_argument, NULL, OPTION_FLOWS},
	{"ip6", no_argument, NULL, OPTION_IP6},
	{"src-mac", required_argument, NULL, OPTION_SRC_MAC},
	{"dst-mac", required_argument, NULL, OPTION_DST_MAC},
	{"src-ip", required_argument, NULL, OPTION_SRC_IP},
	{"dst-ip", required_argument, NULL, OPTION_DST_IP},
	{"src-udp", required_argument, NULL, OPTION_SRC_UDP},
	{"dst-udp", required_argument, NULL, OPTION_DST_UDP},
	{"inline", no_argument, NULL, OPTION_INLINE},
	{"match", required_argument, NULL, OPTION_MATCH},
	{"aggregate", optional_argument, NULL, OPTION_AGGREGATE},
	{"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static int
parse_where(int id, const char *text, struct options *options)
{
	struct flow *flow = &options->flow;

	switch (id) {
	case OPTION_TX_PORT:
		return option_u16(
			stderr, "tx-port", text, 0, RTE_MAX_ETHPORTS - 1, &options->tx_port);
	case OPTION_RX_PORT:
		return option_u16(
			stderr, "rx-port", text, 0, RTE_MAX_ETHPORTS - 1, &options->rx_port);
	case OPTION_MTU:
		return option_u32(stderr, "mtu", text, LEAST_MTU, GREATEST_MTU, &options->mtu);
	case OPTION_FLOWS:
		return option_u32(stderr, "flows", text, 1, MOST_FLOWS, &options->flows);
	case OPTION_IP6:
		flow->ip6 = true;
		return 0;
	case OPTION_SRC_MAC:
		options->src_mac_given = true;
		return value_mac("src-mac", text, true, &flow->src_mac);
	case OPTION_DST_MAC:
		options->dst_mac_given = true;
		return value_mac("dst-mac", text, false, &flow->dst_mac);
	case OPTION_SRC_IP:
		return value_ip("src-ip", text, flow->src_ip, &options->src_ip_version);
	case OPTION_DST_IP:
		return value_ip("dst-ip", text, flow->dst_ip, &options->dst_ip_version);
	case OPTION_SRC_UDP:
		return option_u16(stderr, "src-udp", text, 1, UINT16_MAX, &flow->src_udp);
	case OPTION_DST_UDP:
		return option_u16(stderr, "dst-udp", text, 1, UINT16_MAX, &flow->dst_udp);
	default:
		return -1;
	}
}

static int
parse_switch(int id, const char *text, struct options *options)
{
	switch (id) {
	case OPTION_INLINE:
		options->in_process = true;
		return 0;
	case OPTION_MATCH:
		options->match_given = true;
		/* Replies are compared with the table set's results. */
		return option_match(stderr, text, true, &options->match);
	case OPTION_AGGREGATE:
		return aggregate_options_take(text, &options->aggregate, stderr);
	default:
		return parse_where(id, text, options);
	}
}

static int
parse_course(int id, const char *text, struct options *options)
{
	switch (id) {
	case OPTION_PACKETS:
		return option_u64(stderr, "packets", text, 1, MOST_PACKETS, &options->packets);
	case OPTION_SECONDS:
		return option_real(
			stderr, "seconds", text, LEAST_SECONDS, MOST_SECONDS, &options->seconds);
	case OPTION_WINDOW:
		return option_u32(stderr, "window", text, 1, MOST_WINDOW, &options->window);
	case OPTION_RATE:
		return option_real(stderr, "rate", text, 1, MOST_RATE, &options->rate);
	case OPTION_TIMEOUT:
		return option_u32(
			stderr, "timeout", text, 1, MOST_TIMEOUT_MS, &options->timeout_ms);
	case OPTION_PROGRESS:
		return option_real(stderr, "progress", text, 0, MOST_SECONDS, &options->progress);
	case OPTION_WAIT:
		return option_real(stderr, "wait", text, 0, MOST_SECONDS, &options->wait);
	case OPTION_STRICT:
		options->strict = true;
		return 0;
	case OPTION_JSON:
		return option_text(stderr, "json", text, &options->json);
	default:
		return parse_switch(id, text, options);
	}
}

static int
take_option(int id, const char *text, void *arg)
{
	struct options *options = arg;

	options->given |= UINT64_C(1) << (id - OPTION_OWN);
	switch (id) {
	case OPTION_SET:
		return option_set(stderr, text, &options->set);
	case OPTION_OP:
		return value_op(text, &options->op);
	case OPTION_LANES:
		return option_u32(stderr, "lanes", text, 1, MOST_LANES, &options->lanes);
	case OPTION_OPERANDS:
		return option_text(stderr, "operands", text, &options->operands);
	case OPTION_SEED:
		return option_u64(stderr, "seed", text, 0, UINT64_MAX, &options->seed);
	default:
		return parse_course(id, text, options);
	}
}

/* What a run with --aggregate has no use for. */
static int
check_given(const struct options *options)
{
	static const uint8_t others[] = {OPTION_SET - OPTION_OWN, OPTION_OP - OPTION_OWN,
		OPTION_LANES - OPTION_OWN, OPTION_OPERANDS - OPTION_OWN,
		OPTION_PACKETS - OPTION_OWN, OPTION_WINDOW - OPTION_OWN, OPTION_RATE - OPTION_OWN,
		OPTION_TIMEOUT - OPTION_OWN, OPTION_FLOWS - OPTION_OWN, OPTION_DST_UDP - OPTION_OWN,
		OPTION_INLINE - OPTION_OWN, OPTION_MATCH - OPTION_OWN, OPTION_STRICT - OPTION_OWN};

	for (unsigned int o = 0; options->aggregate.on && o < RTE_DIM(others); o++) {
		if ((options->given >> others[o] & 1) == 0)
			continue;
		/* Options stand in the table in the order of their numbers. */
		fprintf(stderr, PROGRAM ": --%s: not with --aggregate\n",
			long_options[others[o]].name);
		return -1;
	}
	return 0;
}

enum options_result
options_parse(int argc, char **argv, struct options *options, int *eal_argc)
{
	const struct command_line line = {
		.program = PROGRAM,
		.version = NETFC_VERSION,
		.options = long_options,
		.print_usage = usage_print,
		.take = take_option,
		.arg = options,
	};
	enum options_result result;

	*options = (struct options){
		.set = DEFAULT_SET,
		.op = NETFC_ADD,
		.lanes = 1,
		.operands = OPERANDS_RANDOM,
		.seed = 1,
		.timeout_ms = DEFAULT_TIMEOUT_MS,
		.progress = 1,
		.wait = DEFAULT_WAIT_SECONDS,
		.tx_port = NO_PORT,
		.rx_port = NO_PORT,
		.mtu = DEFAULT_MTU,
		.flows = 1,
		.flow = {.src_udp = DEFAULT_SRC_UDP, .dst_udp = NETFC_UDP_PORT},
		.match = MATCH_LPM,
	};
	aggregate_options_default(&options->aggregate);
	result = command_line_parse(&line, argc, argv, eal_argc);
	if (result == OPTIONS_RUN && (check_given(options) != 0 || options_settle(options) != 0)) {
		fprintf(stderr, "Try '" PROGRAM " --help'.\n");
		result = OPTIONS_WRONG;
	}
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "options/options.h"
#include "option.h"
#include "set_option.h"

#define MAX_LANES 10915
#define MAX_FLOWS 1024
#define MAX_PACKETS (UINT64_C(1) << 50)
#define MAX_WINDOW (1u << 20)
#define MAX_RATE 1e9
#define MAX_TIMEOUT_MS 60000
#define MIN_SECONDS 1e-3
#define MAX_SECONDS (7 * 24 * 60 * 60.)
#define MAX_ROUNDS 100000
#define MIN_MTU 68
/* What a packet buffer, whose length has 16 bits, holds besides its headroom. */
#define MAX_MTU 65280
#define LAST_PORT (RTE_MAX_ETHPORTS - 1)

/* Modes that an option is for. */
#define LOAD (MODE_REQUESTS | MODE_AGGREGATE)
#define ALL (LOAD | MODE_CAPTURE | MODE_MEMORY)

#define FIELD(field) OPTION_FIELD(struct options, field)

/* A default of 0 stands for none where it is outside the range. */
static const struct option_row rows[] = {
	{"set", FIELD(set), .value = "NAME", .preset_text = "fp16_k1024", .parse = option_set,
		.scope = MODE_REQUESTS, .meaning = "table set that the switch has loaded"},
	{"op", FIELD(op), .value = "OP", .preset = NETFC_ADD, .parse = value_op,
		.scope = MODE_REQUESTS,
		.meaning = "add (default), sub, mul, div, or all of these in turn; min, max, "
			   "compare, or a function that the switch has loaded"},
	{"lanes", FIELD(lanes), OPTION_RANGE(1, MAX_LANES, 1), .value = "N", .scope = MODE_REQUESTS,
		.meaning = "lanes per packet"},
	{"operands", FIELD(operands), .value = "random|values|FILE", .preset_text = OPERANDS_RANDOM,
		.scope = MODE_REQUESTS,
		.meaning = "random: any bits; values: numbers of all sizes from 0.001 to 1000; or "
			   "a file: x and y in a line, decimal or 0x and hex digits; as on the "
			   "wire if it ends in .bin"},
	{"seed", FIELD(seed), OPTION_RANGE(0, UINT64_MAX, 1), .value = "N", .scope = LOAD,
		.meaning = "for another draw of operands"},
	{"packets", FIELD(packets), OPTION_RANGE(1, MAX_PACKETS, 0), .value = "N",
		.scope = MODE_REQUESTS, .meaning = "send N packets"},
	{"seconds", FIELD(seconds), OPTION_REAL_RANGE(MIN_SECONDS, MAX_SECONDS, 0), .value = "S",
		.scope = LOAD | MODE_MEMORY,
		.meaning = "send for S seconds (default 5, unless --packets); with --time, of each "
			   "figure (default 0.05)"},
	{"window", FIELD(window), OPTION_RANGE(1, MAX_WINDOW, 0), .value = "N",
		.scope = MODE_REQUESTS, .meaning = "keep N packets outstanding (default 512)"},
	{"rate", FIELD(rate), OPTION_REAL_RANGE(1, MAX_RATE, 0), .value = "PPS",
		.scope = MODE_REQUESTS,
		.meaning = "or send so many packets per second, whatever is answered"},
	{"timeout", FIELD(timeout_ms), OPTION_RANGE(1, MAX_TIMEOUT_MS, 1000), .value = "MS",
		.scope = MODE_REQUESTS, .meaning = "a reply later than that is lost"},
	{"flows", FIELD(flows), OPTION_RANGE(1, MAX_FLOWS, 1), .value = "N", .scope = MODE_REQUESTS,
		.meaning = "spread over N UDP source ports"},
	{"src-mac", FIELD(flow.src_mac), .value = "MAC", .parse = value_src_mac, .scope = LOAD,
		.meaning = "of the requests (default: the port's)"},
	{"dst-mac", FIELD(flow.dst_mac), .value = "MAC", .parse = value_dst_mac, .scope = LOAD,
		.meaning = "likewise (default: that of --rx-port, else 02:00:00:00:00:02)"},
	{"src-ip", FIELD(src_ip), .value = "IP", .parse = value_ip, .scope = LOAD,
		.meaning = "likewise (default 198.18.0.1, of workers from 198.18.0.65 on)"},
	{"dst-ip", FIELD(dst_ip), .value = "IP", .parse = value_ip, .scope = LOAD,
		.meaning = "likewise (default 198.18.0.2)"},
	{"src-udp", FIELD(flow.src_udp), OPTION_RANGE(1, UINT16_MAX, 49152), .value = "PORT",
		.scope = LOAD, .meaning = "likewise"},
	{"dst-udp", FIELD(flow.dst_udp), OPTION_RANGE(1, UINT16_MAX, NETFC_UDP_PORT),
		.value = "PORT", .scope = MODE_REQUESTS, .meaning = "likewise"},
	{"ip6", FIELD(ip6), .scope = LOAD, .meaning = "over IPv6 also where no address is given"},
	{"tx-port", FIELD(tx_port), OPTION_RANGE(0, LAST_PORT, NO_PORT), .value = "N",
		.scope = LOAD, .meaning = "DPDK port to send from (default: the first)"},
	{"rx-port", FIELD(rx_port), OPTION_RANGE(0, LAST_PORT, NO_PORT), .value = "N",
		.scope = LOAD, .meaning = "DPDK port to receive at (default: that of --tx-port)"},
	{"mtu", FIELD(mtu), OPTION_RANGE(MIN_MTU, MAX_MTU, 1500), .value = "N", .scope = LOAD,
		.meaning = "longest IP packet"},
	{"wait", FIELD(wait), OPTION_REAL_RANGE(0, MAX_SECONDS, 10), .value = "S", .scope = LOAD,
		.meaning = "seconds for the link to come up"},
	{"inline", FIELD(switch_lcores), .value = "[N]", .parse = value_lcores, .scope = LOAD,
		.meaning = "run the switch in this process, too, on N lcores (default 1) besides "
			   "the one that sends"},
	{"match", FIELD(match), .value = "lpm|hash|direct", .preset = MATCH_LPM,
		.parse = option_match, .scope = MODE_REQUESTS | MODE_CAPTURE,
		.meaning = "its match engine (default lpm); with --time, fpu, too"},
	{"progress", FIELD(progress), OPTION_REAL_RANGE(0, MAX_SECONDS, 1), .value = "S",
		.scope = LOAD, .meaning = "a line every S seconds; 0: none"},
	{"json", FIELD(json), .value = "FILE|-", .scope = LOAD | MODE_CAPTURE,
		.meaning = "write the report to FILE or standard output as JSON"},
	{"strict", FIELD(strict), .scope = MODE_REQUESTS,
		.meaning = "lost, late, duplicate and reordered replies are failures"},
	{"aggregate", FIELD(aggregate), .value = "[KEY=VALUE[,...]]",
		OPTION_KEYS(bench_aggregate_keys), .scope = MODE_AGGREGATE | MODE_MEMORY,
		.meaning = "be the workers of an aggregation (dpdk-netfc --aggregate) and compare "
			   "every result with the exact one. Keys:"},
	{"time", FIELD(time), .value = "sums|tags|FILE", .scope = MODE_CAPTURE | MODE_MEMORY,
		.meaning =
			"send nothing, time one thing alone: exact sums, or the tags of packets, "
			"as --aggregate says, in memory; or the parts of the pipeline, on the "
			"packets of a capture, in TSC cycles"},
	{"tables", FIELD(tables), .value = "NAME[,NAME...]", .preset_text = "fp16_k1024",
		.scope = MODE_CAPTURE, .meaning = "table sets for the capture, one per format"},
	{"functions", FIELD(functions), .value = "NAME[,NAME...]", .scope = MODE_CAPTURE,
		.meaning = "functions for it"},
	{"rounds", FIELD(rounds), OPTION_RANGE(1, MAX_ROUNDS, 21), .value = "N",
		.scope = MODE_CAPTURE, .meaning = "figures of each part, one a round"},
};

static enum mode
mode_of(const struct options *options)
{
	if (options->time == NULL)
		return options->aggregate.on ? MODE_AGGREGATE : MODE_REQUESTS;
	return strcmp(options->time, TIME_SUMS) == 0 || strcmp(options->time, TIME_TAGS) == 0
		? MODE_MEMORY
		: MODE_CAPTURE;
}

/* What a mode has no use for. */
static int
check_scopes(enum mode mode, uint64_t given)
{
	static const char *const why[] = {
		[MODE_REQUESTS] = "only with --time",
		[MODE_AGGREGATE] = "not with --aggregate",
		[MODE_CAPTURE] = "not with --time FILE",
		[MODE_MEMORY] = "not with --time " TIME_SUMS " or " TIME_TAGS,
	};

	for (unsigned int r = 0; r < RTE_DIM(rows); r++) {
		if ((given >> r & 1) == 0 || (rows[r].scope & mode) != 0)
			continue;
		fprintf(stderr, PROGRAM ": --%s: %s\n", rows[r].name, why[mode]);
		return -1;
	}
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
	if (options->mode != MODE_REQUESTS)
		return 0;
	if (is_given(given, "match") && options->switch_lcores == 0) {
		fprintf(stderr, PROGRAM ": --match is that of the switch: it goes with --inline\n");
		return -1;
	}
	/* Replies are compared with the table set's results. */
	return options->match != MATCH_FPU
		? 0
		: option_refuse(stderr, "match", "fpu", "lpm, hash or direct");
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
	options->mode = mode_of(options);
	if (check_scopes(options->mode, given) == 0 && check_match(options, given) == 0 &&
		options_settle(options) == 0)
		return OPTIONS_RUN;
	fprintf(stderr, "Try '" PROGRAM " --help'.\n");
	return OPTIONS_WRONG;
}

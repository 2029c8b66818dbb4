/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "option_value.h"
#include "options/options.h"
#include "program.h"

#define DEFAULT_TABLES "fp16_k1024"
#define DEFAULT_STATIONS 8192u
#define MAX_STATIONS (1u << 20)
/* Enough for the cache of an lcore, and for a burst. */
#define MIN_MBUFS 512u
#define MAX_MBUFS (1u << 24)
#define MAX_STATS_INTERVAL_S (24 * 60 * 60u)
#define DEFAULT_AGEING_S 300u /* IEEE 802.1Q, table 8-6 */

enum option_id {
	OPTION_TABLES = OPTION_OWN,
	OPTION_TABLES_DIR,
	OPTION_FUNCTIONS,
	OPTION_MATCH,
	OPTION_FORWARD,
	OPTION_STATIONS,
	OPTION_AGEING,
	OPTION_ADDRESS,
	OPTION_MTU,
	OPTION_PORT,
	OPTION_IDLE_EXIT,
	OPTION_STATS_JSON,
	OPTION_CONTROL,
	OPTION_MBUFS,
	OPTION_STATS_INTERVAL,
	OPTION_LATENCY,
	OPTION_AGGREGATE,
	OPTION_SLOWLORIS, /* the first of its SLOWLORIS_OPTION_COUNT */
};

#define SLOWLORIS_OPTION_(id, name, value, when) \
	{name, value##_argument, NULL, OPTION_SLOWLORIS + SLOWLORIS_OPTION_##id},

static const struct option long_options[] = {
	{"tables", required_argument, NULL, OPTION_TABLES},
	{"tables-dir", required_argument, NULL, OPTION_TABLES_DIR},
	{"functions", required_argument, NULL, OPTION_FUNCTIONS},
	{"match", required_argument, NULL, OPTION_MATCH},
	{"forward", required_argument, NULL, OPTION_FORWARD},
	{"stations", required_argument, NULL, OPTION_STATIONS},
	{"ageing", required_argument, NULL, OPTION_AGEING},
	{"address", required_argument, NULL, OPTION_ADDRESS},
	{"mtu", required_argument, NULL, OPTION_MTU},
	{"port", required_argument, NULL, OPTION_PORT},
	{"idle-exit", required_argument, NULL, OPTION_IDLE_EXIT},
	{"stats-json", required_argument, NULL, OPTION_STATS_JSON},
	{"stats-interval", required_argument, NULL, OPTION_STATS_INTERVAL},
	{"mbufs", required_argument, NULL, OPTION_MBUFS},
	{"control", required_argument, NULL, OPTION_CONTROL},
	{"latency", no_argument, NULL, OPTION_LATENCY},
	{"aggregate", optional_argument, NULL, OPTION_AGGREGATE},
	SLOWLORIS_OPTIONS(SLOWLORIS_OPTION_){"help", no_argument, NULL, OPTION_HELP},
	{"version", no_argument, NULL, OPTION_VERSION},
	{NULL, 0, NULL, 0},
};

static void
print_usage(FILE *out)
{
	fprintf(out,
		"Usage: " PROGRAM " [EAL options] -- [options]\n"
		"A switch that computes with floating-point numbers in the packets it forwards.\n"
		"\n"
		"  --tables NAME[,NAME...]  table sets, one per format (default " DEFAULT_TABLES
		");\n"
		"                           <format>_k<k>[_floor], or the path of a file\n"
		"  --tables-dir DIR         look for the files of named sets in DIR first\n"
		"                           (or in $NETFC_TABLES_DIR; sets without a file are built)\n"
		"  --functions NAME[,NAME...]\n"
		"                           functions of one number (netfc-tables list --functions)\n"
		"                           for the formats of --tables, 'all' of them, or the paths\n"
		"                           of files (netfc-tables build --function)\n"
		"  --match lpm|hash|direct|fpu\n"
		"                           match engine (default lpm);\n"
		"                           fpu: no tables, correctly rounded results instead\n"
		"  --forward pair|reflect|bridge\n"
		"                           pair: ports 0-1, 2-3, ... cross-connected\n"
		"                           (default for an even number of ports);\n"
		"                           reflect: out of the same port, addresses swapped\n"
		"                           (default for one port); bridge: a learning switch\n"
		"  --stations N             stations the bridge remembers (default %u)\n"
		"  --ageing S               seconds until it forgets a silent one (default %u)\n"
		"  --address IP[/LEN][@PORT]\n"
		"                           answer ARP, neighbour discovery, ping and requests\n"
		"                           to this address, on that port only; repeatable\n"
		"  --mtu N                  MTU of all ports (default: what they have)\n"
		"  --mbufs N                packet buffers (default: what all queues can hold)\n"
		"  --port N                 UDP port of NetFC requests (default %d)\n"
		"  --idle-exit MS           stop once nothing was received for MS milliseconds\n"
		"  --stats-json FILE        write the final counters to FILE\n"
		"  --latency                count how long packets take from receive to transmit burst\n"
		"  --stats-interval S       print a line of statistics every S seconds\n"
		"  --control PATH           take commands on a Unix socket (netfc-ctl)\n",
		DEFAULT_STATIONS, DEFAULT_AGEING_S, NETFC_UDP_PORT);
	aggregate_options_print_usage(out);
	slowloris_options_print_usage(out);
	fprintf(out,
		"  --help, --version\n"
		"\n"
		"Without NIC, hugepages or root, requests from a capture file:\n"
		"  " PROGRAM " --no-huge -m 512 --no-pci -l 0 \\\n"
		"    --vdev=net_pcap0,rx_pcap=requests.pcap,tx_pcap=replies.pcap -- --idle-exit 100\n"
		"\n"
		"Exit status: 0 done, 1 wrong usage or configuration, 2 a failure while running.\n");
}

static const char *const forward_names[] = {
	[FORWARD_AUTO] = "auto",
	[FORWARD_PAIR] = "pair",
	[FORWARD_REFLECT] = "reflect",
	[FORWARD_BRIDGE] = "bridge",
};

const char *
forward_mode_name(enum forward_mode mode)
{
	return forward_names[mode];
}

static int
parse_forward(const char *text, enum forward_mode *mode)
{
	unsigned int name;

	if (option_name(stderr, "forward", text, forward_names + FORWARD_PAIR,
		    RTE_DIM(forward_names) - FORWARD_PAIR, &name) != 0)
		return -1;
	*mode = (enum forward_mode)(FORWARD_PAIR + name);
	return 0;
}

static int
take_option(int id, const char *text, void *arg)
{
	struct options *options = arg;

	if (id >= OPTION_SLOWLORIS)
		return slowloris_options_take((enum slowloris_option)(id - OPTION_SLOWLORIS), text,
			&options->slowloris, stderr);
	switch (id) {
	case OPTION_TABLES:
		return option_text(stderr, "tables", text, &options->tables);
	case OPTION_TABLES_DIR:
		return option_text(stderr, "tables-dir", text, &options->tables_dir);
	case OPTION_FUNCTIONS:
		return option_text(stderr, "functions", text, &options->functions);
	case OPTION_MATCH:
		return option_match(stderr, text, false, &options->match);
	case OPTION_FORWARD:
		return parse_forward(text, &options->forward);
	case OPTION_STATIONS:
		return option_u32(stderr, "stations", text, 1, MAX_STATIONS, &options->stations);
	case OPTION_AGEING:
		return option_u32(stderr, "ageing", text, 1, MAX_AGEING_S, &options->ageing_s);
	case OPTION_ADDRESS:
		return addresses_add(&options->addresses, text);
	case OPTION_MTU:
		return option_u16(
			stderr, "mtu", text, RTE_ETHER_MIN_MTU, UINT16_MAX, &options->mtu);
	case OPTION_PORT:
		return option_u16(stderr, "port", text, 1, UINT16_MAX, &options->udp_port);
	case OPTION_IDLE_EXIT:
		return option_u32(
			stderr, "idle-exit", text, 1, MAX_IDLE_EXIT_MS, &options->idle_exit_ms);
	case OPTION_STATS_JSON:
		return option_text(stderr, "stats-json", text, &options->stats_json);
	case OPTION_MBUFS:
		return option_u32(stderr, "mbufs", text, MIN_MBUFS, MAX_MBUFS, &options->mbufs);
	case OPTION_STATS_INTERVAL:
		return option_u32(stderr, "stats-interval", text, 1, MAX_STATS_INTERVAL_S,
			&options->stats_interval_s);
	case OPTION_CONTROL:
		return option_text(stderr, "control", text, &options->control);
	case OPTION_LATENCY:
		options->latency = true;
		return 0;
	case OPTION_AGGREGATE:
		return aggregate_options_take(text, &options->aggregate, stderr);
	default:
		return -1;
	}
}

enum options_result
options_parse(int argc, char **argv, struct options *options, int *eal_argc)
{
	const struct command_line line = {
		.program = PROGRAM,
		.version = NETFC_VERSION,
		.options = long_options,
		.print_usage = print_usage,
		.take = take_option,
		.arg = options,
	};
	enum options_result result;

	*options = (struct options){
		.tables = DEFAULT_TABLES,
		.match = MATCH_LPM,
		.udp_port = NETFC_UDP_PORT,
		.stations = DEFAULT_STATIONS,
		.ageing_s = DEFAULT_AGEING_S,
	};
	aggregate_options_default(&options->aggregate);
	slowloris_options_default(&options->slowloris);
	result = command_line_parse(&line, argc, argv, eal_argc);
	if (result == OPTIONS_RUN &&
		(slowloris_options_check(&options->slowloris, stderr) != 0 ||
			aggregate_options_check(&options->aggregate, options->udp_port,
				options->addresses.count > 0, stderr) != 0))
		return OPTIONS_WRONG;
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "option.h"
#include "options/options.h"
#include "set_option.h"
#include "pipeline.h"
#include "program.h"

#define MAX_STATIONS (1u << 20)
/* Enough for the cache of an lcore, and for a burst. */
#define MIN_MBUFS 512u
#define MAX_MBUFS (1u << 24)
#define MAX_STATS_INTERVAL_S (24 * 60 * 60u)
#define DEFAULT_AGEING_S 300u /* IEEE 802.1Q, table 8-6 */

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
parse_address(FILE *errors, const char *option, const char *text, void *field)
{
	(void)errors, (void)option;
	return addresses_add(field, text);
}

static int
parse_gateway(FILE *errors, const char *option, const char *text, void *field)
{
	if (address_read(text, field))
		return 0;
	return option_refuse(errors, option, text, "the IPv4 or IPv6 address of a router");
}

/* ---- --config ------------------------------------------------------------------------------- */

#define CONFIG_EXPECTED "(PORT,QUEUE,LCORE)[,(PORT,QUEUE,LCORE)...], as in (0,0,1),(0,1,2)"

/* A number and the character behind it. */
static const char *
take_number(const char *text, char end, uint16_t *number)
{
	char *rest;
	unsigned long value = strtoul(text, &rest, 10);

	if (!isdigit((unsigned char)*text) || *rest != end || value > UINT16_MAX)
		return NULL;
	*number = (uint16_t)value;
	return rest + 1;
}

static const char *
take_place(const char *text, struct queue_place *place)
{
	if (*text++ != '(')
		return NULL;
	text = take_number(text, ',', &place->port);
	if (text != NULL)
		text = take_number(text, ',', &place->queue);
	return text != NULL ? take_number(text, ')', &place->lcore) : NULL;
}

static int
add_place(FILE *errors, const char *option, const char *text, struct queue_config *config,
	struct queue_place place)
{
	char expected[80];

	for (unsigned int p = 0; p < config->count; p++) {
		if (config->place[p].port != place.port || config->place[p].queue != place.queue)
			continue;
		snprintf(expected, sizeof(expected),
			"each queue once; queue %u of port %u is there twice", place.queue,
			place.port);
		return option_refuse(errors, option, text, expected);
	}
	if (config->count == MAX_QUEUE_PLACES)
		return option_refuse(errors, option, text, "1024 queues at most");
	config->place[config->count++] = place;
	return 0;
}

int
queue_config_parse(FILE *errors, const char *option, const char *text, void *field)
{
	struct queue_config *config = field;
	const char *rest = text;

	config->count = 0;
	for (;;) {
		struct queue_place place;

		rest = take_place(rest, &place);
		if (rest == NULL || (*rest != '\0' && *rest != ','))
			return option_refuse(errors, option, text, CONFIG_EXPECTED);
		if (add_place(errors, option, text, config, place) != 0)
			return -1;
		if (*rest++ == '\0')
			return 0;
	}
}

/* ---- the command line ------------------------------------------------------------------------ */

#define FIELD(field) OPTION_FIELD(struct options, field)

/* A default of 0 stands for none where it is outside the range. */
static const struct option_row rows[] = {
	{"tables", FIELD(tables), .value = "NAME[,NAME...]", .preset_text = "fp16_k1024",
		.meaning = "table sets, one per format: <format>_k<k>[_floor], or the path of a "
			   "file"},
	{"tables-dir", FIELD(tables_dir), .value = "DIR",
		.meaning = "look for the files of named sets in DIR first (or in "
			   "$NETFC_TABLES_DIR; sets without a file are built)"},
	{"functions", FIELD(functions), .value = "NAME[,NAME...]",
		.meaning =
			"functions of one number (netfc-tables list --functions) for the "
			"formats of --tables, 'all' of them, or the paths of files (netfc-tables "
			"build --function)"},
	{"match", FIELD(match), .value = "lpm|hash|direct|fpu", .preset = MATCH_LPM,
		.parse = option_match,
		.meaning = "match engine (default lpm); fpu: no tables, correctly rounded results "
			   "instead"},
	{"forward", FIELD(forward), .names = &forward_names[FORWARD_PAIR],
		.name_count = RTE_DIM(forward_names) - FORWARD_PAIR, .first_name = FORWARD_PAIR,
		.meaning = "pair: ports 0-1, 2-3, ... cross-connected (default for an even number "
			   "of ports); reflect: out of the same port, addresses swapped (default "
			   "for one port); bridge: a learning switch"},
	{"stations", FIELD(stations), OPTION_RANGE(1, MAX_STATIONS, 8192), .value = "N",
		.meaning = "stations the bridge remembers"},
	{"ageing", FIELD(ageing_s), OPTION_RANGE(1, MAX_AGEING_S, DEFAULT_AGEING_S), .value = "S",
		.meaning = "seconds after which the bridge forgets a silent station"},
	{"address", FIELD(addresses), .value = "IP[/LEN][@PORT[:QUEUE]]", .parse = parse_address,
		.meaning = "answer ARP, neighbour discovery, ping and requests to this address, on "
			   "that port only; requests to it are steered to the queue, if the device "
			   "supports it; repeatable"},
	{"mtu", FIELD(mtu), OPTION_RANGE(RTE_ETHER_MIN_MTU, UINT16_MAX, 0), .value = "N",
		.meaning = "MTU of all ports (default: unchanged)"},
	{"mbufs", FIELD(mbufs), OPTION_RANGE(MIN_MBUFS, MAX_MBUFS, 0), .value = "N",
		.meaning = "packet buffers of each NUMA node in use (default: enough for all "
			   "queues)"},
	{"rx-burst", FIELD(rx_burst), OPTION_RANGE(1, PIPELINE_BURST, PIPELINE_BURST), .value = "N",
		.meaning = "maximum number of packets taken from a receive queue at once"},
	{"config", FIELD(config), .value = "(PORT,QUEUE,LCORE)[,...]", .parse = queue_config_parse,
		.meaning = "which lcore polls which receive queue (default: queues in turn)"},
	{"poll", FIELD(poll),
		.meaning = "never sleep while nothing comes; for lcores with CPUs of their own"},
	{"port", FIELD(udp_port), OPTION_RANGE(1, UINT16_MAX, NETFC_UDP_PORT), .value = "N",
		.meaning = "UDP port of NetFC requests"},
	{"idle-exit", FIELD(idle_exit_ms), OPTION_RANGE(1, MAX_IDLE_EXIT_MS, 0), .value = "MS",
		.meaning = "stop after MS milliseconds without a received packet"},
	{"stats-json", FIELD(stats_json), .value = "FILE",
		.meaning = "write the final counters to FILE"},
	{"latency", FIELD(latency),
		.meaning = "measure how long packets take from receive to transmit burst"},
	{"stats-interval", FIELD(stats_interval_s), OPTION_RANGE(1, MAX_STATS_INTERVAL_S, 0),
		.value = "S", .meaning = "print a line of statistics every S seconds"},
	{"control", FIELD(control), .value = "PATH",
		.meaning = "accept commands on a Unix socket (netfc-ctl)"},
	{"init", FIELD(init), .value = "FILE",
		.meaning = "do the commands of netfc-ctl in FILE, one a line, before packets come, "
			   "and again at SIGHUP"},
	{"aggregate", FIELD(aggregate), .value = "[KEY=VALUE[,...]]", OPTION_KEYS(aggregate_keys),
		.meaning = "sum the vectors of many workers (libnetfc-allreduce); needs an "
			   "--address. Keys:"},
	{"check", FIELD(check),
		.meaning = "check options, their files and memory, and end; opens no port"},
	{"gateway", FIELD(gateway), .value = "IP", .parse = parse_gateway,
		.meaning = "router to the parent of aggregations (default: the parent is on "
			   "the link)"},
};

static const struct option_table tables[] = {
	{rows, RTE_DIM(rows), 0},
	{slowloris_rows, SLOWLORIS_OPTION_COUNT, offsetof(struct options, slowloris)},
};

/* An option that means nothing without --slowloris. */
static int
check_slowloris(const struct options *options, uint64_t given)
{
	if (options->slowloris.on)
		return slowloris_options_check(&options->slowloris, stderr);
	for (unsigned int o = 0; o < SLOWLORIS_OPTION_COUNT; o++) {
		if ((given >> (RTE_DIM(rows) + o) & 1) == 0)
			continue;
		return REPORT(
			"--%s is for --slowloris, which was not given\n", slowloris_rows[o].name);
	}
	return 0;
}

void
options_set_defaults(struct options *options)
{
	*options = (struct options){0};
	for (unsigned int t = 0; t < RTE_DIM(tables); t++)
		option_set_defaults(
			tables[t].rows, tables[t].count, (char *)options + tables[t].offset);
}

enum options_result
options_parse(int argc, char **argv, struct options *options, int *eal_argc)
{
	uint64_t given;
	const struct command_line line = {
		.program = PROGRAM,
		.version = NETFC_VERSION,
		.summary = "Usage: " PROGRAM " [EAL options] -- [options]\n"
			   "A switch that computes on the floating-point numbers in the packets it "
			   "forwards.\n\n",
		.notes = "Without NIC, hugepages or root, requests from a capture file:\n"
			 "  " PROGRAM " --no-huge -m 512 --no-pci -l 0 \\\n"
			 "    --vdev=net_pcap0,rx_pcap=requests.pcap,tx_pcap=replies.pcap -- "
			 "--idle-exit 100\n"
			 "\n"
			 "Exit status: 0 done, 1 wrong usage or configuration, 2 a failure while "
			 "running,\n75 a port or hugepages are not there yet.\n",
		.tables = tables,
		.table_count = RTE_DIM(tables),
		.options = options,
		.given = &given,
	};
	enum options_result result;

	*options = (struct options){0};
	result = command_line_parse(&line, argc, argv, eal_argc);
	if (result == OPTIONS_RUN &&
		(check_slowloris(options, given) != 0 ||
			aggregate_options_check(&options->aggregate, options->udp_port,
				&options->addresses, &options->gateway, stderr) != 0))
		return OPTIONS_WRONG;
	return result;
}

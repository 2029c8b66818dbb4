/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTIONS_H
#define OPTIONS_H

/** @file The command line behind the EAL's "--". */

#include <stdbool.h>
#include <stdint.h>

#include "endpoint/addresses.h"
#include "command_line.h"
#include "match.h"
#include "options/aggregate_options.h"
#include "options/queue_config.h"
#include "options/slowloris_options.h"

/** Maximum number of table sets: one per format. */
#define MAX_SETS (NETFC_SET_FORMAT_END - 1)

/** A day: no test waits longer for the end of traffic. */
#define MAX_IDLE_EXIT_MS (24 * 60 * 60 * 1000u)

/** Maximum ageing time of the bridge, in seconds. */
#define MAX_AGEING_S 1000000u

/** Where packets leave. */
enum forward_mode {
	FORWARD_AUTO,    /**< pair for an even number of ports, reflect for one */
	FORWARD_PAIR,    /**< ports 0-1, 2-3, ... cross-connected */
	FORWARD_REFLECT, /**< out of the port they came from, addresses swapped */
	FORWARD_BRIDGE,  /**< where their destination was seen: a learning switch */
};

/** What the user asked for; strings belong to argv. */
struct options {
	const char *tables;     /**< names and files, separated by commas */
	const char *tables_dir; /**< NULL: not given */
	const char *functions;  /**< names and files, likewise; NULL: none */
	enum match_kind match;
	enum forward_mode forward;
	uint16_t udp_port;
	uint16_t mtu;      /**< 0: what the ports have */
	uint32_t mbufs;    /**< packet buffers of each socket; 0: as many as its queues may hold */
	uint16_t rx_burst; /**< maximum number of packets in a receive burst */
	struct queue_config config;
	uint32_t stations; /**< maximum number in the FDB */
	uint32_t ageing_s; /**< ageing time */
	struct addresses addresses;
	struct aggregate_options aggregate;
	struct address gateway; /**< to the parent of aggregations; family 0: none */
	struct slowloris_options slowloris;
	bool latency;              /**< measure it */
	uint32_t idle_exit_ms;     /**< 0: never */
	const char *stats_json;    /**< NULL: none */
	uint32_t stats_interval_s; /**< 0: no periodic statistics */
	const char *control;       /**< path of the control channel's socket; NULL: none */
};

/** Set all options to their defaults. */
void options_set_defaults(struct options *options);

/**
 * Parse a command line, EAL options and ours.
 *
 * @param eal_argc where the number of leading arguments that are the EAL's goes
 */
enum options_result options_parse(int argc, char **argv, struct options *options, int *eal_argc);

/** The mode's name, as on the command line. */
const char *forward_mode_name(enum forward_mode mode);

#endif /* OPTIONS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTIONS_H
#define OPTIONS_H

/** @file The command line after the EAL's "--". */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "option.h"
#include "endpoint/addresses.h"
#include "match.h"
#include "slowloris.h"

/* --config: which lcore polls which receive queue, written as DPDK's l3fwd takes it. */

/** Maximum number of receive queues, over all ports. */
#define MAX_QUEUE_PLACES 1024

/** A receive queue, and the lcore that polls it. */
struct queue_place {
	uint16_t port; /**< the ethdev's id */
	uint16_t queue;
	uint16_t lcore;
};

/** All of them; none: the switch spreads the queues itself. */
struct queue_config {
	unsigned int count;
	struct queue_place place[MAX_QUEUE_PLACES];
};

/** Reads (PORT,QUEUE,LCORE)[,...]; an option_parse, `field` is a struct queue_config. */
int queue_config_parse(FILE *errors, const char *option, const char *text, void *field);

/* The option --aggregate [KEY=VALUE,...]. */

/** A switch that this one is a leaf of. */
struct parent_option {
	struct address address; /**< family 0: there is none */
	uint16_t port;          /**< its first UDP port */
};

/** What the user asked for. */
struct aggregate_options {
	bool on;
	uint32_t jobs;        /**< at a time */
	uint32_t slots;       /**< of all jobs together */
	uint32_t workers;     /**< of a job */
	uint32_t per_address; /**< jobs that one address may begin and not complete */
	uint32_t bytes;       /**< of values in a chunk */
	uint32_t idle;        /**< seconds */
	uint32_t stall;       /**< seconds */
	uint16_t port;        /**< the first UDP port */
	uint32_t shards;      /**< 0: as many as there are lcores */
	char key[PATH_MAX];   /**< file of the cluster's key; empty: none */
	uint32_t formats;     /**< of values, a set of bits 1 << format */
	uint32_t digits;      /**< those whose exact sums members may send, as leaves do */
	struct parent_option parent;
};

/** The keys. */
#define AGGREGATE_KEY_COUNT 13
extern const struct option_row aggregate_keys[AGGREGATE_KEY_COUNT];

/** Bytes that a buffer needs for a chunk's packet, whatever headers it has; 0: off. */
uint32_t aggregate_options_packet_bytes(const struct aggregate_options *options);

/**
 * Check them with what else was asked for.
 *
 * @param netfc_port the UDP port of requests
 * @param own the switch's addresses
 * @param gateway family 0: there is none
 * @return 0, or -1 with the reason on `errors`
 */
int aggregate_options_check(const struct aggregate_options *options, uint16_t netfc_port,
	const struct addresses *own, const struct address *gateway, FILE *errors);

/** Check the UDP ports of so many shards, as aggregate_options_check() does where it is known. */
int aggregate_options_check_ports(const struct aggregate_options *options, uint32_t shards,
	uint16_t netfc_port, FILE *errors);

/* The options of the Slowloris detector. */

/** What the user asked for. */
struct slowloris_options {
	bool on;
	double threshold; /**< connections per byte */
	uint32_t least;   /**< connections */
	uint32_t time_ms;
	uint32_t release_percent;
	enum slowloris_policy policy;
	uint32_t slow_bytes;
	uint32_t grace_ms;
	uint32_t timeout_s;
	uint32_t connections, destinations; /**< tracked at most */
	bool dry_run;
};

/** The options; --slowloris is the first. */
#define SLOWLORIS_OPTION_COUNT 12
extern const struct option_row slowloris_rows[SLOWLORIS_OPTION_COUNT];

/** Check them together; 0, or -1 with the reason on `errors`. */
int slowloris_options_check(const struct slowloris_options *options, FILE *errors);

/** The option of that name if it can be changed at any time, else NULL. */
const struct option_row *slowloris_options_find(const char *name);

/** Print the names of those options, with a space before each. */
void slowloris_options_print_names(FILE *out);

/** The policy's name, as on the command line. */
const char *slowloris_policy_name(enum slowloris_policy policy);

/** The rules that they make. */
struct slowloris_rules slowloris_options_rules(const struct slowloris_options *options);

/* The command line after the EAL's "--". */

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
	bool poll;                 /**< never sleep */
	bool latency;              /**< measure it */
	uint32_t idle_exit_ms;     /**< 0: never */
	const char *stats_json;    /**< NULL: none */
	uint32_t stats_interval_s; /**< 0: no periodic statistics */
	const char *init;          /**< file of commands done at start and again; NULL: none */
	const char *control;       /**< path of the control channel's socket; NULL: none */
	bool check;                /**< only look whether all that a start needs is right */
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

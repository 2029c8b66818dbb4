/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTIONS_H
#define OPTIONS_H

/** @file The command line after the EAL's "--". */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <aggregate_wire.h>

#include "option.h"
#include "dpdk/flow.h"
#include "match.h"

/* * Values that only this program's options have; each function is an option_parse. */

/** An IP address of an option. */
struct ip_address {
	unsigned int version; /**< 4 or 6; 0: not given */
	uint8_t bytes[IP_BYTES];
};

/** The name of an operation, or of a function of the library; "all" is 0. */
int value_op(FILE *errors, const char *option, const char *text, void *field);

/** The name of an operation that value_op() has given, but for 0. */
const char *value_op_name(unsigned int op);

/** A MAC address, of one station if it is to be the source. */
int value_src_mac(FILE *errors, const char *option, const char *text, void *field);
int value_dst_mac(FILE *errors, const char *option, const char *text, void *field);

/** An IP address of either version, of one host: struct ip_address. */
int value_ip(FILE *errors, const char *option, const char *text, void *field);

/** A leaf's place in a tree: struct aggregate_place, without its workers. */
int value_place(FILE *errors, const char *option, const char *text, void *field);

/** A number of lcores, which may be left out: 1. */
int value_lcores(FILE *errors, const char *option, const char *text, void *field);

/* The option --aggregate[=KEY=VALUE,...]. */

/** How many values chunks have. */
enum chunk_length {
	LENGTH_FULL, /**< as many as fit */
	LENGTH_ANY,
};

/** Who gets the result of a reduction. */
enum chunk_results {
	RESULTS_TO_ALL,
	RESULTS_TO_ONE, /**< a worker drawn for each chunk */
};

/** Which lcore of an inline switch gets a chunk. */
enum chunk_queue {
	QUEUE_OF_SHARD,
	QUEUE_OF_OTHER, /**< the next one, which hands it over */
};

/** Results are of the values' format. */
#define AGGREGATE_INTO_SAME 0

/** What the user asked for. */
struct aggregate_options {
	bool on;
	uint64_t workers;
	uint64_t slots;
	uint64_t bytes;
	uint64_t chunks;    /**< 0: until the time is over */
	uint64_t different; /**< chunks; then they begin again */
	uint64_t job;
	uint64_t token;
	uint64_t port;
	uint64_t retry;                         /**< ms */
	uint64_t give_up;                       /**< s */
	double loss, duplicate, reorder, flood; /**< percent */
	unsigned int formats;                   /**< a set of bits 1 << enum aggregate_format */
	unsigned int into;            /**< results' enum aggregate_format, or AGGREGATE_INTO_SAME */
	unsigned int ops;             /**< a set of bits 1 << (op - AGGREGATE_SUM) */
	unsigned int kinds;           /**< a set of bits 1 << enum data_kind */
	unsigned int length;          /**< enum chunk_length */
	unsigned int results;         /**< enum chunk_results */
	unsigned int queue;           /**< enum chunk_queue */
	char key[PATH_MAX];           /**< file of the cluster's key; empty: packets have no tags */
	struct aggregate_place place; /**< of a leaf, levels 0: none; its workers are not set */
	uint64_t behind;              /**< workers of each worker, which is a switch; 0: none is */
	struct ip_address parent;     /**< of the switch of --inline; version 0: none */
};

/** The keys. */
#define BENCH_AGGREGATE_KEYS 25
extern const struct option_row bench_aggregate_keys[BENCH_AGGREGATE_KEYS];

/** Workers of all leaves, and the number of the first one here among them. */
unsigned int bench_aggregate_all_workers(const struct aggregate_options *options);
unsigned int bench_aggregate_first_worker(const struct aggregate_options *options);

/**
 * Bytes of values in a chunk: `bytes`, or what a leaf grants its workers where there is one, so
 * that its digits fill packets of `bytes`.
 */
uint32_t bench_aggregate_value_bytes(const struct aggregate_options *options);

/** A format of the values with that of the results. */
unsigned int bench_aggregate_format(const struct aggregate_options *options, unsigned int format);

/** Check them together. 0, or -1, reported on stderr. */
int bench_aggregate_check(const struct aggregate_options *options);

/* The command line after the EAL's "--". */

/** Operands that are no file. */
#define OPERANDS_RANDOM "random"
#define OPERANDS_VALUES "values"

/** Stands for a DPDK port that was not given. */
#define NO_PORT UINT16_MAX

/** What the user asked for; strings belong to argv. */
struct options {
	const char *set; /**< the table set that the switch is to have */
	unsigned int op; /**< as on the wire; 0: the four of enum netfc_op in turn */
	uint32_t lanes;  /**< per packet */
	const char *operands;
	uint64_t seed;
	uint64_t packets;    /**< 0: no limit */
	double seconds;      /**< 0: no limit */
	uint32_t window;     /**< packets outstanding; 0: a rate instead */
	double rate;         /**< packets per second; 0: a window instead */
	uint32_t timeout_ms; /**< a reply later than that is lost */
	double progress;     /**< seconds between lines; 0: none */
	double wait;         /**< seconds for the link to come up */
	bool strict;         /**< loss and the like are failures, too */
	const char *json;    /**< NULL: none; "-": standard output */
	uint16_t tx_port, rx_port;
	uint32_t mtu;
	uint32_t flows; /**< UDP source ports */
	bool ip6;
	struct ip_address src_ip, dst_ip;
	struct flow flow;       /**< with these, once they are settled */
	uint32_t switch_lcores; /**< of the switch in this process; 0: it is elsewhere */
	enum match_kind match;  /**< of that switch */
	struct aggregate_options aggregate;
};

/**
 * Parse a command line, EAL options and ours.
 *
 * @param eal_argc where the number of leading arguments that are the EAL's goes
 */
enum options_result
bench_options_parse(int argc, char **argv, struct options *options, int *eal_argc);

#endif /* OPTIONS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTIONS_H
#define OPTIONS_H

/** @file The command line behind the EAL's "--". */

#include <stdbool.h>
#include <stdint.h>

#include "command_line.h"
#include "match.h"
#include "options/aggregate_options.h"
#include "dpdk/flow.h"

/** Operands that are no file. */
#define OPERANDS_RANDOM "random"
#define OPERANDS_VALUES "values"

/** What --time takes besides the path of a capture. */
#define TIME_SUMS "sums"
#define TIME_TAGS "tags"

/** Stands for a DPDK port that was not given. */
#define NO_PORT UINT16_MAX

/** What the program does: bits, as options say for which of them they are. */
enum mode {
	MODE_REQUESTS = 1,
	MODE_AGGREGATE = 2,
	MODE_CAPTURE = 4, /**< times the parts of the pipeline on a capture's packets */
	MODE_MEMORY = 8,  /**< times sums or tags in memory */
};

/** What the user asked for; strings belong to argv. */
struct options {
	enum mode mode;
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
	const char *time;      /**< TIME_SUMS, TIME_TAGS or a capture; NULL: nothing */
	const char *tables;    /**< for a capture's packets, as dpdk-netfc takes them */
	const char *functions; /**< likewise; NULL: none */
	uint32_t rounds;       /**< of each figure */
};

/**
 * Parse a command line, EAL options and ours.
 *
 * @param eal_argc where the number of leading arguments that are the EAL's goes
 */
enum options_result
bench_options_parse(int argc, char **argv, struct options *options, int *eal_argc);

/** See whether the options go together, and choose what depends on others. 0 or -1. */
int options_settle(struct options *options);

#endif /* OPTIONS_H */

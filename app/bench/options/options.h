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
	struct flow flow;
	bool src_mac_given, dst_mac_given;
	unsigned int src_ip_version, dst_ip_version; /**< 4 or 6; 0: not given */
	bool in_process;                             /**< run the switch, too */
	bool match_given;
	enum match_kind match; /**< of that switch */
	struct aggregate_options aggregate;
	uint64_t given; /**< a bit for each option, from OPTION_OWN on */
};

/**
 * Parse a command line, EAL options and ours.
 *
 * @param eal_argc where the number of leading arguments that are the EAL's goes
 */
enum options_result options_parse(int argc, char **argv, struct options *options, int *eal_argc);

/** See whether the options go together, and choose what depends on others. 0 or -1. */
int options_settle(struct options *options);

#endif /* OPTIONS_H */

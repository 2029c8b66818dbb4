/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_OPTIONS_H
#define AGGREGATE_OPTIONS_H

/** @file The option --aggregate [KEY=VALUE,...]. */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "endpoint/addresses.h"
#include "option.h"

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

#endif /* AGGREGATE_OPTIONS_H */

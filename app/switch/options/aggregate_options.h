/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_OPTIONS_H
#define AGGREGATE_OPTIONS_H

/** @file The option --aggregate [KEY=VALUE,...]. */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * Keys: X(key, type's field, default, least, greatest, meaning).
 *
 * A chunk's packet lies in one buffer, which is made as large as that takes. 8,948 bytes fill a
 * packet of 9,000 bytes, the usual MTU of jumbo frames, over IPv4.
 */
#define AGGREGATE_KEYS(X)                                                                 \
	X(jobs, 16, 1, 1024, "jobs at a time")                                            \
	X(slots, 512, 1, 32768, "slots of all jobs together")                             \
	X(workers, 64, 1, 64, "workers of a job")                                         \
	X(per_address, 8, 1, 1024, "jobs that one address may begin and not complete")    \
	X(bytes, 1448, 4, 8948, "bytes of values in a chunk")                             \
	X(idle, 60, 1, 1000000, "seconds of silence after which a job ends")              \
	X(stall, 10, 1, 1000000, "seconds after which a chunk's missing worker is named") \
	X(port, 20040, 1, 65535, "first UDP port")                                        \
	X(shards, 0, 0, 64, "lcores that aggregate, a UDP port each; 0: as many as there are")

/** What the user asked for. */
struct aggregate_options {
	bool on;
	char key_file[PATH_MAX]; /**< of the cluster's key; empty: none */
#define AGGREGATE_FIELD_(key, value, least, greatest, meaning) uint32_t key; /**< meaning */
	AGGREGATE_KEYS(AGGREGATE_FIELD_)
#undef AGGREGATE_FIELD_
};

/** Bytes that a buffer needs for a chunk's packet, whatever headers it has; 0: off. */
uint32_t aggregate_options_packet_bytes(const struct aggregate_options *options);

/** The defaults: off. */
void aggregate_options_default(struct aggregate_options *options);

/** Print them with their defaults, as a part of --help. */
void aggregate_options_print_usage(FILE *out);

/**
 * Take the option.
 *
 * @param text KEY=VALUE[,...], or NULL: the defaults
 * @return 0, or -1 with the reason on `errors`
 */
int aggregate_options_take(const char *text, struct aggregate_options *options, FILE *errors);

/**
 * Check them with what else was asked for.
 *
 * @param netfc_port the UDP port of requests
 * @param has_address whether the switch has an address
 * @return 0, or -1 with the reason on `errors`
 */
int aggregate_options_check(const struct aggregate_options *options, uint16_t netfc_port,
	bool has_address, FILE *errors);

#endif /* AGGREGATE_OPTIONS_H */

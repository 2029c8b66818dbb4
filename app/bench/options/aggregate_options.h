/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_OPTIONS_H
#define AGGREGATE_OPTIONS_H

/** @file The option --aggregate[=KEY=VALUE,...]. */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Keys that are numbers: X(key, default, least, greatest, meaning). */
#define AGGREGATE_NUMBERS(X)                                                    \
	X(workers, 8, 1, 64, "workers of the job")                              \
	X(slots, 128, 1, 32768, "chunks in flight at the most, a power of two") \
	X(bytes, 1448, 4, 9000, "bytes of values in a chunk, at the most")      \
	X(chunks, 0, 0, UINT32_MAX, "end after so many chunks (0: --seconds)")  \
	X(job, 1, 0, 65534, "number of the job")                                \
	X(token, 1, 0, UINT64_MAX - 1, "its secret")                            \
	X(port, 20040, 1, 65535, "the switch's first UDP port")                 \
	X(retry, 100, 1, 60000, "ms after which a request is sent again")       \
	X(give_up, 10, 1, 3600, "seconds without any result that end the run")

/** Keys that are shares of packets, in percent: X(key, meaning). */
#define AGGREGATE_SHARES(X)                                      \
	X(loss, "packets lost, of either direction, by --seed")  \
	X(duplicate, "packets that come twice, likewise")        \
	X(reorder, "packets that later ones overtake, likewise") \
	X(flood, "bad packets beside the workers', of their number")

/** What the user asked for. */
struct aggregate_options {
	bool on;
#define AGGREGATE_FIELD_(key, value, least, greatest, meaning) uint64_t key;
	AGGREGATE_NUMBERS(AGGREGATE_FIELD_)
#undef AGGREGATE_FIELD_
#define AGGREGATE_FIELD_(key, meaning) double key;
	AGGREGATE_SHARES(AGGREGATE_FIELD_)
#undef AGGREGATE_FIELD_
	unsigned int formats; /**< a set of bits 1 << enum aggregate_format */
	unsigned int ops;     /**< a set of bits 1 << (op - AGGREGATE_SUM) */
	unsigned int kinds;   /**< a set of bits 1 << enum data_kind */
	bool any_length;      /**< chunks of any length up to `bytes` */
	bool owned;           /**< results of reductions go to one worker each */
	char key[PATH_MAX];   /**< file of the cluster's key; empty: packets have no tags */
};

/** The defaults: off. */
void aggregate_options_default(struct aggregate_options *options);

/** Print the keys with their defaults, as a part of --help. */
void aggregate_options_print_usage(FILE *out);

/**
 * Take the option.
 *
 * @param text KEY=VALUE[,...], or NULL: the defaults
 * @return 0, or -1 with the reason on `errors`
 */
int aggregate_options_take(const char *text, struct aggregate_options *options, FILE *errors);

#endif /* AGGREGATE_OPTIONS_H */

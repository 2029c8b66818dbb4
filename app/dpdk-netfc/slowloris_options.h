/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_OPTIONS_H
#define SLOWLORIS_OPTIONS_H

/** @file The options of the Slowloris detector. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "slowloris.h"

/** The options: X(id, name, whether it has a value). */
#define SLOWLORIS_OPTIONS(X)                                \
	X(SLOWLORIS, "slowloris", no)                       \
	X(THRESHOLD, "slowloris-threshold", required)       \
	X(CONNECTIONS, "slowloris-connections", required)   \
	X(TIME, "slowloris-time", required)                 \
	X(RELEASE, "slowloris-release", required)           \
	X(POLICY, "slowloris-policy", required)             \
	X(BYTES, "slowloris-bytes", required)               \
	X(GRACE, "slowloris-grace", required)               \
	X(TIMEOUT, "slowloris-timeout", required)           \
	X(TABLE, "slowloris-table", required)               \
	X(DESTINATIONS, "slowloris-destinations", required) \
	X(DRY_RUN, "slowloris-dry-run", no)

enum slowloris_option {
#define SLOWLORIS_OPTION_(id, name, value) SLOWLORIS_OPTION_##id,
	SLOWLORIS_OPTIONS(SLOWLORIS_OPTION_)
#undef SLOWLORIS_OPTION_
	SLOWLORIS_OPTION_COUNT
};

/** What the user asked for. */
struct slowloris_options {
	bool on;
	const char *detail; /**< an option that makes no sense without --slowloris; NULL: none */
	double threshold;   /**< connections per byte */
	uint32_t least;     /**< connections */
	uint32_t time_ms;
	uint32_t release_percent;
	enum slowloris_policy policy;
	uint32_t slow_bytes;
	uint32_t grace_ms;
	uint32_t timeout_s;
	uint32_t connections, destinations; /**< tracked at the most */
	bool dry_run;
};

/** The defaults. */
void slowloris_options_default(struct slowloris_options *options);

/** Print them with their defaults, as a part of --help. */
void slowloris_options_print_usage(FILE *out);

/** Take an option; 0, or -1 with the reason on stderr. */
int slowloris_options_take(
	enum slowloris_option option, const char *text, struct slowloris_options *options);

/** Check them together; 0, or -1 with the reason on stderr. */
int slowloris_options_check(const struct slowloris_options *options);

/** The policy's name, as on the command line. */
const char *slowloris_policy_name(enum slowloris_policy policy);

/** The detector's configuration; sizes of the machine are the caller's to fill in. */
void slowloris_options_configure(
	const struct slowloris_options *options, struct slowloris_config *config);

#endif /* SLOWLORIS_OPTIONS_H */

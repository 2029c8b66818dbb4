/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_OPTIONS_H
#define SLOWLORIS_OPTIONS_H

/** @file The options of the Slowloris detector. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "slowloris.h"

/**
 * The options: X(id, name, whether it has a value on the command line, AT_ANY_TIME if it can be
 * changed while the switch runs).
 */
#define SLOWLORIS_OPTIONS(X)                                           \
	X(SLOWLORIS, "slowloris", no, AT_START)                        \
	X(THRESHOLD, "slowloris-threshold", required, AT_ANY_TIME)     \
	X(CONNECTIONS, "slowloris-connections", required, AT_ANY_TIME) \
	X(TIME, "slowloris-time", required, AT_ANY_TIME)               \
	X(RELEASE, "slowloris-release", required, AT_ANY_TIME)         \
	X(POLICY, "slowloris-policy", required, AT_ANY_TIME)           \
	X(BYTES, "slowloris-bytes", required, AT_ANY_TIME)             \
	X(GRACE, "slowloris-grace", required, AT_ANY_TIME)             \
	X(TIMEOUT, "slowloris-timeout", required, AT_ANY_TIME)         \
	X(TABLE, "slowloris-table", required, AT_START)                \
	X(DESTINATIONS, "slowloris-destinations", required, AT_START)  \
	X(DRY_RUN, "slowloris-dry-run", no, AT_ANY_TIME)

enum slowloris_option {
#define SLOWLORIS_OPTION_(id, name, value, when) SLOWLORIS_OPTION_##id,
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

/**
 * Take an option.
 *
 * @param text its value; without one, NULL, or "on" or "off"
 * @param errors the reason is said on, if there is one
 * @return 0 or -1
 */
int slowloris_options_take(enum slowloris_option option, const char *text,
	struct slowloris_options *options, FILE *errors);

/** Check them together; 0, or -1 with the reason on `errors`. */
int slowloris_options_check(const struct slowloris_options *options, FILE *errors);

/** The option of that name if it can be changed at any time, else SLOWLORIS_OPTION_COUNT. */
enum slowloris_option slowloris_options_find(const char *name);

/** Print the names of those options, with a space before each. */
void slowloris_options_print_names(FILE *out);

/** The policy's name, as on the command line. */
const char *slowloris_policy_name(enum slowloris_policy policy);

/** The rules that they make. */
struct slowloris_rules slowloris_options_rules(const struct slowloris_options *options);

#endif /* SLOWLORIS_OPTIONS_H */

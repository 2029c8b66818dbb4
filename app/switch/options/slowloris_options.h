/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_OPTIONS_H
#define SLOWLORIS_OPTIONS_H

/** @file The options of the Slowloris detector. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "option.h"
#include "slowloris.h"

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
	uint32_t connections, destinations; /**< tracked at the most */
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

#endif /* SLOWLORIS_OPTIONS_H */

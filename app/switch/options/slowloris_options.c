/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "encoding.h"
#include "options/options.h"
#include "program.h"

#define MAX_TIME_MS (60 * 60 * 1000u)
/* Ticks wrap around after 15 hours. */
#define MAX_TIMEOUT_S (6 * 60 * 60u)
#define MAX_TABLE (1u << 24)

static const char *const policy_names[SLOWLORIS_POLICIES] = {
	[SLOWLORIS_DESTINATION] = "destination",
	[SLOWLORIS_CONNECTION] = "connection",
};

const char *
slowloris_policy_name(enum slowloris_policy policy)
{
	return policy_names[policy];
}

static uint16_t
encode(double ratio)
{
	return netfc_encode(netfc_format_by_id(NETFC_FP16), ratio);
}

static int
parse_threshold(FILE *errors, const char *option, const char *text, void *field)
{
	double *threshold = field;

	/* At least the least fp16 number; no more than a connection for each byte. */
	if (decimal_read(text, threshold) && *threshold > 0 && *threshold <= 1 &&
		encode(*threshold) != 0)
		return 0;
	return option_refuse(errors, option, text, "a number from 6e-8 to 1");
}

/* Scope of an option that can be changed while the switch runs. */
#define AT_ANY_TIME 1

#define FIELD(field) OPTION_FIELD(struct slowloris_options, field)

const struct option_row slowloris_rows[SLOWLORIS_OPTION_COUNT] = {
	{"slowloris", FIELD(on),
		.meaning = "watch connections per byte of each IPv4 destination, answer queries, "
			   "drop packets during an attack:"},
	/* 500 bytes: a request with its handshake is longer, what holds a connection open is not.
	 */
	{"slowloris-threshold", FIELD(threshold), OPTION_REAL_RANGE(0, 1, 0.002), .value = "R",
		.parse = parse_threshold, .scope = AT_ANY_TIME,
		.meaning = "more complete connections per byte of theirs than R"},
	{"slowloris-connections", FIELD(least), OPTION_RANGE(1, MAX_TABLE, 100), .value = "N",
		.scope = AT_ANY_TIME, .meaning = "and at least N connections"},
	{"slowloris-time", FIELD(time_ms), OPTION_RANGE(0, MAX_TIME_MS, 1000), .value = "MS",
		.scope = AT_ANY_TIME, .meaning = "for MS milliseconds, to begin or to end"},
	{"slowloris-release", FIELD(release_percent), OPTION_RANGE(1, 100, 50), .value = "P",
		.scope = AT_ANY_TIME, .meaning = "an attack ends below P percent of R or N"},
	{"slowloris-policy", FIELD(policy), OPTION_NAMES(policy_names, SLOWLORIS_DESTINATION),
		.scope = AT_ANY_TIME,
		.meaning = "drop all packets to that destination, or those of slow connections"},
	{"slowloris-bytes", FIELD(slow_bytes), OPTION_RANGE(1, UINT32_MAX, 1000), .value = "N",
		.scope = AT_ANY_TIME, .meaning = "slow connections: fewer than N bytes sent"},
	{"slowloris-grace", FIELD(grace_ms), OPTION_RANGE(0, MAX_TIME_MS, 5000), .value = "MS",
		.scope = AT_ANY_TIME, .meaning = "within MS milliseconds of their SYN"},
	{"slowloris-timeout", FIELD(timeout_s), OPTION_RANGE(1, MAX_TIMEOUT_S, 60), .value = "S",
		.scope = AT_ANY_TIME, .meaning = "a connection silent for S seconds has ended"},
	{"slowloris-table", FIELD(connections), OPTION_RANGE(1, MAX_TABLE, 65536), .value = "N",
		.meaning = "connections tracked"},
	{"slowloris-destinations", FIELD(destinations), OPTION_RANGE(1, MAX_TABLE, 4096),
		.value = "N", .meaning = "destinations tracked"},
	{"slowloris-dry-run", FIELD(dry_run), .scope = AT_ANY_TIME,
		.meaning = "drop nothing, only report"},
};

int
slowloris_options_check(const struct slowloris_options *options, FILE *errors)
{
	if (options->on && options->least > options->connections)
		return REPORT_TO(errors,
			"--slowloris-connections %u: no more than the %u that are "
			"tracked (--slowloris-table)\n",
			options->least, options->connections);
	return 0;
}

const struct option_row *
slowloris_options_find(const char *name)
{
	for (unsigned int o = 0; o < SLOWLORIS_OPTION_COUNT; o++) {
		if (slowloris_rows[o].scope == AT_ANY_TIME &&
			strcmp(slowloris_rows[o].name, name) == 0)
			return &slowloris_rows[o];
	}
	return NULL;
}

void
slowloris_options_print_names(FILE *out)
{
	for (unsigned int o = 0; o < SLOWLORIS_OPTION_COUNT; o++) {
		if (slowloris_rows[o].scope == AT_ANY_TIME)
			fprintf(out, " %s", slowloris_rows[o].name);
	}
}

struct slowloris_rules
slowloris_options_rules(const struct slowloris_options *options)
{
	const double part = options->release_percent / 100.0;

	return (struct slowloris_rules){
		.threshold = encode(options->threshold),
		.release = encode(options->threshold * part),
		.least = options->least,
		.least_release = (uint32_t)RTE_MAX(ceil(options->least * part), 1.0),
		.time_ms = options->time_ms,
		.policy = options->policy,
		.slow_bytes = options->slow_bytes,
		.grace_ms = options->grace_ms,
		.timeout_s = options->timeout_s,
		.dry_run = options->dry_run,
	};
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "decimal.h"
#include "option_value.h"
#include "options/slowloris_options.h"
#include "program.h"

/* 500 bytes: a request with its handshake is longer, what holds a connection open is not. */
#define DEFAULT_THRESHOLD 0.002
#define DEFAULT_LEAST 100u
#define DEFAULT_TIME_MS 1000u
#define DEFAULT_RELEASE_PERCENT 50u
#define DEFAULT_SLOW_BYTES 1000u
#define DEFAULT_GRACE_MS 5000u
#define DEFAULT_TIMEOUT_S 60u
#define DEFAULT_CONNECTIONS 65536u
#define DEFAULT_DESTINATIONS 4096u

#define MAX_TIME_MS (60 * 60 * 1000u)
/* Ticks are told apart within 15 hours. */
#define MAX_TIMEOUT_S (6 * 60 * 60u)
#define MAX_TABLE (1u << 24)

enum when {
	AT_START,
	AT_ANY_TIME
};

static const struct {
	const char *name;
	enum when when;
} options_known[SLOWLORIS_OPTION_COUNT] = {
#define KNOWN_(id, name, value, when) {name, when},
	SLOWLORIS_OPTIONS(KNOWN_)
#undef KNOWN_
};

static const char *const policy_names[SLOWLORIS_POLICIES] = {
	[SLOWLORIS_DESTINATION] = "destination",
	[SLOWLORIS_CONNECTION] = "connection",
};

const char *
slowloris_policy_name(enum slowloris_policy policy)
{
	return policy_names[policy];
}

void
slowloris_options_default(struct slowloris_options *options)
{
	*options = (struct slowloris_options){
		.threshold = DEFAULT_THRESHOLD,
		.least = DEFAULT_LEAST,
		.time_ms = DEFAULT_TIME_MS,
		.release_percent = DEFAULT_RELEASE_PERCENT,
		.slow_bytes = DEFAULT_SLOW_BYTES,
		.grace_ms = DEFAULT_GRACE_MS,
		.timeout_s = DEFAULT_TIMEOUT_S,
		.connections = DEFAULT_CONNECTIONS,
		.destinations = DEFAULT_DESTINATIONS,
	};
}

void
slowloris_options_print_usage(FILE *out)
{
	fprintf(out,
		"  --slowloris              watch connections per byte of each IPv4 destination,\n"
		"                           answer queries, drop while there is an attack:\n"
		"  --slowloris-threshold R  more connections per byte than R (default %g)\n"
		"  --slowloris-connections N\n"
		"                           and at least N connections (default %u)\n"
		"  --slowloris-time MS      for MS milliseconds, to begin and to end (default %u)\n"
		"  --slowloris-release P    it ends below P percent of R or N (default %u)\n"
		"  --slowloris-policy destination|connection\n"
		"                           drop all for that destination (default), or\n"
		"                           connections that are slow\n"
		"  --slowloris-bytes N      slow: sent less than N bytes (default %u)\n"
		"  --slowloris-grace MS     in the MS milliseconds since their SYN (default %u)\n"
		"  --slowloris-timeout S    silent for S seconds: ended (default %u)\n"
		"  --slowloris-table N      connections tracked (default %u)\n"
		"  --slowloris-destinations N\n"
		"                           destinations tracked (default %u)\n"
		"  --slowloris-dry-run      drop nothing, only tell\n",
		DEFAULT_THRESHOLD, DEFAULT_LEAST, DEFAULT_TIME_MS, DEFAULT_RELEASE_PERCENT,
		DEFAULT_SLOW_BYTES, DEFAULT_GRACE_MS, DEFAULT_TIMEOUT_S, DEFAULT_CONNECTIONS,
		DEFAULT_DESTINATIONS);
}

static uint16_t
encode(double ratio)
{
	return netfc_encode(netfc_format_by_id(NETFC_FP16), ratio);
}

static int
parse_threshold(FILE *errors, const char *name, const char *text, double *threshold)
{
	/* At least the least fp16 number; no more than a connection for each byte. */
	if (decimal_read(text, threshold) && *threshold > 0 && *threshold <= 1 &&
		encode(*threshold) != 0)
		return 0;
	return option_refuse(errors, name, text, "a number from 6e-8 to 1");
}

static int
parse_policy(FILE *errors, const char *name, const char *text, enum slowloris_policy *policy)
{
	unsigned int p;

	if (option_name(errors, name, text, policy_names, SLOWLORIS_POLICIES, &p) != 0)
		return -1;
	*policy = (enum slowloris_policy)p;
	return 0;
}

static int
parse_switch(FILE *errors, const char *name, const char *text, bool *on)
{
	*on = text == NULL || strcmp(text, "on") == 0;
	if (*on || strcmp(text, "off") == 0)
		return 0;
	return option_refuse(errors, name, text, "on or off");
}

int
slowloris_options_take(enum slowloris_option option, const char *text,
	struct slowloris_options *options, FILE *errors)
{
	const char *name = options_known[option].name;

	if (option != SLOWLORIS_OPTION_SLOWLORIS)
		options->detail = name;
	switch (option) {
	case SLOWLORIS_OPTION_SLOWLORIS:
		options->on = true;
		return 0;
	case SLOWLORIS_OPTION_THRESHOLD:
		return parse_threshold(errors, name, text, &options->threshold);
	case SLOWLORIS_OPTION_CONNECTIONS:
		return option_u32(errors, name, text, 1, MAX_TABLE, &options->least);
	case SLOWLORIS_OPTION_TIME:
		return option_u32(errors, name, text, 0, MAX_TIME_MS, &options->time_ms);
	case SLOWLORIS_OPTION_RELEASE:
		return option_u32(errors, name, text, 1, 100, &options->release_percent);
	case SLOWLORIS_OPTION_POLICY:
		return parse_policy(errors, name, text, &options->policy);
	case SLOWLORIS_OPTION_BYTES:
		return option_u32(errors, name, text, 1, UINT32_MAX, &options->slow_bytes);
	case SLOWLORIS_OPTION_GRACE:
		return option_u32(errors, name, text, 0, MAX_TIME_MS, &options->grace_ms);
	case SLOWLORIS_OPTION_TIMEOUT:
		return option_u32(errors, name, text, 1, MAX_TIMEOUT_S, &options->timeout_s);
	case SLOWLORIS_OPTION_TABLE:
		return option_u32(errors, name, text, 1, MAX_TABLE, &options->connections);
	case SLOWLORIS_OPTION_DESTINATIONS:
		return option_u32(errors, name, text, 1, MAX_TABLE, &options->destinations);
	case SLOWLORIS_OPTION_DRY_RUN:
		return parse_switch(errors, name, text, &options->dry_run);
	case SLOWLORIS_OPTION_COUNT:
	default:
		return -1;
	}
}

int
slowloris_options_check(const struct slowloris_options *options, FILE *errors)
{
	if (!options->on && options->detail != NULL) {
		fprintf(errors, PROGRAM ": --%s is for --slowloris, which was not given\n",
			options->detail);
		return -1;
	}
	if (options->on && options->least > options->connections) {
		fprintf(errors,
			PROGRAM ": --slowloris-connections %u: no more than the %u that are "
				"tracked (--slowloris-table)\n",
			options->least, options->connections);
		return -1;
	}
	return 0;
}

enum slowloris_option
slowloris_options_find(const char *name)
{
	for (unsigned int o = 0; o < SLOWLORIS_OPTION_COUNT; o++) {
		if (options_known[o].when == AT_ANY_TIME &&
			strcmp(options_known[o].name, name) == 0)
			return (enum slowloris_option)o;
	}
	return SLOWLORIS_OPTION_COUNT;
}

void
slowloris_options_print_names(FILE *out)
{
	for (unsigned int o = 0; o < SLOWLORIS_OPTION_COUNT; o++) {
		if (options_known[o].when == AT_ANY_TIME)
			fprintf(out, " %s", options_known[o].name);
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <inttypes.h>

#include <rte_cycles.h>
#include <rte_version.h>

#include "aggregate/team.h"
#include "json.h"
#include "report/report.h"
#include "encoding.h"
#include "run/run.h"

static const struct counter rows[] = {TEAM_COUNTERS(COUNTER_ROW)};

/* Names in a set, joined by +. */
static void
write_set(char *text, size_t length, unsigned int set, unsigned int first,
	const char *(*name)(unsigned int))
{
	size_t at = 0;

	text[0] = '\0';
	for (unsigned int bit = 0; bit < 32; bit++)
		if ((set >> bit & 1) != 0 && at < length)
			at += (size_t)snprintf(text + at, length - at, "%s%s", at > 0 ? "+" : "",
				name(first + bit));
}

static const char *
kind_name(unsigned int kind)
{
	return data_kind_words[kind];
}

struct names {
	char formats[64], ops[32], kinds[64];
};

static const char *
into_name(const struct aggregate_options *options)
{
	return options->into == AGGREGATE_INTO_SAME ? "same" : aggregate_format_name(options->into);
}

static struct names
names_of(const struct aggregate_options *options)
{
	struct names names = {.formats = ""};

	write_set(names.formats, sizeof(names.formats), options->formats, 0, aggregate_format_name);
	write_set(names.ops, sizeof(names.ops), options->ops, AGGREGATE_SUM, aggregate_op_name);
	write_set(names.kinds, sizeof(names.kinds), options->kinds, 0, kind_name);
	return names;
}

void
team_report_configuration(FILE *out, const struct team *team)
{
	const struct aggregate_options *options = &team->options->aggregate;
	const struct flow *flow = &team->workers[0].flow;
	const struct names names = names_of(options);
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];
	int family = flow->ip6 ? AF_INET6 : AF_INET;

	inet_ntop(family, flow->src_ip, from, sizeof(from));
	inet_ntop(family, flow->dst_ip, to, sizeof(to));
	fprintf(out, PROGRAM " " NETFC_VERSION ", %s\n", rte_version());
	fprintf(out,
		"  workers   %u of job %" PRIu64 ", %" PRIu64 " slots, %s%" PRIu32
		" bytes of values in a chunk\n",
		team->count, options->job, options->slots,
		options->length == LENGTH_ANY ? "up to " : "",
		bench_aggregate_value_bytes(options));
	fprintf(out, "  values    %s%s%s, %s, %s\n", names.formats,
		options->into != AGGREGATE_INTO_SAME ? " into " : "",
		options->into != AGGREGATE_INTO_SAME ? into_name(options) : "", names.ops,
		names.kinds);
	fprintf(out, "  from      %s on, UDP port %u on\n  to        %s, UDP port %" PRIu64 " on\n",
		from, flow->src_udp, to, options->port);
	fprintf(out, "  link      %g %% lost, %g %% doubled, %g %% overtaken; %g %% bad packets\n",
		options->loss, options->duplicate, options->reorder, options->flood);
	for (unsigned int p = 0; p < team->bench->port_count; p++)
		fprintf(out, "  port %-4u %s\n", team->bench->port[p].id,
			team->bench->port[p].info.driver_name);
	fflush(out);
}

static double
seconds_of(const struct team *team)
{
	return (double)(team->last_result - team->start) / (double)rte_get_tsc_hz();
}

static double
rate_of(const struct team *team, uint64_t count)
{
	double seconds = seconds_of(team);

	return seconds > 0 ? (double)count / seconds : 0;
}

static void
print_mismatch(FILE *out, const struct team_mismatch *mismatch)
{
	if (!mismatch->any)
		return;
	fprintf(out, "The first that is wrong: chunk %" PRIu32 ", worker %u, %s %s",
		mismatch->chunk, mismatch->worker, aggregate_format_name(mismatch->format),
		aggregate_op_name(mismatch->op));
	if (mismatch->has_lane)
		fprintf(out, ", value %" PRIu32 ": 0x%" PRIx64 ", exactly 0x%" PRIx64 "\n",
			mismatch->lane, mismatch->got, mismatch->expected);
	else
		fprintf(out, ", in its headers or flags\n");
}

static void
print_refusals(FILE *out, const struct team_counters *counters)
{
	for (unsigned int code = 1; code < RTE_DIM(counters->refused_code); code++)
		if (counters->refused_code[code] != 0)
			fprintf(out, "  refused            %15" PRIu64 "  (status %u)\n",
				counters->refused_code[code], code);
	for (unsigned int r = 0; r < RTE_DIM(counters->refused_reason); r++)
		if (counters->refused_reason[r] != 0)
			fprintf(out, "  refused            %15" PRIu64 "  (%s%s)\n",
				counters->refused_reason[r],
				aggregate_reason_name(r) != NULL ? aggregate_reason_name(r) : "?",
				r >= AGGREGATE_MISSING ? " worker" : "");
}

void
team_report(FILE *out, const struct team *team, const json_t *report)
{
	fprintf(out, "Ran for %.3f seconds%s: %.1f million values a second, %.4f million results\n",
		json_real_value(json_object_get(report, "seconds")),
		team->bench->run.end == END_SIGNAL ? ", ended by a signal" : "",
		json_real_value(json_object_get(report, "values_per_second")) / 1e6,
		json_real_value(json_object_get(report, "results_per_second")) / 1e6);
	for (unsigned int r = 0; r < RTE_DIM(rows); r++) {
		uint64_t count =
			(uint64_t)json_integer_value(json_object_get(report, rows[r].name));

		if (count != 0 || r < 4)
			fprintf(out, "  %-18s %15" PRIu64 "  (%s)\n", rows[r].name, count,
				rows[r].meaning);
	}
	fprintf(out, "  %-18s %15" PRIu64 " + %" PRIu64 "\n", "lost by intent", team->outward.lost,
		team->inward.lost);
	print_refusals(out, &team->counters);
	print_mismatch(out, &team->mismatch);
	if (team->counters.results != 0)
		report_latency(out, "From a worker's request to its result",
			json_object_get(report, "latency_us"));
	fflush(out);
}

static json_t *
configuration_object(const struct team *team)
{
	const struct aggregate_options *options = &team->options->aggregate;
	const struct names names = names_of(options);

	return json_pack(
		"{s:i, s:o, s:o, s:s, s:s, s:s, s:s, s:b, s:s, s:o, s:f, s:f, s:f, s:f, s:o, s:b}",
		"workers", (int)team->count, "slots", json_count(team->slots), "bytes",
		json_count(bench_aggregate_value_bytes(options)), "format", names.formats, "into",
		into_name(options), "op", names.ops, "data", names.kinds, "any_length",
		options->length == LENGTH_ANY, "results",
		options->results == RESULTS_TO_ONE ? "one" : "all", "seed",
		json_count(team->options->seed), "loss", options->loss, "duplicate",
		options->duplicate, "reorder", options->reorder, "flood", options->flood, "shards",
		json_count(team->shards), "ip6", (int)team->options->flow.ip6);
}

static json_t *
link_object(const struct impair *impair)
{
	return json_pack("{s:o, s:o, s:o}", "lost", json_count(impair->lost), "duplicates",
		json_count(impair->duplicates), "reordered", json_count(impair->reordered));
}

static json_t *
bad_object(const struct team *team)
{
	json_t *object = json_object();

	for (enum bad_packet kind = 0; kind < BAD_PACKETS; kind++)
		json_object_set_new(
			object, bad_packet_name(kind), json_count(team->counters.bad_of[kind]));
	return object;
}

static json_t *
refusals_object(const struct team_counters *counters)
{
	json_t *object = json_object();
	char name[32];

	for (unsigned int code = 1; code < RTE_DIM(counters->refused_code); code++) {
		snprintf(name, sizeof(name), "status_%u", code);
		if (counters->refused_code[code] != 0)
			json_object_set_new(object, name, json_count(counters->refused_code[code]));
	}
	for (unsigned int r = 0; r < RTE_DIM(counters->refused_reason); r++) {
		snprintf(name, sizeof(name), "reason_%u", r);
		if (counters->refused_reason[r] != 0)
			json_object_set_new(object, name, json_count(counters->refused_reason[r]));
	}
	return object;
}

json_t *
team_json(const struct team *team)
{
	const struct team_counters *counters = &team->counters;
	json_t *object = json_pack("{s:s, s:s, s:s, s:o, s:s, s:f, s:o, s:f, s:f}", "program",
		PROGRAM, "version", NETFC_VERSION, "dpdk", rte_version(), "configuration",
		configuration_object(team), "ended_by",
		team->failure != NULL || team->fatal_reason != 0
			? "failure"
			: report_end_name(team->bench->run.end),
		"seconds", seconds_of(team), "values", json_count(counters->values),
		"values_per_second", rate_of(team, counters->values), "results_per_second",
		rate_of(team, counters->results));

	json_counts(object, rows, RTE_DIM(rows), counters);
	json_object_set_new(object, "bad_packets", bad_object(team));
	json_object_set_new(object, "refusals", refusals_object(counters));
	json_object_set_new(object, "outward", link_object(&team->outward));
	json_object_set_new(object, "inward", link_object(&team->inward));
	json_object_set_new(object, "mbufs_leaked", json_count(team->bench->buffers_lost));
	json_object_set_new(object, "latency_us", report_latency_json(&team->latency));
	json_object_set_new(object, "switch", inline_switch_json(team->bench, counters->values));
	return object;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>
#include <rte_version.h>

#include "encoding.h"
#include "json.h"
#include "report/report.h"
#include "options/options.h"
#include "run/run.h"

double
report_microseconds(uint64_t cycles)
{
	return (double)cycles * US_PER_S / (double)rte_get_tsc_hz();
}

const char *
report_end_name(enum run_end end)
{
	static const char *const names[] = {
		[END_PACKETS] = "packets",
		[END_SECONDS] = "seconds",
		[END_SIGNAL] = "signal",
		[END_STUCK] = "stuck",
	};

	return names[end];
}

static double
seconds_between(uint64_t start, uint64_t end)
{
	return end > start ? (double)(end - start) / (double)rte_get_tsc_hz() : 0;
}

static json_t *
traffic(uint64_t packets, double seconds, uint32_t lanes)
{
	double rate = seconds > 0 ? (double)packets / seconds : 0;

	return json_pack("{s:o, s:o, s:f, s:f}", "packets", json_count(packets), "lanes",
		json_count(packets * lanes), "packets_per_second", rate, "lanes_per_second",
		rate * lanes);
}

static json_t *
configuration(const struct bench *bench)
{
	const struct options *options = &bench->options;
	json_t *object = json_pack("{s:s, s:s, s:s, s:i, s:s, s:o, s:i, s:i, s:i, s:i, s:b}", "set",
		netfc_set_name(bench->set), "format",
		netfc_format_name(netfc_set_format(bench->set)), "op",
		options->op != 0 ? value_op_name(options->op) : "all", "lanes", (int)options->lanes,
		"operands", options->operands, "seed", json_count(options->seed), "requests",
		(int)bench->workload.count, "frame_bytes", (int)bench->workload.frame_length,
		"flows", (int)options->flows, "timeout_ms", (int)options->timeout_ms, "ip6",
		(int)options->flow.ip6);

	json_object_set_new(
		object, "window", options->window != 0 ? json_count(options->window) : json_null());
	json_object_set_new(
		object, "rate", options->rate != 0 ? json_real(options->rate) : json_null());
	json_object_set_new(object, "inline_match",
		bench->embedded != NULL ? json_string(match_kind_name(options->match))
					: json_null());
	return object;
}

static json_t *
refusals_object(const struct mismatches *mismatches)
{
	json_t *object = json_object();

	for (unsigned int code = 1; code < STATUS_CODES; code++)
		json_object_set_new(
			object, mismatch_status_name(code), json_count(mismatches->refusals[code]));
	return object;
}

static json_t *
examples_array(const struct mismatches *mismatches, const struct netfc_format *format)
{
	const int digits = encoding_digits(format);
	json_t *array = json_array();

	for (unsigned int e = 0; e < mismatches->example_count; e++) {
		const struct mismatch_example *example = &mismatches->examples[e];
		json_t *object = json_pack("{s:s, s:o, s:o, s:o}", "kind",
			mismatch_kinds[example->kind].name, "id", json_word(example->id, 8),
			"expected", json_count(example->expected), "got", json_count(example->got));

		if (example->has_lane) {
			json_object_set_new(object, "op", json_string(value_op_name(example->op)));
			json_object_set_new(object, "lane", json_count(example->lane));
			json_object_set_new(object, "x", json_word(example->x, digits));
			json_object_set_new(object, "y", json_word(example->y, digits));
		}
		json_array_append_new(array, object);
	}
	return array;
}

/* Pairs: no longer than so many microseconds (and longer than the pair before), how many. */
static json_t *
histogram_array(const struct histogram *histogram)
{
	json_t *array = json_array();

	for (uint32_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
		if (histogram->bucket[bucket] != 0)
			json_array_append_new(array,
				json_pack("[f, o]", report_microseconds(histogram_bound(bucket)),
					json_count(histogram->bucket[bucket])));
	}
	return array;
}

static double
percentile(const struct histogram *histogram, double share)
{
	return report_microseconds(histogram_percentile(histogram, share));
}

json_t *
report_latency_json(const struct histogram *histogram)
{
	double answers = (double)RTE_MAX(histogram->count, 1u);

	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "min",
		report_microseconds(histogram->least), "mean",
		report_microseconds(histogram->sum) / answers, "p50", percentile(histogram, 0.5),
		"p99", percentile(histogram, 0.99), "p99_9", percentile(histogram, 0.999), "max",
		report_microseconds(histogram->greatest), "histogram", histogram_array(histogram));
}

static json_t *
accuracy_object(const struct accuracy *accuracy)
{
	double lanes = (double)RTE_MAX(accuracy->lanes, 1u);

	return json_pack("{s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:f}", "lanes",
		json_count(accuracy->lanes), "left_out", json_count(accuracy->left_out), "infinite",
		json_count(accuracy->infinite), "average", accuracy->average, "median",
		accuracy->median, "minimum", accuracy->minimum, "mse", accuracy->mean_square,
		"exact", (double)accuracy->exact / lanes, "within_1_ulp",
		(double)accuracy->near / lanes);
}

/* Functions, min and the like are exact, or wrong: null. */
static json_t *
accuracies_json(unsigned int asked, const struct accuracies *accuracies)
{
	json_t *object;

	if (asked > NETFC_DIV)
		return json_null();
	object = json_object();
	for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++) {
		const struct accuracy *accuracy = &accuracies->of[op];

		if (accuracy->lanes + accuracy->left_out != 0)
			json_object_set_new(object, netfc_op_name(op), accuracy_object(accuracy));
	}
	json_object_set_new(object, "all", accuracy_object(&accuracies->of[ACCURACY_ALL]));
	return object;
}

json_t *
report_json(const struct bench *bench)
{
	static const struct counter counts[] = {RUN_COUNTERS(COUNTER_ROW)};
	const struct run *run = &bench->run;
	const struct run_counters *counters = &run->counters;
	double sending = seconds_between(counters->start, counters->last_sent);
	double receiving = seconds_between(counters->start, counters->last_received);
	uint32_t lanes = bench->options.lanes;
	json_t *object = json_pack("{s:s, s:s, s:s, s:o, s:s, s:f, s:o, s:o, s:f}", "program",
		PROGRAM, "version", NETFC_VERSION, "dpdk", rte_version(), "configuration",
		configuration(bench), "ended_by", report_end_name(run->end), "seconds",
		RTE_MAX(sending, receiving), "sent", traffic(counters->sent, sending, lanes),
		"answered", traffic(counters->answered, receiving, lanes), "loss",
		counters->sent != 0 ? (double)counters->lost / (double)counters->sent : 0.0);

	json_counts(object, counts, RTE_DIM(counts), counters);
	json_object_set_new(object, "wrong_lanes", json_count(run->mismatches.lanes));
	json_object_set_new(object, "mbufs_leaked", json_count(bench->buffers_lost));
	json_object_set_new(object, "mismatches",
		json_counts(
			json_object(), mismatch_kinds, MISMATCH_KINDS, run->mismatches.replies));
	json_object_set_new(object, "refusals", refusals_object(&run->mismatches));
	json_object_set_new(
		object, "examples", examples_array(&run->mismatches, netfc_set_format(bench->set)));
	json_object_set_new(object, "latency_us", report_latency_json(&run->latency));
	json_object_set_new(
		object, "accuracy", accuracies_json(bench->options.op, &bench->accuracies));
	return object;
}

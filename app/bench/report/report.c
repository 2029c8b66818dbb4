/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_version.h>

#include "aggregate/team.h"
#include "options/options.h"
#include "report/report.h"

#define BAR_WIDTH 40

static void
print_flow(FILE *out, const struct options *options)
{
	const struct flow *flow = &options->flow;
	char src_mac[RTE_ETHER_ADDR_FMT_SIZE], dst_mac[RTE_ETHER_ADDR_FMT_SIZE];
	char src_ip[INET6_ADDRSTRLEN], dst_ip[INET6_ADDRSTRLEN];
	int family = flow->ip6 ? AF_INET6 : AF_INET;

	rte_ether_format_addr(src_mac, sizeof(src_mac), &flow->src_mac);
	rte_ether_format_addr(dst_mac, sizeof(dst_mac), &flow->dst_mac);
	inet_ntop(family, flow->src_ip, src_ip, sizeof(src_ip));
	inet_ntop(family, flow->dst_ip, dst_ip, sizeof(dst_ip));
	fprintf(out, "  from      %s, %s, UDP port %u", src_mac, src_ip, flow->src_udp);
	if (options->flows > 1)
		fprintf(out, " to %u", flow->src_udp + options->flows - 1);
	fprintf(out, "\n  to        %s, %s, UDP port %u\n", dst_mac, dst_ip, flow->dst_udp);
}

static void
print_lcores(FILE *out, const struct bench *bench)
{
	unsigned int used = 1 + bench->options.switch_lcores, load = rte_get_main_lcore();

	if (bench->embedded != NULL) {
		load = embedded_load_lcore(bench->embedded);
		fprintf(out, "  lcore %-3u runs the switch, match stages %s", rte_get_main_lcore(),
			match_kind_name(bench->options.match));
		if (used > 2)
			fprintf(out, ", with %u more", used - 2);
		fprintf(out, "\n");
	}
	fprintf(out, "  lcore %-3u sends and receives\n", load);
	if (rte_lcore_count() > used)
		fprintf(out, "  %u more lcore%s idle\n", rte_lcore_count() - used,
			rte_lcore_count() - used == 1 ? " is" : "s are");
}

void
bench_report_configuration(FILE *out, const struct bench *bench)
{
	const struct options *options = &bench->options;

	fprintf(out, PROGRAM " " NETFC_VERSION ", %s\n", rte_version());
	fprintf(out, "  table set %s: %s\n", netfc_set_name(bench->set),
		netfc_format_title(netfc_set_format(bench->set)));
	fprintf(out, "  requests  %s, %u lane%s, %u bytes; %u different ones, operands %s\n",
		options->op != 0 ? value_op_name(options->op) : "all operations", options->lanes,
		options->lanes == 1 ? "" : "s", bench->workload.frame_length, bench->workload.count,
		options->operands);
	print_flow(out, options);
	if (options->rate != 0)
		fprintf(out, "  rate      %.0f packets per second", options->rate);
	else
		fprintf(out, "  window    %u packets", options->window);
	fprintf(out, ", lost after %u ms\n", options->timeout_ms);
	for (unsigned int p = 0; p < bench->port_count; p++)
		fprintf(out, "  port %-4u %s\n", bench->port[p].id,
			bench->port[p].info.driver_name);
	print_lcores(out, bench);
	fflush(out);
}

static double
real_of(const json_t *object, const char *name)
{
	return json_real_value(json_object_get(object, name));
}

static void
print_rate(FILE *out, const char *name, const json_t *traffic)
{
	fprintf(out, "  %-18s %15" PRIu64 " packets  %10.4f Mpps  %10.4f Mlanes/s\n", name,
		(uint64_t)json_integer_value(json_object_get(traffic, "packets")),
		real_of(traffic, "packets_per_second") / 1e6,
		real_of(traffic, "lanes_per_second") / 1e6);
}

static void
print_count(FILE *out, const char *name, uint64_t count, const char *meaning)
{
	if (count != 0)
		fprintf(out, "  %-18s %15" PRIu64 "  (%s)\n", name, count, meaning);
}

static void
print_packets(FILE *out, const struct run_counters *counters, const json_t *report)
{
	print_rate(out, "sent", json_object_get(report, "sent"));
	print_rate(out, "answered in time", json_object_get(report, "answered"));
	fprintf(out, "  %-18s %15" PRIu64 "\n", "right to the bit", counters->right);
	fprintf(out, "  %-18s %15" PRIu64 "\n", "wrong", counters->wrong);
	fprintf(out, "  %-18s %15" PRIu64 "  %.6f %%\n", "lost", counters->lost,
		100 * real_of(report, "loss"));
	print_count(out, "late", counters->late, "answered after they were given up as lost");
	print_count(out, "duplicates", counters->duplicates, "answered more than once");
	if (counters->reordered != 0)
		fprintf(out, "  %-18s %15" PRIu64 "  (overtaken, by up to %" PRIu64 " places)\n",
			"reordered", counters->reordered, counters->reorder_extent);
	print_count(out, "other packets", counters->others, "no NetFC");
	print_count(
		out, "held back", counters->held_back, "not sent, as the rate could not be kept");
	print_count(out, "refused", counters->refused, "times the port did not take a packet");
	print_count(out, "no buffer", counters->no_buffer, "times all packet buffers were in use");
}

/* A line for each power of two, as wide as its share of the largest. */
static void
print_histogram(FILE *out, const struct histogram *histogram)
{
	const uint32_t rows = HISTOGRAM_BUCKETS / HISTOGRAM_STEPS;
	uint64_t row[HISTOGRAM_BUCKETS / HISTOGRAM_STEPS] = {0}, most = 0;

	for (uint32_t r = 0; r < rows; r++) {
		for (uint32_t s = 0; s < HISTOGRAM_STEPS; s++)
			row[r] += histogram->bucket[r * HISTOGRAM_STEPS + s];
		most = RTE_MAX(most, row[r]);
	}
	for (uint32_t r = 0; r < rows; r++) {
		static const char bar[] = "########################################";
		uint64_t bound = histogram_bound((r + 1) * HISTOGRAM_STEPS - 1);

		if (row[r] != 0)
			fprintf(out, "  up to %12.3f us %15" PRIu64 "  %.*s\n",
				report_microseconds(bound), row[r],
				(int)(BAR_WIDTH * (double)row[r] / (double)most + 0.5), bar);
	}
}

void
report_latency(FILE *out, const char *what, const json_t *latency)
{
	fprintf(out,
		"%s, us: least %.3f, mean %.3f, p50 %.3f, p99 %.3f, p99.9 %.3f, greatest %.3f\n",
		what, real_of(latency, "min"), real_of(latency, "mean"), real_of(latency, "p50"),
		real_of(latency, "p99"), real_of(latency, "p99_9"), real_of(latency, "max"));
}

static void
print_accuracy_row(FILE *out, const char *op, const struct accuracy *accuracy)
{
	double lanes = (double)RTE_MAX(accuracy->lanes, 1u);

	fprintf(out,
		"  %-4s %15" PRIu64 " %9.4f%% %9.4f%% %9.4f%% %12.4g %8.2f%% %8.2f%% %13" PRIu64
		"\n",
		op, accuracy->lanes, 100 * accuracy->average, 100 * accuracy->median,
		100 * accuracy->minimum, accuracy->mean_square,
		100 * (double)accuracy->exact / lanes, 100 * (double)accuracy->near / lanes,
		accuracy->left_out);
}

static void
print_accuracy(FILE *out, const struct bench *bench)
{
	const struct accuracy *all = &bench->accuracies.of[ACCURACY_ALL];

	/* Functions, min and the like are exact, or wrong. */
	if (bench->options.op > NETFC_DIV)
		return;
	fprintf(out, "Accuracy of the right replies, against the correctly rounded results\n");
	fprintf(out, "  %-4s %15s %10s %10s %10s %12s %9s %9s %13s\n", "op", "lanes", "average",
		"median", "minimum", "mean square", "exact", "1 ulp", "not counted");
	for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++) {
		const struct accuracy *accuracy = &bench->accuracies.of[op];

		if (accuracy->lanes + accuracy->left_out != 0)
			print_accuracy_row(out, netfc_op_name(op), accuracy);
	}
	if (bench->options.op == 0)
		print_accuracy_row(out, "all", all);
	if (all->infinite != 0)
		fprintf(out,
			"  %" PRIu64 " results are infinite or NaN where a finite one is right: "
			"accuracy 0, left out of the mean square\n",
			all->infinite);
}

void
report_results(FILE *out, const struct bench *bench, const json_t *report)
{
	fprintf(out, "Ran for %.3f seconds%s\n", real_of(report, "seconds"),
		bench->run.end == END_SIGNAL ? ", ended by a signal" : "");
	print_packets(out, &bench->run.counters, report);
	mismatch_print(out, &bench->run.mismatches, netfc_set_format(bench->set));
	if (bench->run.counters.answered != 0) {
		report_latency(out, "Latency", json_object_get(report, "latency_us"));
		print_histogram(out, &bench->run.latency);
	}
	if (bench->run.counters.right != 0)
		print_accuracy(out, bench);
	fflush(out);
}

/* ---- progress -------------------------------------------------------------------------------- */

/* Without rates of packets: values are what counts. */
static void
print_team_line(
	const struct team_counters *counters, double seconds, uint64_t values, double interval)
{
	fprintf(stderr,
		"%8.1f s %12" PRIu64 " results %10.3f million values/s %8" PRIu64
		" retries %8" PRIu64 " wrong\n",
		seconds, counters->results, (double)values / interval / 1e6, counters->retries,
		counters->wrong);
}

static void
print_run_line(const struct bench *bench, double seconds, uint64_t replies, double interval)
{
	const struct run_counters *counters = &bench->run.counters;
	double rate = (double)replies / interval;

	fprintf(stderr,
		"%8.1f s %12" PRIu64 " sent %12" PRIu64
		" answered %9.3f Mpps %9.3f Mlanes/s %8" PRIu64 " lost %8" PRIu64 " wrong\n",
		seconds, counters->sent, counters->answered, rate / 1e6,
		rate * bench->options.lanes / 1e6, counters->lost, counters->wrong);
}

static void
print_progress(void *arg)
{
	struct progress *progress = arg;
	const struct bench *bench = progress->bench;
	const struct team_counters *team = progress->team;
	double seconds = ticker_seconds(&progress->ticker), interval = seconds - progress->seconds;
	uint64_t now = team != NULL ? team->values : bench->run.counters.answered;

	progress->seconds = seconds;
	if (team != NULL)
		print_team_line(team, progress->seconds, now - progress->before, interval);
	else
		print_run_line(bench, progress->seconds, now - progress->before, interval);
	progress->before = now;
}

int
progress_start(
	struct progress *progress, const struct bench *bench, const struct team_counters *counters)
{
	double interval = bench->options.progress;

	*progress = (struct progress){.bench = bench, .team = counters};
	if (interval == 0)
		return 0;
	return ticker_start(&progress->ticker, "netfc-progress",
		(uint64_t)(interval * (double)NS_PER_S), print_progress, progress);
}

void
progress_stop(struct progress *progress)
{
	ticker_stop(&progress->ticker);
}

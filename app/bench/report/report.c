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

double
results_microseconds(uint64_t cycles)
{
	return (double)cycles * US_PER_S / (double)rte_get_tsc_hz();
}

static double
seconds_between(uint64_t start, uint64_t end)
{
	return end > start ? (double)(end - start) / (double)rte_get_tsc_hz() : 0;
}

static double
per_second(uint64_t count, double seconds)
{
	return seconds > 0 ? (double)count / seconds : 0;
}

static double
percentile(const struct histogram *histogram, double share)
{
	return results_microseconds(histogram_percentile(histogram, share));
}

struct latency
latency_of(const struct histogram *histogram)
{
	struct latency latency = {
		.least = results_microseconds(histogram->least),
		.p50 = percentile(histogram, 0.5),
		.p99 = percentile(histogram, 0.99),
		.p99_9 = percentile(histogram, 0.999),
		.greatest = results_microseconds(histogram->greatest),
	};

	if (histogram->count != 0)
		latency.mean = results_microseconds(histogram->sum) / (double)histogram->count;
	return latency;
}

int
results_find(const struct bench *bench, struct results *results)
{
	const struct run_counters *counters = &bench->run.counters;

	*results = (struct results){
		.sending_seconds = seconds_between(counters->start, counters->last_sent),
		.receiving_seconds = seconds_between(counters->start, counters->last_received),
		.loss = counters->sent != 0 ? (double)counters->lost / (double)counters->sent : 0,
		.latency = latency_of(&bench->run.latency),
	};
	results->seconds = RTE_MAX(results->sending_seconds, results->receiving_seconds);
	results->sent_rate = per_second(counters->sent, results->sending_seconds);
	results->answered_rate = per_second(counters->answered, results->receiving_seconds);
	return accuracy_find(&bench->workload, &results->accuracies);
}

const char *
results_end_name(enum run_end end)
{
	static const char *const names[] = {
		[END_PACKETS] = "packets",
		[END_SECONDS] = "seconds",
		[END_SIGNAL] = "signal",
		[END_STUCK] = "stuck",
	};

	return names[end];
}

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

static void
print_rate(FILE *out, const char *name, uint64_t packets, double rate, uint32_t lanes)
{
	fprintf(out, "  %-18s %15" PRIu64 " packets  %10.4f Mpps  %10.4f Mlanes/s\n", name, packets,
		rate / 1e6, rate * lanes / 1e6);
}

static void
print_count(FILE *out, const char *name, uint64_t count, const char *meaning)
{
	if (count != 0)
		fprintf(out, "  %-18s %15" PRIu64 "  (%s)\n", name, count, meaning);
}

static void
print_packets(FILE *out, const struct bench *bench, const struct results *results)
{
	const struct run_counters *counters = &bench->run.counters;
	uint32_t lanes = bench->options.lanes;

	print_rate(out, "sent", counters->sent, results->sent_rate, lanes);
	print_rate(out, "answered in time", counters->answered, results->answered_rate, lanes);
	fprintf(out, "  %-18s %15" PRIu64 "\n", "right to the bit", counters->right);
	fprintf(out, "  %-18s %15" PRIu64 "\n", "wrong", counters->wrong);
	fprintf(out, "  %-18s %15" PRIu64 "  %.6f %%\n", "lost", counters->lost,
		100 * results->loss);
	print_count(out, "late", counters->late, "answered after they were given up as lost");
	print_count(out, "duplicates", counters->duplicates, "answered more than once");
	if (counters->reordered != 0)
		fprintf(out, "  %-18s %15" PRIu64 "  (overtaken, by up to %" PRIu32 " places)\n",
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
				results_microseconds(bound), row[r],
				(int)(BAR_WIDTH * (double)row[r] / (double)most + 0.5), bar);
	}
}

void
results_print_latency(FILE *out, const char *what, const struct latency *latency)
{
	fprintf(out,
		"%s, us: least %.3f, mean %.3f, p50 %.3f, p99 %.3f, p99.9 %.3f, greatest %.3f\n",
		what, latency->least, latency->mean, latency->p50, latency->p99, latency->p99_9,
		latency->greatest);
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
print_accuracy(FILE *out, const struct bench *bench, const struct accuracies *accuracies)
{
	const struct accuracy *all = &accuracies->of[ACCURACY_ALL];

	/* Functions, min and the like are exact, or wrong. */
	if (bench->options.op > NETFC_DIV)
		return;
	fprintf(out, "Accuracy of the right replies, against the correctly rounded results\n");
	fprintf(out, "  %-4s %15s %10s %10s %10s %12s %9s %9s %13s\n", "op", "lanes", "average",
		"median", "minimum", "mean square", "exact", "1 ulp", "not counted");
	for (unsigned int op = NETFC_ADD; op <= NETFC_DIV; op++) {
		const struct accuracy *accuracy = &accuracies->of[op];

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
report_results(FILE *out, const struct bench *bench, const struct results *results)
{
	fprintf(out, "Ran for %.3f seconds%s\n", results->seconds,
		bench->run.end == END_SIGNAL ? ", ended by a signal" : "");
	print_packets(out, bench, results);
	mismatch_print(out, &bench->run.mismatches, netfc_set_format(bench->set));
	if (bench->run.counters.answered != 0) {
		results_print_latency(out, "Latency", &results->latency);
		print_histogram(out, &bench->run.latency);
	}
	if (bench->run.counters.right != 0)
		print_accuracy(out, bench, &results->accuracies);
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
	double interval = bench->options.progress;
	uint64_t now = team != NULL ? team->values : bench->run.counters.answered;

	progress->seconds += interval;
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

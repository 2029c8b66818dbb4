/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_cycles.h>

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

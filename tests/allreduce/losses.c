/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a sum of fp32 takes over networks that lose packets, each way, repeat them, or change
 * their order alone, and how many times as long as over a good one. The same relay is in the way
 * of all. Prints a table; the exit status is 1 if any value is wrong or any call fails.
 *
 * losses [--values N] [--workers N] [--times T] [--shards S] [--deadline SECONDS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "arguments.h"
#include "clock.h"
#include "network.h"

struct bad_link {
	const char *name;
	double lost, repeated, delayed;
};

static const struct bad_link networks[] = {
	{"nothing", 0, 0, 0},
	{"order changed", 0, 0, 0.3},
	{"10 % repeated", 0, 0.1, 0},
	{"1 % lost", 0.01, 0, 0},
	{"5 % lost", 0.05, 0, 0},
	{"10 % lost", 0.1, 0, 0},
	{"20 % lost", 0.2, 0, 0},
	{"40 % lost", 0.4, 0, 0},
};

#define NETWORKS (sizeof(networks) / sizeof(networks[0]))

struct measurement {
	struct place place;
	uint32_t values;
	unsigned int workers, times, shards, deadline_s;
	double seconds; /* of worker 0, the mean */
	struct netfc_allreduce_stats stats;
};

static int
reduce(struct netfc_allreduce *comm, const struct measurement *measurement, float *values)
{
	int status;

	for (uint32_t i = 0; i < measurement->values; i++)
		values[i] = (float)(i % 1000);
	status = netfc_allreduce(
		comm, values, measurement->values, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM);
	for (uint32_t i = 0; i < measurement->values && status == NETFC_ALLREDUCE_OK; i++) {
		if (values[i] != (float)(i % 1000 * measurement->workers))
			return -1;
	}
	return status;
}

static int
work(unsigned int w, unsigned int n, void *context)
{
	struct measurement *measurement = context;
	struct netfc_allreduce_options options = worker_options(&measurement->place, w, n);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	float *values = malloc(measurement->values * sizeof(*values));
	uint64_t began;
	int status;

	options.join_ms = 60000;
	options.deadline_ms = measurement->deadline_s * 1000;
	options.rto_max_us = 1000000;
	status = values == NULL ? -1 : netfc_allreduce_join(comm, &options);
	began = clock_now();
	for (unsigned int t = 0; t < measurement->times && status == NETFC_ALLREDUCE_OK; t++)
		status = reduce(comm, measurement, values);
	if (w == 0) {
		measurement->seconds = (double)(clock_now() - began) / 1e9 / measurement->times;
		netfc_allreduce_stats(comm, &measurement->stats);
	}
	if (status != NETFC_ALLREDUCE_OK)
		fprintf(stderr, "worker %u: %s\n", w,
			status < 0 ? "wrong values" : netfc_allreduce_error(comm));
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	free(values);
	return status != NETFC_ALLREDUCE_OK;
}

static int
measure(struct measurement *measurement, const struct bad_link *link)
{
	const struct server_options options = {
		.shards = measurement->shards, .stall_ms = measurement->deadline_s * 1000};
	const struct relay_options bad = {.seed = 1,
		.delay_us = 1000,
		.lost = link->lost,
		.repeated = link->repeated,
		.delayed = link->delayed};
	struct network network = network_start(&options, &bad);
	int wrong;

	measurement->place = network.place;
	wrong = workers_run(measurement->workers, work, measurement);
	network_stop(&network);
	return wrong;
}

int
main(int argc, char **argv)
{
	struct measurement measurement = {
		.values = 1500000, .workers = 2, .times = 1, .shards = 1, .deadline_s = 300};
	const struct argument arguments[] = {
		{"deadline", .number = &measurement.deadline_s},
		{"shards", .number = &measurement.shards},
		{"times", .number = &measurement.times},
		{"values", .number = &measurement.values},
		{"workers", .number = &measurement.workers},
		{0},
	};
	double good = 0;
	int wrong = 0;

	if (!read_arguments(argc, argv, arguments) || measurement.workers == 0 ||
		measurement.workers > MAX_WORKERS || measurement.values == 0 ||
		measurement.times == 0)
		return 1;
	printf("%-16s %9s %9s %9s %9s %9s\n", "network", "seconds", "times", "sent", "again",
		"time-outs");
	for (unsigned int i = 0; i < NETWORKS; i++) {
		const struct netfc_allreduce_stats *stats = &measurement.stats;

		if (measure(&measurement, &networks[i]) != 0) {
			printf("%-16s %9s\n", networks[i].name, "failed");
			wrong = 1;
			continue;
		}
		if (i == 0)
			good = measurement.seconds;
		printf("%-16s %9.2f %9.1f %9llu %9llu %9llu\n", networks[i].name,
			measurement.seconds, good > 0 ? measurement.seconds / good : 0,
			(unsigned long long)stats->sent, (unsigned long long)stats->retransmitted,
			(unsigned long long)stats->timeouts);
		fflush(stdout);
	}
	return wrong;
}

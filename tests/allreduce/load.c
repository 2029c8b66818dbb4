/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers as threads that reduce vectors of int32 again and again: what a communicator can do, over
 *a server of its own on loopback or one that is given. Prints JSON.
 *
 * load --workers N --bytes B [--times T] [--switch ADDRESS] [--shards S] [--slots S] [--chunk B]
 *	[--spin-us U] [--no-gso] [--lost SHARE] [--worker W] [--interface NAME] [--from ADDRESS]
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "clock.h"
#include "network.h"

/* Of workers that run here. */
#define ALL UINT_MAX

struct load {
	struct place place;
	const char *address; /* or else of our own server */
	const char *interface, *from;
	unsigned int workers;
	unsigned int worker; /* the only one here; ALL: all are */
	unsigned int slots, chunk, spin_us, shards;
	bool gso;
	double lost;
	uint32_t bytes;
	unsigned int times;
	uint64_t *took; /* ns, of worker 0 */
	struct netfc_allreduce_stats stats;
	struct netfc_allreduce_info info;
};

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int
reduce(struct netfc_allreduce *comm, int32_t *values, uint32_t count, unsigned int workers,
	uint64_t *took)
{
	uint64_t began;
	int status;

	for (uint32_t i = 0; i < count; i++)
		values[i] = (int32_t)(i % 1000);
	began = clock_now();
	status = netfc_allreduce(comm, values, count, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	*took = clock_now() - began;
	for (uint32_t i = 0; i < count && status == NETFC_ALLREDUCE_OK; i++) {
		if (values[i] != (int32_t)(i % 1000 * workers))
			return -1;
	}
	return status;
}

static int
work(unsigned int w, unsigned int n, void *context)
{
	struct load *load = context;
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options;
	uint32_t count = load->bytes / sizeof(int32_t);
	int32_t *values = malloc(load->bytes);
	int status;

	if (load->worker != ALL) {
		w = load->worker;
		n = load->workers;
	}
	options = worker_options(&load->place, w, n);
	if (load->address != NULL) {
		options.switches = &load->address;
		options.switch_count = 1;
	}
	options.join_ms = options.deadline_ms = 60000;
	options.interface = load->interface;
	options.bind_address = load->from;
	options.slots = load->slots;
	options.bytes = load->chunk;
	options.spin_us = load->spin_us;
	options.gso = load->gso;
	status = values == NULL ? -1 : netfc_allreduce_join(comm, &options);
	for (unsigned int t = 0; t < load->times && status == NETFC_ALLREDUCE_OK; t++) {
		uint64_t took;

		status = reduce(comm, values, count, n, &took);
		if (w == 0 || load->worker != ALL)
			load->took[t] = took;
	}
	if (w == 0 || load->worker != ALL) {
		netfc_allreduce_stats(comm, &load->stats);
		netfc_allreduce_info(comm, &load->info);
	}
	if (status != NETFC_ALLREDUCE_OK)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	else
		netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	free(values);
	return status != NETFC_ALLREDUCE_OK;
}

static void
report(struct load *load)
{
	const struct netfc_allreduce_stats *stats = &load->stats;
	uint64_t total = 0;

	for (unsigned int t = 0; t < load->times; t++)
		total += load->took[t];
	qsort(load->took, load->times, sizeof(*load->took), compare);
	printf("{\"workers\": %u, \"bytes\": %u, \"times\": %u, \"median_us\": %.1f, "
	       "\"p99_us\": %.1f, \"mean_us\": %.1f, \"mbit_per_s\": %.0f, \"sent\": %llu, "
	       "\"retransmitted\": %llu, \"timeouts\": %llu, \"duplicates\": %llu, \"rtt_us\": "
	       "%.1f, \"rtt_min_us\": %.1f, \"rto_us\": %.1f, \"gso\": %s, \"gro\": %s, \"chunk\": %u}\n",
		load->workers, load->bytes, load->times, (double)load->took[load->times / 2] / 1e3,
		(double)load->took[load->times * 99 / 100] / 1e3, (double)total / load->times / 1e3,
		8e3 * load->bytes * load->times / (double)total, (unsigned long long)stats->sent,
		(unsigned long long)stats->retransmitted, (unsigned long long)stats->timeouts,
		(unsigned long long)stats->duplicates, (double)stats->rtt_ns / 1e3,
		(double)stats->rtt_min_ns / 1e3, (double)stats->rto_ns / 1e3,
		load->info.gso ? "true" : "false", load->info.gro ? "true" : "false",
		load->info.bytes);
}

int
main(int argc, char **argv)
{
	struct load load = {.workers = 2,
		.worker = ALL,
		.slots = 128,
		.spin_us = 50,
		.shards = 1,
		.gso = true,
		.bytes = 1024,
		.times = 100};
	const struct argument arguments[] = {
		{"bytes", .number = &load.bytes},
		{"chunk", .number = &load.chunk},
		{"from", .text = &load.from},
		{"interface", .text = &load.interface},
		{"lost", .share = &load.lost},
		{"no-gso", .off = &load.gso},
		{"shards", .number = &load.shards},
		{"slots", .number = &load.slots},
		{"spin-us", .number = &load.spin_us},
		{"switch", .text = &load.address},
		{"times", .number = &load.times},
		{"worker", .number = &load.worker},
		{"workers", .number = &load.workers},
		{0},
	};
	struct network network = {0};
	int wrong;

	if (!read_arguments(argc, argv, arguments) || load.workers == 0 ||
		load.workers > MAX_WORKERS || load.bytes < 4 || load.times == 0)
		return 1;
	load.took = calloc(load.times, sizeof(*load.took));
	if (load.address == NULL) {
		const struct relay_options bad = {.seed = 1, .lost = load.lost};
		const struct server_options options = {.shards = load.shards,
			.bytes = load.chunk > server_defaults.bytes ? load.chunk : 0};

		network = network_start(&options, load.lost > 0 ? &bad : NULL);
		load.place = network.place;
	}
	wrong = workers_run(load.worker != ALL ? 1 : load.workers, work, &load);
	if (wrong == 0)
		report(&load);
	if (load.address == NULL)
		network_stop(&network);
	free(load.took);
	return wrong != 0;
}

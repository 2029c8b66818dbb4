/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that are joined and left, by the same numbers and with the same token, at switches of one to
 * four shards behind networks that lose, repeat and delay, as long as is asked for. Says every
 * minute what there was; the exit status is 1 if any value was wrong or any call failed.
 *
 * soak [--seconds S] [--jobs N] [--workers N] [--lost SHARE] [--repeated SHARE]
 *	[--delayed SHARE] [--delay-ms D] [--slow-us U]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "arguments.h"
#include "clock.h"
#include "incarnations.h"
#include "network.h"

#define PLACES 4
#define MINUTE (60 * NS_PER_S)

struct soak {
	struct incarnations incarnations;
	struct relay_options bad;
	unsigned int slow_us;
	struct place places[PLACES];
	struct network networks[PLACES];
	atomic_bool over;
};

static void
start_place(struct soak *soak, unsigned int i)
{
	const struct server_options options = {
		.shards = i + 1, .idle_ms = 5000, .slow_us = soak->slow_us};

	soak->bad.seed = i + 1;
	soak->networks[i] = network_start(&options, &soak->bad);
	soak->places[i] = soak->networks[i].place;
}

static void
report(const struct soak *soak, double seconds)
{
	const struct tally *tally = &soak->incarnations.tally;

	printf("%.0f s: %llu wrong values, %llu false errors, %llu joins, %llu allreduces\n",
		seconds, (unsigned long long)tally->wrong, (unsigned long long)tally->errors,
		(unsigned long long)tally->joins, (unsigned long long)tally->allreduces);
	fflush(stdout);
}

/* Says each minute how it goes. */
static void *
watch(void *argument)
{
	struct soak *soak = argument;
	uint64_t began = clock_now(), next = began + MINUTE;

	while (!atomic_load(&soak->over)) {
		usleep(100000);
		if (clock_now() < next)
			continue;
		report(soak, (double)(next - began) / 1e9);
		next += MINUTE;
	}
	return NULL;
}

static bool
run(struct soak *soak, unsigned int seconds)
{
	uint64_t began = clock_now();
	pthread_t watcher;

	if (pthread_create(&watcher, NULL, watch, soak) != 0)
		return false;
	soak->incarnations.until = began + seconds * NS_PER_S;
	incarnations_run(&soak->incarnations);
	atomic_store(&soak->over, true);
	pthread_join(watcher, NULL);
	report(soak, (double)(clock_now() - began) / 1e9);
	return soak->incarnations.tally.wrong == 0 && soak->incarnations.tally.errors == 0;
}

/* Relays have a socket for each one of a worker. */
static void
allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int
main(int argc, char **argv)
{
	struct soak soak = {
		.incarnations = {.place_count = PLACES,
			.jobs = 3,
			.workers = 2,
			.rounds = 3,
			.count = 2000,
			.varies = true,
			.times = UINT32_MAX,
			.rto_max_us = 50000,
			.settle_ms = 6000},
		.bad = {.lost = 0.02, .repeated = 0.1, .delayed = 0.05},
	};
	struct incarnations *jobs = &soak.incarnations;
	unsigned int seconds = 60, delay_ms = 2000;
	const struct argument arguments[] = {
		{"delay-ms", .number = &delay_ms},
		{"delayed", .share = &soak.bad.delayed},
		{"jobs", .number = &jobs->jobs},
		{"lost", .share = &soak.bad.lost},
		{"repeated", .share = &soak.bad.repeated},
		{"seconds", .number = &seconds},
		{"slow-us", .number = &soak.slow_us},
		{"workers", .number = &jobs->workers},
		{0},
	};
	bool good;

	if (!read_arguments(argc, argv, arguments) || jobs->jobs == 0 || jobs->jobs > MAX_JOBS ||
		jobs->workers == 0 || jobs->workers > MAX_WORKERS)
		return 1;
	soak.bad.delay_us = delay_ms * 1000;
	allow_many_files();
	for (unsigned int i = 0; i < PLACES; i++)
		start_place(&soak, i);
	soak.incarnations.places = soak.places;
	good = run(&soak, seconds);
	for (unsigned int i = 0; i < PLACES; i++)
		network_stop(&soak.networks[i]);
	return !good;
}

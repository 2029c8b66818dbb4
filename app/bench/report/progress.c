/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "report/progress.h"

#define NS_PER_SECOND 1000000000L

static void
add_seconds(struct timespec *time, double seconds)
{
	double whole = floor(seconds);

	time->tv_sec += (time_t)whole;
	time->tv_nsec += (long)((seconds - whole) * (double)NS_PER_SECOND);
	if (time->tv_nsec >= NS_PER_SECOND) {
		time->tv_nsec -= NS_PER_SECOND;
		time->tv_sec++;
	}
}

static void
print_line(const struct bench *bench, double seconds, uint64_t replies, double interval)
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
progress_main(void *arg)
{
	struct progress *progress = arg;
	const struct run_counters *counters = &progress->bench->run.counters;
	double interval = progress->bench->options.progress, seconds = 0;
	uint64_t before = 0;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while (true) {
		uint64_t answered;
		int error;

		add_seconds(&next, interval);
		do
			error = sem_clockwait(&progress->stop, CLOCK_MONOTONIC, &next);
		while (error != 0 && errno == EINTR);
		if (error == 0)
			return;
		seconds += interval;
		answered = counters->answered;
		print_line(progress->bench, seconds, answered - before, interval);
		before = answered;
	}
}

int
progress_start(struct progress *progress, const struct bench *bench)
{
	*progress = (struct progress){.bench = bench, .work = {progress_main, progress}};
	if (bench->options.progress == 0)
		return 0;
	sem_init(&progress->stop, 0, 0);
	if (side_thread_start(&progress->thread, "netfc-progress", &progress->work) != 0) {
		sem_destroy(&progress->stop);
		return -1;
	}
	progress->running = true;
	return 0;
}

void
progress_stop(struct progress *progress)
{
	if (!progress->running)
		return;
	sem_post(&progress->stop);
	side_thread_join(progress->thread);
	sem_destroy(&progress->stop);
	progress->running = false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "aggregate/team.h"
#include "report/report.h"

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
	const struct team_counters *team = progress->team;
	const uint64_t *count = team != NULL ? &team->values : &counters->answered;
	double interval = progress->bench->options.progress, seconds = 0;
	uint64_t before = 0;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while (true) {
		uint64_t now;
		int error;

		add_seconds(&next, interval);
		do
			error = sem_clockwait(&progress->stop, CLOCK_MONOTONIC, &next);
		while (error != 0 && errno == EINTR);
		if (error == 0)
			return;
		seconds += interval;
		now = *count;
		if (team != NULL)
			print_team_line(team, seconds, now - before, interval);
		else
			print_line(progress->bench, seconds, now - before, interval);
		before = now;
	}
}

int
progress_start(
	struct progress *progress, const struct bench *bench, const struct team_counters *counters)
{
	*progress = (struct progress){
		.bench = bench, .team = counters, .work = {progress_main, progress}};
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "observe/periodic.h"
#include "side_thread.h"
#include "observe/totals.h"

struct periodic {
	struct app *app;
	uint32_t interval_s;
	struct side_work work;
	side_thread thread;
	pthread_mutex_t lock;
	pthread_cond_t stopped;
	bool stop; /* guarded by lock */
};

static uint64_t
dropped(const struct totals *totals)
{
	uint64_t sum = 0;

	for (unsigned int d = 0; d < DROP_REASON_COUNT; d++)
		sum += totals->packets.drops[d];
	return sum;
}

static void
print_line(
	const struct totals *before, const struct totals *after, uint64_t at_s, uint32_t interval_s)
{
	const struct packet_counters *packets = &after->packets, *earlier = &before->packets;
	uint64_t cycles = packets->cycles - earlier->cycles;
	uint64_t busy = packets->busy_cycles - earlier->busy_cycles;

	printf("after %" PRIu64 " s: %" PRIu64 " packets/s in, %" PRIu64 " out, %" PRIu64
	       " dropped, %" PRIu64 " requests/s, %" PRIu64 " lanes/s, load %" PRIu64 "%%\n",
		at_s, (packets->rx_packets - earlier->rx_packets) / interval_s,
		(packets->tx_packets - earlier->tx_packets) / interval_s,
		dropped(after) - dropped(before),
		(after->pipeline.netfc_packets - before->pipeline.netfc_packets) / interval_s,
		(after->pipeline.lanes - before->pipeline.lanes) / interval_s,
		cycles != 0 ? (busy * 100 + cycles / 2) / cycles : 0);
	fflush(stdout);
}

static void
sum(struct app *app, struct totals *totals)
{
	pthread_mutex_lock(&app->state_lock);
	totals_of_all(app, totals);
	pthread_mutex_unlock(&app->state_lock);
}

/* Wait for the next line, on a clock that nobody sets; false: stop. */
static bool
wait_until(struct periodic *periodic, const struct timespec *when)
{
	int error = 0;
	bool stop;

	pthread_mutex_lock(&periodic->lock);
	while (!periodic->stop && error != ETIMEDOUT)
		error = pthread_cond_timedwait(&periodic->stopped, &periodic->lock, when);
	stop = periodic->stop;
	pthread_mutex_unlock(&periodic->lock);
	return !stop;
}

static void
run(void *arg)
{
	struct periodic *periodic = arg;
	struct totals before, after;
	struct timespec next;
	uint64_t at_s = 0;

	clock_gettime(CLOCK_MONOTONIC, &next);
	next.tv_sec += periodic->interval_s;
	for (sum(periodic->app, &before); wait_until(periodic, &next); before = after) {
		at_s += periodic->interval_s;
		next.tv_sec += periodic->interval_s;
		sum(periodic->app, &after);
		print_line(&before, &after, at_s, periodic->interval_s);
	}
}

static void
free_periodic(struct periodic *periodic)
{
	pthread_cond_destroy(&periodic->stopped);
	pthread_mutex_destroy(&periodic->lock);
	free(periodic);
}

int
periodic_start(struct app *app, uint32_t interval_s, struct periodic **result)
{
	struct periodic *periodic = calloc(1, sizeof(*periodic));
	pthread_condattr_t attributes;

	if (periodic == NULL) {
		fprintf(stderr, PROGRAM ": no memory for periodic statistics\n");
		return -1;
	}
	periodic->app = app;
	periodic->interval_s = interval_s;
	periodic->work = (struct side_work){run, periodic};
	pthread_mutex_init(&periodic->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&periodic->stopped, &attributes);
	pthread_condattr_destroy(&attributes);
	if (side_thread_start(&periodic->thread, "netfc-stats", &periodic->work) != 0) {
		free_periodic(periodic);
		return -1;
	}
	*result = periodic;
	return 0;
}

void
periodic_stop(struct periodic *periodic)
{
	if (periodic == NULL)
		return;
	pthread_mutex_lock(&periodic->lock);
	periodic->stop = true;
	pthread_cond_signal(&periodic->stopped);
	pthread_mutex_unlock(&periodic->lock);
	side_thread_join(periodic->thread);
	free_periodic(periodic);
}

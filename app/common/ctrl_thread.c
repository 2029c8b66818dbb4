/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_errno.h>

#include "ctrl_thread.h"

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
static uint32_t
run(void *arg)
{
	const struct ctrl_work *work = arg;

	work->run(work->arg);
	return 0;
}

static int
create(ctrl_thread *thread, const char *name, void *work)
{
	return rte_thread_create_control(thread, name, run, work);
}

void
ctrl_thread_join(ctrl_thread thread)
{
	rte_thread_join(thread, NULL);
}
#else
static void *
run(void *arg)
{
	const struct ctrl_work *work = arg;

	work->run(work->arg);
	return NULL;
}

static int
create(ctrl_thread *thread, const char *name, void *work)
{
	return rte_ctrl_thread_create(thread, name, NULL, run, work);
}

void
ctrl_thread_join(ctrl_thread thread)
{
	pthread_join(thread, NULL);
}
#endif

int
ctrl_thread_start(ctrl_thread *thread, const char *name, const struct ctrl_work *work)
{
	int error = create(thread, name, (void *)(uintptr_t)work);

	if (error == 0)
		return 0;
	fprintf(stderr, "%s: cannot start the thread %s: %s\n", program_invocation_short_name, name,
		rte_strerror(abs(error)));
	return -1;
}

static void
add_ns(struct timespec *time, uint64_t ns)
{
	ns += (uint64_t)time->tv_nsec;
	time->tv_sec += (time_t)(ns / NS_PER_S);
	time->tv_nsec = (long)(ns % NS_PER_S);
}

/* Nanoseconds that have passed since that time, which may be one to come. */
static int64_t
ns_since(const struct timespec *time)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - time->tv_sec) * (int64_t)NS_PER_S + now.tv_nsec - time->tv_nsec;
}

/* To the next end of an interval that is yet to come: while the process was stopped, for example,
 * others have passed. */
static void
move_on(struct timespec *next, uint64_t interval_ns)
{
	uint64_t late = (uint64_t)RTE_MAX(ns_since(next), 0);

	add_ns(next, (late / interval_ns + 1) * interval_ns);
}

static void
run_ticker(void *arg)
{
	struct ticker *ticker = arg;
	struct timespec next = ticker->started;
	int error;

	for (;;) {
		move_on(&next, ticker->interval_ns);
		do
			error = sem_clockwait(&ticker->stop, CLOCK_MONOTONIC, &next);
		while (error != 0 && errno == EINTR);
		if (error == 0)
			return;
		ticker->tick(ticker->arg);
	}
}

int
ticker_start(struct ticker *ticker, const char *name, uint64_t interval_ns, void (*tick)(void *arg),
	void *arg)
{
	*ticker = (struct ticker){
		.tick = tick, .arg = arg, .interval_ns = interval_ns, .work = {run_ticker, ticker}};
	clock_gettime(CLOCK_MONOTONIC, &ticker->started);
	sem_init(&ticker->stop, 0, 0);
	ticker->running = ctrl_thread_start(&ticker->thread, name, &ticker->work) == 0;
	if (ticker->running)
		return 0;
	sem_destroy(&ticker->stop);
	return -1;
}

double
ticker_seconds(const struct ticker *ticker)
{
	return (double)ns_since(&ticker->started) / (double)NS_PER_S;
}

void
ticker_stop(struct ticker *ticker)
{
	if (!ticker->running)
		return;
	sem_post(&ticker->stop);
	ctrl_thread_join(ticker->thread);
	sem_destroy(&ticker->stop);
	ticker->running = false;
}

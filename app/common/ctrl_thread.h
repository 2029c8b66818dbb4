/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CTRL_THREAD_H
#define CTRL_THREAD_H

/** @file Threads beside the lcores, on the CPUs that the EAL reserves for control threads. */

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <rte_lcore.h>
#include <rte_version.h>

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
typedef rte_thread_t ctrl_thread;
#else
typedef pthread_t ctrl_thread;
#endif

/** What a thread runs; it is in memory until ctrl_thread_join() has returned. */
struct ctrl_work {
	void (*run)(void *arg);
	void *arg;
};

/**
 * Start a thread.
 *
 * @param name up to 15 characters
 * @return 0, or -1 (reported on stderr)
 */
int ctrl_thread_start(ctrl_thread *thread, const char *name, const struct ctrl_work *work);

/** Wait for its end. */
void ctrl_thread_join(ctrl_thread thread);

/** A thread that calls a function at regular intervals. Initially zero. */
struct ticker {
	void (*tick)(void *arg);
	void *arg;
	uint64_t interval_ns;
	struct timespec started;
	bool running;
	sem_t stop;
	struct ctrl_work work;
	ctrl_thread thread;
};

/**
 * Start a thread that calls tick(arg) at the end of each interval, by the monotonic clock. Where it
 * cannot keep up, calls are left out.
 *
 * @param name up to 15 characters
 * @return 0, or -1 (reported on stderr)
 */
int ticker_start(struct ticker *ticker, const char *name, uint64_t interval_ns,
	void (*tick)(void *arg), void *arg);

/** Seconds since it was started, by that clock. */
double ticker_seconds(const struct ticker *ticker);

/** Stop it, if it was started: when this returns, no call is under way. */
void ticker_stop(struct ticker *ticker);

#endif /* CTRL_THREAD_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RUN_H
#define RUN_H

/**
 * @file
 * A run with requests: the ports, what is sent and received, and the switch in this process.
 */

#include <sched.h>

#include <jansson.h>

#include <rte_lcore.h>
#include <rte_pause.h>

#include "bench.h"

/* Ports: found, configured, started, stopped. Errors are reported on stderr. */

/** Find the ports to send from and receive at, and what depends on them. 0 or -1. */
int bench_ports_find(struct bench *bench);

/** Make the packet buffers. 0 or -1. */
int bench_ports_create_pool(struct bench *bench);

/** Start all ports, and wait for their links. 0 or -1. */
int bench_ports_start(struct bench *bench);

/** Stop and close all ports. */
void bench_ports_stop(struct bench *bench);

/* The run: send and receive until enough was sent and all of it is answered or lost. */

/** Prepare a run. 0, or -1 (reported on stderr) if memory is short. */
int run_loop_prepare(struct bench *bench);

/** Run on the calling lcore. Why it ended is in bench->run.end. */
void run_loop(struct bench *bench);

/** Free what run_loop_prepare() made. */
void run_loop_free(struct bench *bench);

/** Whether every packet sent and received is accounted for; what is not is reported on stderr. */
bool run_loop_adds_up(const struct bench *bench);

/* What an lcore does when it has nothing to do. */

/** Whether an lcore may share its CPUs: with another lcore, or because it may use several. */
static inline bool
idle_should_yield(unsigned int lcore_id)
{
	rte_cpuset_t cpus = rte_lcore_cpuset(lcore_id);
	unsigned int other;

	if (CPU_COUNT(&cpus) != 1)
		return true;
	RTE_LCORE_FOREACH (other) {
		rte_cpuset_t common = rte_lcore_cpuset(other);

		CPU_AND(&common, &common, &cpus);
		if (other != lcore_id && CPU_COUNT(&common) != 0)
			return true;
	}
	return false;
}

/** Wait a moment. On shared CPUs, let others run. */
static inline void
idle(bool yield)
{
	if (yield)
		sched_yield();
	else
		rte_pause();
}

/* The switch in this process, for --inline: dpdk-netfc on lcores of its own. */

/** Make the switch, its rings and ports. 0, or -1 (reported on stderr). */
int inline_switch_create(struct bench *bench);

/** What it has done, as text. */
void inline_switch_print(FILE *out, const struct bench *bench);

/**
 * What it has done.
 *
 * @param values that were added up for the results that it has sent
 * @return an object; null without --inline
 */
json_t *inline_switch_json(const struct bench *bench, uint64_t values);

#endif /* RUN_H */

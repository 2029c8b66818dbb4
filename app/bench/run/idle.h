/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IDLE_H
#define IDLE_H

/** @file What an lcore does when it has nothing to do. */

#include <sched.h>

#include <rte_lcore.h>
#include <rte_pause.h>

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

#endif /* IDLE_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IDLE_H
#define IDLE_H

/** @file What an lcore does that found nothing to do. */

#include <sched.h>

#include <rte_lcore.h>
#include <rte_pause.h>

/** Whether an lcore shares its CPUs: one of its own is given exactly one. */
static inline bool
idle_should_yield(unsigned int lcore_id)
{
	rte_cpuset_t cpus = rte_lcore_cpuset(lcore_id);

	return CPU_COUNT(&cpus) != 1;
}

/** Wait a moment. On shared CPUs whoever has work to do gets them; others are not asked. */
static inline void
idle(bool yield)
{
	if (yield)
		sched_yield();
	else
		rte_pause();
}

#endif /* IDLE_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#include "service/service.h"

/*
 * Each round over its queues adds to an lcore's cycles, with packets or without. The lcore writes
 * them at any time: a value that is read in the middle differs from the last one, too.
 */
static uint64_t
cycles_of(const struct app *app, unsigned int lcore_id)
{
	return __atomic_load_n(&app->lcore[lcore_id].counters.cycles, __ATOMIC_RELAXED);
}

unsigned int
heartbeat_missing(struct heartbeat *heartbeat, const struct app *app)
{
	for (unsigned int l = 0; l < RTE_MAX_LCORE; l++) {
		if (lcore_in_use(app, l) && cycles_of(app, l) == heartbeat->cycles[l])
			return l;
	}
	for (unsigned int l = 0; l < RTE_MAX_LCORE; l++)
		heartbeat->cycles[l] = cycles_of(app, l);
	return RTE_MAX_LCORE;
}

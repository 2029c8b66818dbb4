/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_log.h>

#include "aggregate/aggregation.h"
#include "aggregate/uplink.h"
#include "program.h"
#include "side_thread.h"

#define LOOK_US 50000

RTE_LOG_REGISTER(uplink_logtype, netfc.aggregate, NOTICE)

struct uplink_log {
	const struct app *app;
	enum uplink_state told;
	bool stop;
	struct side_work work;
	side_thread thread;
};

static void
look(struct uplink_log *log)
{
	const struct uplink *uplink = log->app->aggregation->uplink;
	enum uplink_state state = uplink_state(log->app);
	char text[64];

	if (state == log->told)
		return;
	log->told = state;
	address_print(&uplink->parent, text, sizeof(text));
	rte_log(RTE_LOG_NOTICE, uplink_logtype, "Aggregation: the parent %s is %s: %s\n", text,
		uplink_state_name(state), uplink_state_meaning(state));
}

static void
run(void *arg)
{
	struct uplink_log *log = arg;

	while (!__atomic_load_n(&log->stop, __ATOMIC_RELAXED)) {
		look(log);
		rte_delay_us_sleep(LOOK_US);
	}
}

int
uplink_log_start(struct app *app, struct uplink_log **result)
{
	struct uplink_log *log;

	if (app->aggregation == NULL || app->aggregation->uplink == NULL)
		return 0;
	log = calloc(1, sizeof(*log));
	if (log != NULL) {
		log->app = app;
		log->told = UPLINK_LOOKING;
		log->work = (struct side_work){run, log};
		if (side_thread_start(&log->thread, "netfc-parent", &log->work) == 0) {
			*result = log;
			return 0;
		}
	}
	free(log);
	fprintf(stderr, PROGRAM ": cannot start the thread that logs the parent's state\n");
	return -1;
}

void
uplink_log_stop(struct uplink_log *log)
{
	if (log == NULL)
		return;
	__atomic_store_n(&log->stop, true, __ATOMIC_RELAXED);
	side_thread_join(log->thread);
	free(log);
}

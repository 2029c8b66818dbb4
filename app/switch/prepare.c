/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "aggregate/aggregation.h"
#include "observe/state.h"
#include "setup.h"
#include "slowloris/defend.h"
#include "tables/tables.h"

static const struct functions no_functions;

int
prepare_load(struct app *app)
{
	if (sets_load(&app->options, &app->sets, stderr) != 0)
		return -1;
	if (app->options.functions == NULL)
		return 0;
	return functions_load(
		app->options.functions, &app->sets, &no_functions, &app->functions, stderr);
}

void
prepare_unload(struct app *app)
{
	functions_free(&app->functions, &no_functions);
	sets_free(&app->sets);
}

static int
out_of_memory(const char *what)
{
	return REPORT("no memory for %s; give the EAL more (-m MB)\n", what);
}

static int
create_tx_buffers(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		struct lcore *lcore = &app->lcore[lcore_id];

		if (!lcore_works(lcore))
			continue;
		lcore->tx_buffer = rte_calloc_socket("tx buffers", app->port_count,
			sizeof(*lcore->tx_buffer), 0, (int)rte_lcore_to_socket_id(lcore_id));
		if (lcore->tx_buffer == NULL)
			return out_of_memory("tx buffers");
	}
	return latency_create(app) == 0 ? 0 : out_of_memory("latency histograms");
}

static int
create_fdb(struct app *app)
{
	size_t size = rte_rcu_qsbr_get_memsize(RTE_MAX_LCORE);

	app->qsbr = rte_zmalloc_socket("qsbr", size, RTE_CACHE_LINE_SIZE, (int)rte_socket_id());
	if (app->qsbr == NULL || rte_rcu_qsbr_init(app->qsbr, RTE_MAX_LCORE) != 0)
		return out_of_memory("quiescent states");
	if (app->options.forward != FORWARD_BRIDGE)
		return 0;
	app->fdb = fdb_create(app->options.stations, app->options.ageing_s, app->qsbr);
	return app->fdb != NULL ? 0 : out_of_memory("the bridge's stations");
}

/* Check the whole configuration. */
int
prepare(struct app *app)
{
	if (ports_find(app) != 0 || queues_assign(app) != 0 || steer_check(app) != 0)
		return -1;
	if (pools_create(app) != 0 || tables_start(app) != 0)
		return -1;
	if (create_fdb(app) != 0 || defend_create(app) != 0 || aggregation_create(app) != 0)
		return -1;
	return create_tx_buffers(app);
}

void
prepare_free(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id)
		rte_free(app->lcore[lcore_id].tx_buffer);
	latency_free(app);
	fdb_free(app->fdb);
	defend_free(app);
	aggregation_free(app);
	rte_free(app->qsbr);
	tables_free(app);
	pools_free(app);
}

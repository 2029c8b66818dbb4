/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "aggregate/aggregation.h"
#include "app.h"
#include "capture/capture.h"
#include "control/control.h"
#include "slowloris/defend.h"
#include "dpdk/eal.h"
#include "json/json_file.h"
#include "observe/totals.h"
#include "observe/report.h"
#include "queues.h"
#include "poll_loop.h"
#include "ports.h"
#include "run.h"
#include "observe/state.h"
#include "tables/tables.h"
#include "observe/telemetry.h"

/* The application; global because a signal handler takes no argument. */
static struct app app = {.state_lock = PTHREAD_MUTEX_INITIALIZER};

static const struct functions no_functions;

static void
handle_signal(int signal)
{
	(void)signal;
	app_quit(&app);
}

static int
out_of_memory(const char *what)
{
	fprintf(stderr, PROGRAM ": no memory for %s; give the EAL more (-m MB)\n", what);
	return -1;
}

static int
create_tx_buffers(void)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		struct lcore *lcore = &app.lcore[lcore_id];

		if (!lcore_works(lcore))
			continue;
		lcore->tx_buffer =
			rte_calloc("tx buffers", app.port_count, sizeof(*lcore->tx_buffer), 0);
		if (lcore->tx_buffer == NULL)
			return out_of_memory("tx buffers");
	}
	return latency_create(&app) == 0 ? 0 : out_of_memory("latency histograms");
}

static int
create_fdb(void)
{
	size_t size = rte_rcu_qsbr_get_memsize(RTE_MAX_LCORE);

	app.qsbr = rte_zmalloc("qsbr", size, RTE_CACHE_LINE_SIZE);
	if (app.qsbr == NULL || rte_rcu_qsbr_init(app.qsbr, RTE_MAX_LCORE) != 0)
		return out_of_memory("quiescent states");
	if (app.options.forward != FORWARD_BRIDGE)
		return 0;
	app.fdb = fdb_create(app.options.stations, app.options.ageing_s, app.qsbr);
	return app.fdb != NULL ? 0 : out_of_memory("the bridge's stations");
}

/* Check the whole configuration before any port starts. */
static int
prepare(void)
{
	if (ports_find(&app) != 0 || queues_assign(&app) != 0)
		return -1;
	if (ports_create_pool(&app, rte_lcore_count()) != 0 || tables_start(&app) != 0)
		return -1;
	if (create_fdb() != 0 || defend_create(&app) != 0 || aggregation_create(&app) != 0)
		return -1;
	if (create_tx_buffers() != 0)
		return -1;
	return telemetry_register(&app);
}

static void
free_all(void)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id)
		rte_free(app.lcore[lcore_id].tx_buffer);
	latency_free(&app);
	fdb_free(app.fdb);
	defend_free(&app);
	aggregation_free(&app);
	rte_free(app.qsbr);
	tables_free(&app);
	rte_mempool_free(app.pool);
}

/* Start threads beside the lcores; stop_side_threads() ends those that were started. */
static int
start_side_threads(struct control *control, struct periodic **periodic)
{
	uint32_t interval_s = app.options.stats_interval_s;

	if (defend_start(&app) != 0)
		return -1;
	if (interval_s != 0 && periodic_start(&app, interval_s, periodic) != 0)
		return -1;
	return control != NULL ? control_start(control) : 0;
}

static void
stop_side_threads(struct control **control, struct periodic *periodic)
{
	control_close(*control);
	*control = NULL;
	capture_free(&app);
	defend_stop(&app);
	periodic_stop(periodic);
}

static enum exit_status
run_started(struct json_file **stats, struct control **control)
{
	struct totals totals;
	enum exit_status status = EXIT_DONE;
	struct periodic *periodic = NULL;

	report_configuration(&app);
	if (ports_start(&app) != 0 || start_side_threads(*control, &periodic) != 0) {
		stop_side_threads(control, periodic);
		ports_stop(&app);
		return EXIT_RUNNING;
	}
	/* A driver that a signal interrupts while it writes to a file would lose packets. */
	signals_catch(handle_signal, SA_RESTART);
	telemetry_open(&app);
	unmap_guard(app.qsbr);
	report_ready(&app);
	poll_run(&app);
	unmap_guard(NULL);
	telemetry_close(&app);
	stop_side_threads(control, periodic);
	totals_of_all(&app, &totals);
	ports_stop(&app);
	report_totals(&app, &totals);
	if (!totals_add_up(&totals) || app.mbufs_leaked != 0) {
		fprintf(stderr, PROGRAM ": packets or packet buffers are unaccounted for\n");
		status = EXIT_RUNNING;
	}
	if (*stats != NULL) {
		json_t *object = state_stats(&app, &totals);

		if (json_file_write(*stats, object) != 0)
			status = EXIT_RUNNING;
		*stats = NULL;
		json_decref(object);
	}
	return status;
}

static int
load_functions(void)
{
	if (app.options.functions == NULL)
		return 0;
	return functions_load(
		app.options.functions, &app.sets, &no_functions, &app.functions, stderr);
}

enum exit_status
switch_run(int argc, char **argv)
{
	enum exit_status status = EXIT_CONFIGURATION;
	struct json_file *stats = NULL;
	struct control *control = NULL;
	enum options_result parsed;
	int eal_argc;

	parsed = options_parse(argc, argv, &app.options, &eal_argc);
	if (parsed != OPTIONS_RUN)
		return options_exit_status(parsed);
	/* During the start, a signal interrupts waiting, such as for a peer. */
	signals_catch(handle_signal, 0);
	if (sets_load(&app.options, &app.sets, stderr) != 0 || load_functions() != 0)
		goto free_sets;
	if (app.options.stats_json != NULL &&
		json_file_open(PROGRAM ": --stats-json", app.options.stats_json, &stats) != 0)
		goto free_sets;
	if (app.options.control != NULL && control_open(&app, app.options.control, &control) != 0)
		goto abandon_stats;
	if (eal_start(PROGRAM, eal_argc, argv) != 0)
		goto close_control;
	if (prepare() == 0)
		status = run_started(&stats, &control);
	else
		ports_stop(&app);
	free_all();
	rte_eal_cleanup();
close_control:
	control_close(control);
abandon_stats:
	json_file_abandon(stats);
free_sets:
	functions_free(&app.functions, &no_functions);
	sets_free(&app.sets);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/team.h"
#include "bench.h"
#include "run/run.h"
#include "dpdk/eal.h"
#include "json.h"
#include "output.h"
#include "set_option.h"
#include "report/report.h"

/* The one application context; a signal handler has no other way to it. */
static struct bench bench;

/* The workers of an aggregation, with --aggregate. */
static struct team team;

static void
handle_signal(int signal)
{
	(void)signal;
	__atomic_store_n(&bench.quit, true, __ATOMIC_RELAXED);
}

/* Of --op, if it is a function. */
static int
build_function(void)
{
	const struct netfc_function *function = netfc_function_by_number(bench.options.op);
	const struct netfc_format *format = netfc_set_format(bench.set);
	int error = NETFC_ERR_NOMEM;

	if (function == NULL)
		return 0;
	bench.function = calloc(1, sizeof(*bench.function));
	if (bench.function != NULL) {
		error = NETFC_OK;
		if (netfc_function_slot_bits(function, format) > 16)
			bench.function->wide = function;
		else
			error = netfc_function_table(
				function, format, bench.function->z, bench.function->flags);
	}
	if (error != NETFC_OK)
		fprintf(stderr, PROGRAM ": %s: %s\n", netfc_function_name(function),
			netfc_strerror(error));
	return error == NETFC_OK ? 0 : -1;
}

/* The table set, and what is computed with it. */
static int
get_operands(void)
{
	if (option_build_set(stderr, bench.options.set, &bench.set) != 0 || build_function() != 0)
		return -1;
	return workload_get_operands(&bench.options, bench.set, &bench.operands);
}

/* Everything that can be wrong with the configuration, before any port starts. */
static int
prepare(void)
{
	if (bench.options.switch_lcores != 0 && inline_switch_create(&bench) != 0)
		return -1;
	if (bench_ports_find(&bench) != 0 || bench_ports_create_pool(&bench) != 0)
		return -1;
	if (bench.options.aggregate.on)
		return team_create(&bench, &team);
	if (workload_create(&bench.options, bench.set, bench.function, &bench.operands,
		    &bench.workload) != 0)
		return -1;
	return run_loop_prepare(&bench);
}

static void
free_all(void)
{
	team_free(&team);
	embedded_free(bench.embedded);
	run_loop_free(&bench);
	workload_free(&bench.workload);
	rte_mempool_free(bench.pool);
}

/* Whether the run was what it should be. */
static bool
went_well(void)
{
	const struct run_counters *counters = &bench.run.counters;
	bool silence = counters->sent != 0 && counters->answered + counters->late == 0;

	if (bench.run.end == END_STUCK)
		fprintf(stderr,
			PROGRAM ": port %u takes no more packets; did the other side end?\n",
			bench.tx_port);
	if (silence)
		fprintf(stderr,
			PROGRAM ": not one reply in %u ms; is the switch running, and does it send "
				"replies to port %u?\n",
			bench.options.timeout_ms, bench.rx_port);
	if (!run_loop_adds_up(&bench) || bench.run.end == END_STUCK || counters->wrong != 0 ||
		silence)
		return false;
	return !bench.options.strict ||
		counters->lost + counters->duplicates + counters->reordered == 0;
}

static void
load(void)
{
	if (bench.options.aggregate.on)
		team_run(&team);
	else
		run_loop(&bench);
}

/* Sending and receiving, with everything that runs along with it. */
static int
measure(void)
{
	struct progress progress;
	int result = 0;

	if (bench.embedded != NULL && embedded_start(bench.embedded) != 0)
		return -1;
	if (bench_ports_start(&bench) != 0 ||
		progress_start(
			&progress, &bench, bench.options.aggregate.on ? &team.counters : NULL) != 0)
		return -1;
	if (bench.embedded != NULL)
		result = embedded_run(bench.embedded, load);
	else
		load();
	progress_stop(&progress);
	return result;
}

static void
stop(void)
{
	struct embedded_totals totals = {.mbufs_leaked = 0};

	embedded_stop(bench.embedded);
	bench_ports_stop(&bench);
	if (bench.embedded != NULL)
		embedded_totals(bench.embedded, &totals);
	if (bench.pool != NULL)
		bench.buffers_lost = rte_mempool_in_use_count(bench.pool) + totals.mbufs_leaked;
}

/* The results: told to people, and to programs. */
static enum exit_status
report(FILE *out, struct json_file **file)
{
	const bool aggregate = bench.options.aggregate.on;
	json_t *results = aggregate ? team_json(&team) : report_json(&bench);
	enum exit_status status;

	if (aggregate)
		team_report(out, &team, results);
	else
		report_results(out, &bench, results);
	inline_switch_print(out, &bench);
	status = (aggregate ? team_went_well(&team) : went_well()) ? EXIT_DONE : EXIT_RUNNING;
	json_object_set_new(results, "exit_status", json_integer((int)status));
	if (*file != NULL && json_file_write(file, json_incref(results)) != 0)
		status = EXIT_RUNNING;
	json_decref(results);
	return status;
}

static enum exit_status
run(FILE *out, struct json_file **file)
{
	int measured;

	if (bench.options.aggregate.on)
		team_report_configuration(out, &team);
	else
		bench_report_configuration(out, &bench);
	measured = measure();
	stop();
	if (measured != 0 || accuracy_find(&bench.workload, &bench.accuracies) != 0)
		return EXIT_RUNNING;
	return report(out, file);
}

/* Where the human-readable report goes: not into the stream that a program reads. */
static FILE *
report_stream(void)
{
	const char *json = bench.options.json;

	return json != NULL && strcmp(json, "-") == 0 ? stderr : stdout;
}

/* Send and receive. */
static enum exit_status
run_load(struct json_file **json)
{
	enum exit_status status = EXIT_CONFIGURATION;

	if (prepare() == 0)
		status = run(report_stream(), json);
	else
		stop();
	free_all();
	return status;
}

/* Whatever can be found wrong before the EAL starts. */
static int
open_inputs(struct json_file **json)
{
	const char *path = bench.options.json;

	if (!bench.options.aggregate.on && get_operands() != 0)
		return -1;
	return path == NULL ? 0 : json_file_open(PROGRAM ": --json", path, json);
}

static int
run_program(int argc, char **argv)
{
	enum exit_status status = EXIT_CONFIGURATION;
	struct json_file *json = NULL;
	enum options_result parsed;
	int eal_argc;

	parsed = bench_options_parse(argc, argv, &bench.options, &eal_argc);
	if (parsed != OPTIONS_RUN)
		return options_exit_status(parsed);
	signals_catch(handle_signal, 0);
	if (open_inputs(&json) == 0 && eal_start(eal_argc, argv) == 0) {
		status = run_load(&json);
		eal_end();
	}
	json_file_abandon(json);
	operands_free(&bench.operands);
	free(bench.function);
	netfc_set_free(bench.set);
	return status;
}

int
main(int argc, char **argv)
{
	output_start();
	return output_finish(PROGRAM, run_program(argc, argv));
}

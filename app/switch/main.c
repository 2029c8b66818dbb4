/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "aggregate/parent_link.h"
#include "app.h"
#include "capture/capture.h"
#include "control/control.h"
#include "control/init_file.h"
#include "slowloris/slowloris_filter.h"
#include "dpdk/eal.h"
#include "dpdk/quirks.h"
#include "journal.h"
#include "json.h"
#include "output.h"
#include "observe/state.h"
#include "service/service.h"
#include "port_watch.h"
#include "setup.h"
#include "sleep/sleep.h"

/* The application; global because a signal handler takes no argument. */
static struct app app = {
	.trace_lock = PTHREAD_MUTEX_INITIALIZER,
	.state_lock = PTHREAD_MUTEX_INITIALIZER,
	.change_lock = PTHREAD_MUTEX_INITIALIZER,
	.reload = -1,
};

static void
handle_signal(int signal)
{
	int error = errno;

	if (signal == SIGHUP && app.reload >= 0)
		eventfd_write(app.reload, 1);
	else
		app_quit(&app);
	errno = error;
}

/* To a service, SIGHUP does not say that its terminal has gone. */
static void
catch_signals(int flags)
{
	bool ignored = app.options.init == NULL && notify_wanted();
	const struct sigaction hang_up = {
		.sa_handler = ignored ? SIG_IGN : handle_signal, .sa_flags = flags};

	signals_catch(handle_signal, flags);
	sigaction(SIGHUP, &hang_up, NULL);
}

/* SIGHUP does the commands of --init again, and is the end without them. */
static int
open_reload(void)
{
	if (app.options.init == NULL)
		return 0;
	app.reload = eventfd(0, EFD_CLOEXEC);
	return app.reload >= 0 ? 0 : REPORT("--init: %s\n", strerror(errno));
}

/* Threads beside the lcores; NULL: not started. */
struct ctrl_threads {
	struct control *control;
	struct periodic *periodic;
	struct reload *reload;
	struct parent_link_log *parent_link_log;
	struct service *service;
};

/* Start them; stop_ctrl_threads() ends those that were started. */
static int
start_ctrl_threads(struct ctrl_threads *threads)
{
	uint32_t interval_s = app.options.stats_interval_s;

	app.commanded = true;
	if (slowloris_filter_start(&app) != 0 ||
		parent_link_log_start(&app, &threads->parent_link_log) != 0)
		return -1;
	if (reload_start(&app, &threads->reload) != 0)
		return -1;
	if (interval_s != 0 && periodic_start(&app, interval_s, &threads->periodic) != 0)
		return -1;
	return threads->control != NULL ? control_start(threads->control) : 0;
}

static void
stop_ctrl_threads(struct ctrl_threads *threads)
{
	control_close(threads->control);
	reload_stop(threads->reload);
	capture_free(&app);
	slowloris_filter_stop(&app);
	parent_link_log_stop(threads->parent_link_log);
	periodic_stop(threads->periodic);
}

static enum exit_status
run_started(struct json_file **stats, struct control **control)
{
	struct totals totals;
	enum exit_status status = EXIT_DONE;
	struct ctrl_threads threads = {.control = *control};
	json_t *state;

	*control = NULL;
	report_configuration(&app);
	if (ports_start(&app) != 0 || start_ctrl_threads(&threads) != 0) {
		stop_ctrl_threads(&threads);
		ports_stop(&app);
		return EXIT_RUNNING;
	}
	sleep_start(&app);
	/* A driver that a signal interrupts while it writes to a file would lose packets. */
	catch_signals(SA_RESTART);
	telemetry_set_open(&app, true);
	quirk_guard_unmap(app.qsbr);
	steer_start(&app);
	report_ready(&app);
	if (port_watch_start(&app) != 0 || service_start(&app, &threads.service) != 0) {
		app_quit(&app);
		status = EXIT_RUNNING;
	}
	poll_run(&app);
	service_stop(threads.service);
	port_watch_stop(&app);
	quirk_guard_unmap(NULL);
	telemetry_set_open(&app, false);
	stop_ctrl_threads(&threads);
	sleep_stop(&app);
	totals_of_all(&app, &totals);
	ports_stop(&app);
	state = state_stats(&app, &totals);
	report_totals(&app, state);
	if (app.deserted)
		status = notify_wanted() ? EXIT_LATER : EXIT_RUNNING;
	if (!totals_add_up(&totals) || app.mbufs_leaked != 0) {
		REPORT("packets or packet buffers are unaccounted for\n");
		status = EXIT_RUNNING;
	}
	if (*stats != NULL && json_file_write(stats, json_incref(state)) != 0)
		status = EXIT_RUNNING;
	json_decref(state);
	return status;
}

/* Those that the options name. */
static int
open_outputs(struct json_file **stats, struct control **control)
{
	const struct options *options = &app.options;

	if (options->stats_json != NULL &&
		json_file_open(PROGRAM ": --stats-json", options->stats_json, stats) != 0)
		return -1;
	return options->control != NULL ? control_open(&app, options->control, control) : 0;
}

/* What netfc-ctl is to have set, before any packet comes. */
static int
do_init(void)
{
	const char *path = app.options.init;

	return path == NULL ? 0 : init_file_do(&app, path, stderr);
}

/* From the start of the EAL to its end. */
static enum exit_status
run(int eal_argc, char **eal_argv, struct json_file **stats, struct control **control)
{
	enum exit_status status = eal_start(eal_argc, eal_argv);

	if (status != EXIT_DONE)
		return status;
	status = prepare(&app);
	if (status == EXIT_DONE &&
		(do_init() != 0 || telemetry_register(&app) != 0 ||
			service_share(&app.options) != 0))
		status = EXIT_CONFIGURATION;
	if (status == EXIT_DONE)
		status = run_started(stats, control);
	else
		ports_stop(&app);
	prepare_free(&app);
	eal_end();
	return status;
}

/* --check: all that can be known without the EAL. */
static enum exit_status
check(int eal_argc, char **eal_argv)
{
	const char *path = app.options.init;

	if (path != NULL && init_file_check(&app, path, stderr) != 0)
		return EXIT_CONFIGURATION;
	return service_check(&app.options, eal_argc, eal_argv);
}

static int
run_program(int argc, char **argv)
{
	enum exit_status status = EXIT_CONFIGURATION;
	struct json_file *stats = NULL;
	struct control *control = NULL;
	enum options_result parsed;
	int eal_argc;

	journal_mark_errors();
	parsed = options_parse(argc, argv, &app.options, &eal_argc);
	if (parsed != OPTIONS_RUN)
		return options_exit_status(parsed);
	/* During the start, a signal interrupts waiting, such as for a peer. */
	catch_signals(0);
	if (open_reload() == 0 && prepare_load(&app) == 0) {
		if (app.options.check)
			status = check(eal_argc, argv);
		else if (open_outputs(&stats, &control) == 0)
			status = run(eal_argc, argv, &stats, &control);
	}
	control_close(control);
	json_file_abandon(stats);
	prepare_unload(&app);
	return status;
}

int
main(int argc, char **argv)
{
	output_start();
	return output_finish(PROGRAM, run_program(argc, argv));
}

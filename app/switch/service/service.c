/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregate/aggregation.h"
#include "service/service.h"
#include "ctrl_thread.h"

/* How often the manager is told where it does not wait for signs of life. */
#define STATUS_S 10
/* Signs of life within the time that the manager waits for one. */
#define SIGNS 4
#define STATUS_BYTES 512

struct service {
	struct app *app;
	struct heartbeat heartbeat;
	uint64_t watchdog_us; /* 0: the manager waits for no signs of life */
	unsigned int missed;  /* signs, one after another, that could not be given */
	struct ticker ticker;
};

/* ---- what is served -------------------------------------------------------------------------- */

/* A line that grows. */
struct line {
	char text[STATUS_BYTES];
	size_t length;
};

static void __attribute__((format(printf, 2, 3)))
append(struct line *line, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(
		line->text + line->length, sizeof(line->text) - line->length, format, arguments);
	va_end(arguments);
	line->length = RTE_MIN(line->length + (size_t)length, sizeof(line->text) - 1);
}

static void
append_sets(struct line *line, const struct app *app)
{
	const char *separator = "Serving ";

	for (unsigned int f = 0; f < NETFC_SET_FORMAT_END; f++) {
		if (app->sets.by_format[f] == NULL)
			continue;
		append(line, "%s%s", separator, netfc_set_name(app->sets.by_format[f]));
		separator = ", ";
	}
}

static void
append_jobs(struct line *line, const struct app *app)
{
	struct aggregate_usage usage;

	if (app->aggregation == NULL)
		return;
	aggregate_table_usage(app->aggregation->table, &usage);
	append(line, "; %" PRIu32 " job%s open", usage.jobs, usage.jobs == 1 ? "" : "s");
}

static void
append_gone(struct line *line, const struct app *app)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (port_is_gone(&app->port[p]))
			append(line, "; port %u has gone", app->port[p].id);
	}
}

/* Without waiting for a change of table sets that is under way. */
static void
append_status(struct line *line, struct app *app)
{
	if (pthread_mutex_trylock(&app->state_lock) != 0)
		return;
	append(line, "STATUS=");
	append_sets(line, app);
	append_jobs(line, app);
	append_gone(line, app);
	append(line, "\n");
	pthread_mutex_unlock(&app->state_lock);
}

/* ---- signs of life --------------------------------------------------------------------------- */

/* Once for each time that an lcore stands still: the manager is about to end the switch. */
static void
report_stuck(struct service *service, unsigned int lcore_id)
{
	if (++service->missed != SIGNS / 2)
		return;
	fprintf(stderr,
		PROGRAM ": lcore %u has not looked at its queues for %.1f s; the service manager "
			"ends the switch after %.1f s\n",
		lcore_id, (double)service->watchdog_us / SIGNS * service->missed / US_PER_S,
		(double)service->watchdog_us / US_PER_S);
}

static void
append_life(struct line *line, struct service *service)
{
	unsigned int missing;

	if (service->watchdog_us == 0)
		return;
	missing = heartbeat_missing(&service->heartbeat, service->app);
	if (missing != RTE_MAX_LCORE) {
		report_stuck(service, missing);
		return;
	}
	service->missed = 0;
	append(line, "WATCHDOG=1\n");
}

static void
tell(void *arg)
{
	struct service *service = arg;
	struct line line = {.length = 0};

	append_life(&line, service);
	append_status(&line, service->app);
	if (line.length > 0)
		notify(line.text);
}

/* ---- start and end --------------------------------------------------------------------------- */

static int
start_telling(struct service *service)
{
	struct line line = {.length = 0};
	uint64_t interval_ns = service->watchdog_us != 0
		? service->watchdog_us * (NS_PER_S / US_PER_S) / SIGNS
		: STATUS_S * (uint64_t)NS_PER_S;

	append(&line, "READY=1\n");
	append_status(&line, service->app);
	if (notify(line.text) != 0)
		return -1;
	return ticker_start(&service->ticker, "netfc-service", interval_ns, tell, service);
}

int
service_start(struct app *app, struct service **result)
{
	struct service *service;

	*result = NULL;
	if (!notify_wanted())
		return 0;
	service = calloc(1, sizeof(*service));
	if (service == NULL)
		return REPORT("no memory to tell the service manager\n");
	service->app = app;
	service->watchdog_us = notify_watchdog_us();
	if (start_telling(service) != 0) {
		free(service);
		return -1;
	}
	*result = service;
	return 0;
}

void
service_stop(struct service *service)
{
	if (service == NULL)
		return;
	notify("STOPPING=1\nSTATUS=Ending\n");
	ticker_stop(&service->ticker);
	free(service);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>

#include "json.h"
#include "observe/state.h"
#include "ctrl_thread.h"
#include "slowloris/slowloris_filter.h"

static unsigned int
count_receiving_lcores(const struct app *app)
{
	unsigned int lcore_id, count = 0;

	RTE_LCORE_FOREACH (lcore_id)
		count +=
			app->lcore[lcore_id].rx_queue_count > 0 || lcore_id == rte_get_main_lcore();
	return count;
}

int
slowloris_filter_create(struct app *app)
{
	const struct slowloris_options *options = &app->options.slowloris;
	const struct slowloris_config config = {
		.rules = slowloris_options_rules(options),
		.connections = options->connections,
		.destinations = options->destinations,
		.shared = count_receiving_lcores(app) > 1,
		/* The expTable is a table, whatever computes lanes. */
		.match = app->options.match == MATCH_FPU ? MATCH_DIRECT : app->options.match,
		.socket_id = (int)rte_socket_id(),
		.qsbr = app->qsbr,
	};
	unsigned int lcore_id;
	int error;

	if (!options->on)
		return 0;
	error = slowloris_create(&config, &app->slowloris);
	if (error != 0)
		return REPORT("cannot make the Slowloris detector: %s%s\n", rte_strerror(-error),
			error == -ENOMEM ? "; give the EAL more memory (-m MB) or the detector "
					   "fewer connections (--slowloris-table N)"
					 : "");
	RTE_LCORE_FOREACH (lcore_id) {
		struct lcore *lcore = &app->lcore[lcore_id];

		/* The main lcore maintains the detector, whether it receives or not. */
		if (lcore->rx_queue_count == 0 && lcore_id != rte_get_main_lcore())
			continue;
		lcore->slowloris = slowloris_worker_create(
			app->slowloris, (int)rte_lcore_to_socket_id(lcore_id));
		if (lcore->slowloris != NULL)
			continue;
		return REPORT("no memory for the Slowloris detector; give the EAL more "
			      "(-m MB)\n");
	}
	return 0;
}

void
slowloris_filter_set(struct app *app, const struct slowloris_options *options)
{
	struct slowloris_rules rules = slowloris_options_rules(options);

	slowloris_set_rules(app->slowloris, &rules);
	app->options.slowloris = *options;
}

void
slowloris_filter_free(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id)
		slowloris_worker_free(app->lcore[lcore_id].slowloris);
	slowloris_free(app->slowloris);
}

/* Take packets out of a burst; bits of `drop` are their indices. */
static uint16_t
drop_packets(struct lcore *lcore, struct rte_mbuf **mbufs, struct frame *frames, uint16_t count,
	const struct slowloris_verdict *verdict)
{
	uint64_t drop = verdict->drop_destination | verdict->drop_connection;
	uint16_t kept = 0;

	if (likely(drop == 0))
		return count;
	lcore->counters.drops[DROP_SLOWLORIS_DESTINATION] +=
		(unsigned int)__builtin_popcountll(verdict->drop_destination);
	lcore->counters.drops[DROP_SLOWLORIS_CONNECTION] +=
		(unsigned int)__builtin_popcountll(verdict->drop_connection);
	for (uint16_t i = 0; i < count; i++) {
		if (drop >> i & 1) {
			rte_pktmbuf_free(mbufs[i]);
			continue;
		}
		frames[kept] = frames[i];
		mbufs[kept++] = mbufs[i];
	}
	return kept;
}

uint16_t
slowloris_filter(struct lcore *lcore, struct pipeline_worker *worker, struct rte_mbuf **mbufs,
	struct frame *frames, uint16_t count)
{
	struct slowloris_verdict verdict;

	slowloris_process(lcore->slowloris, mbufs, frames, count, rte_rdtsc(), &verdict);
	for (uint16_t q = 0; q < verdict.query_count; q++) {
		uint16_t packet = verdict.query[q].packet;

		pipeline_answer_query(
			worker, mbufs[packet], &frames[packet], &verdict.query[q].answer);
	}
	return drop_packets(lcore, mbufs, frames, count, &verdict);
}

static void
address_text(uint32_t address, char text[INET_ADDRSTRLEN])
{
	const struct in_addr in = {rte_cpu_to_be_32(address)};

	inet_ntop(AF_INET, &in, text, INET_ADDRSTRLEN);
}

/* ---- log of attacks that begin and end ------------------------------------------------------- */

#define LOOK_NS (50 * UINT64_C(1000000))

/* Maximum number of lines at once, and per this time. */
#define ALERTS_AT_ONCE 10
#define ALERTS_PERIOD_S 10

RTE_LOG_REGISTER(alerts_log, netfc.slowloris, NOTICE)

#define TELL(...) rte_log(RTE_LOG_NOTICE, alerts_log, __VA_ARGS__)

struct alerts {
	struct slowloris *detector;
	struct ticker ticker;
	uint64_t period;     /* TSC: when this one began */
	unsigned int told;   /* in this period */
	uint64_t suppressed; /* in this period */
};

static void
tell(const struct slowloris_alert *alert)
{
	const struct slowloris_registers *registers = &alert->registers;
	char text[INET_ADDRSTRLEN];

	address_text(registers->address, text);
	TELL("Slowloris: %s %s%s after %" PRIu64 " ms: %" PRIu32 " connections (%" PRIu32
	     " established, which sent %" PRIu64 " bytes), %" PRIu64
	     " bytes, %.3g connections per byte\n",
		text, registers->alarm ? "is under attack" : "has recovered",
		alert->dry_run != 0 ? " (dry run)" : "", alert->after_ms, registers->connections,
		registers->established, registers->established_bytes, registers->bytes,
		netfc_decode(netfc_format_by_id(NETFC_FP16), registers->ratio));
}

static void
begin_period(struct alerts *alerts, uint64_t now)
{
	if (alerts->suppressed != 0)
		TELL("Slowloris: %" PRIu64 " more alerts in %d s\n", alerts->suppressed,
			ALERTS_PERIOD_S);
	alerts->period = now;
	alerts->told = 0;
	alerts->suppressed = 0;
}

static void
tell_all(void *arg)
{
	struct alerts *alerts = arg;
	uint64_t now = rte_rdtsc();
	struct slowloris_alert alert;

	if (now - alerts->period > ALERTS_PERIOD_S * rte_get_tsc_hz())
		begin_period(alerts, now);
	while (slowloris_next_alert(alerts->detector, &alert)) {
		if (alerts->told < ALERTS_AT_ONCE) {
			tell(&alert);
			alerts->told++;
		} else {
			alerts->suppressed++;
		}
	}
}

int
slowloris_filter_start(struct app *app)
{
	struct alerts *alerts;

	if (app->slowloris == NULL)
		return 0;
	alerts = calloc(1, sizeof(*alerts));
	if (alerts != NULL) {
		alerts->detector = app->slowloris;
		alerts->period = rte_rdtsc();
		app->alerts = alerts;
		if (ticker_start(&alerts->ticker, "netfc-alerts", LOOK_NS, tell_all, alerts) == 0)
			return 0;
	}
	return REPORT("cannot start the thread that logs attacks\n");
}

void
slowloris_filter_stop(struct app *app)
{
	struct alerts *alerts = app->alerts;

	if (alerts == NULL)
		return;
	if (alerts->ticker.running) {
		ticker_stop(&alerts->ticker);
		tell_all(alerts);
		begin_period(alerts, 0);
	}
	free(alerts);
	app->alerts = NULL;
}

/* ---- what is shown of it ----------------------------------------------------------------------
 */

/* Maximum number of destinations listed, a limit of telemetry's answers. */
#define MAX_LISTED 64

static json_t *
alarms_json(const struct app *app)
{
	struct slowloris_registers registers[MAX_LISTED];
	uint32_t count = slowloris_alarms(app->slowloris, registers, MAX_LISTED);
	json_t *array = json_array();

	for (uint32_t r = 0; r < count; r++) {
		char text[INET_ADDRSTRLEN];

		address_text(registers[r].address, text);
		json_array_append_new(array, json_string(text));
	}
	return array;
}

static void
set_worker_counters(json_t *object, const struct app *app)
{
	static const struct counter counters[] = {SLOWLORIS_WORKER_COUNTERS(COUNTER_ROW)};
	struct slowloris_worker_counters sum = {0};
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		const struct slowloris_worker *worker = app->lcore[lcore_id].slowloris;

		if (worker != NULL)
			counters_add(&sum, slowloris_worker_counters(worker), sizeof(sum));
	}
	json_counts(object, counters, RTE_DIM(counters), &sum);
}

json_t *
state_slowloris(const struct app *app)
{
	static const struct counter counters[] = {SLOWLORIS_COUNTERS(COUNTER_ROW)};
	json_t *object = json_object();
	struct slowloris_memory memory;
	struct slowloris_usage usage;

	json_object_set_new(object, "on", json_integer(app->slowloris != NULL));
	if (app->slowloris == NULL)
		return object;
	slowloris_usage(app->slowloris, &usage);
	memory = slowloris_memory(app->slowloris);
	json_object_set_new(object, "connections", json_integer(usage.connections));
	json_object_set_new(object, "half_open", json_integer(usage.half_open));
	json_object_set_new(object, "destinations", json_integer(usage.destinations));
	json_object_set_new(object, "alarms", json_integer(usage.alarms));
	set_worker_counters(object, app);
	json_counts(object, counters, RTE_DIM(counters), slowloris_counters(app->slowloris));
	json_object_set_new(object, "connection_bytes", json_count(memory.connections));
	json_object_set_new(object, "destination_bytes", json_count(memory.destinations));
	json_object_set_new(object, "under_attack", alarms_json(app));
	return object;
}

/* A number that is not a JSON integer: telemetry has no others. */
static json_t *
real_json(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", value);
	return json_string(text);
}

json_t *
state_rules(const struct app *app)
{
	const struct slowloris_options *options = &app->options.slowloris;
	json_t *object = json_object();

	json_object_set_new(object, "threshold", real_json(options->threshold));
	json_object_set_new(object, "connections", json_integer(options->least));
	json_object_set_new(object, "time_ms", json_integer(options->time_ms));
	json_object_set_new(object, "release_percent", json_integer(options->release_percent));
	json_object_set_new(object, "policy", json_string(slowloris_policy_name(options->policy)));
	json_object_set_new(object, "slow_bytes", json_integer(options->slow_bytes));
	json_object_set_new(object, "grace_ms", json_integer(options->grace_ms));
	json_object_set_new(object, "timeout_s", json_integer(options->timeout_s));
	json_object_set_new(object, "dry_run", json_integer(options->dry_run));
	return object;
}

json_t *
state_destination(const struct app *app, const char *address)
{
	struct slowloris_registers registers;
	struct in_addr in;
	json_t *object;

	if (app->slowloris == NULL || inet_pton(AF_INET, address, &in) != 1)
		return NULL;
	object = json_object();
	if (!slowloris_find(app->slowloris, rte_be_to_cpu_32(in.s_addr), &registers))
		registers = (struct slowloris_registers){0};
	json_object_set_new(object, "connections", json_integer(registers.connections));
	json_object_set_new(object, "established", json_integer(registers.established));
	json_object_set_new(object, "bytes", json_count(registers.bytes));
	json_object_set_new(object, "ratio",
		real_json(netfc_decode(netfc_format_by_id(NETFC_FP16), registers.ratio)));
	json_object_set_new(object, "ratio_fp16", json_integer(registers.ratio));
	json_object_set_new(object, "under_attack", json_integer(registers.alarm));
	return object;
}

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

#include "side_thread.h"
#include "slowloris/defend.h"

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
defend_create(struct app *app)
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

int
defend_set(struct app *app, const struct option_row *option, const char *text, FILE *errors)
{
	struct slowloris_options options = app->options.slowloris;
	struct slowloris_rules rules;

	if (app->slowloris == NULL) {
		fprintf(errors, "there is no Slowloris detector (--slowloris)");
		return -1;
	}
	if (option_take(errors, option, text, &options) != 0 ||
		slowloris_options_check(&options, errors) != 0)
		return -1;
	rules = slowloris_options_rules(&options);
	slowloris_set_rules(app->slowloris, &rules);
	app->options.slowloris = options;
	return 0;
}

void
defend_free(struct app *app)
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
defend(struct lcore *lcore, struct pipeline_worker *worker, struct rte_mbuf **mbufs,
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
	const struct in_addr address = {rte_cpu_to_be_32(registers->address)};
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &address, text, sizeof(text));
	TELL("Slowloris: %s %s%s after %" PRIu32 " ms: %" PRIu32 " connections (%" PRIu32
	     " established), %" PRIu64 " bytes, %.3g connections per byte\n",
		text, registers->alarm ? "is under attack" : "has recovered",
		alert->dry_run != 0 ? " (dry run)" : "", alert->after_ms, registers->connections,
		registers->established, registers->bytes,
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
defend_start(struct app *app)
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
defend_stop(struct app *app)
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "slowloris/defend.h"

static unsigned int
count_receiving_lcores(const struct app *app)
{
	unsigned int lcore_id, count = 0;

	RTE_LCORE_FOREACH (lcore_id)
		count += app->lcore[lcore_id].path_count > 0 || lcore_id == rte_get_main_lcore();
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
		.socket_id = SOCKET_ID_ANY,
		.qsbr = app->qsbr,
	};
	unsigned int lcore_id;
	int error;

	if (!options->on)
		return 0;
	error = slowloris_create(&config, &app->slowloris);
	if (error != 0) {
		fprintf(stderr, PROGRAM ": cannot make the Slowloris detector: %s%s\n",
			rte_strerror(-error),
			error == -ENOMEM ? "; give the EAL more memory (-m MB) or the detector "
					   "fewer connections (--slowloris-table N)"
					 : "");
		return -1;
	}
	RTE_LCORE_FOREACH (lcore_id) {
		struct lcore *lcore = &app->lcore[lcore_id];

		/* The main lcore looks after the detector, whether it receives or not. */
		if (lcore->path_count == 0 && lcore_id != rte_get_main_lcore())
			continue;
		lcore->slowloris = slowloris_worker_create(
			app->slowloris, (int)rte_lcore_to_socket_id(lcore_id));
		if (lcore->slowloris != NULL)
			continue;
		fprintf(stderr,
			PROGRAM ": no memory for the Slowloris detector; give the EAL more "
				"(-m MB)\n");
		return -1;
	}
	return 0;
}

int
defend_start(struct app *app)
{
	if (app->slowloris == NULL)
		return 0;
	app->alerts = alerts_start(app->slowloris);
	if (app->alerts != NULL)
		return 0;
	fprintf(stderr, PROGRAM ": cannot start the thread that tells of attacks\n");
	return -1;
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

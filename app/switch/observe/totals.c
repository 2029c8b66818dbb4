/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_lcore.h>

#include "observe/totals.h"

/* How often the switch's number and a device's are read until they belong together. */
#define MOMENT_TRIES 16

void
totals_add_pipeline(const struct pipeline_counters *counters, struct pipeline_counters *sum)
{
	sum->netfc_packets += counters->netfc_packets;
	sum->lanes += counters->lanes;
	for (unsigned int c = 0; c < NETFC_STATUS_END; c++)
		sum->errors[c] += counters->errors[c];
	for (unsigned int bit = 0; bit < RTE_DIM(counters->exceptions); bit++)
		sum->exceptions[bit] += counters->exceptions[bit];
	for (unsigned int number = 0; number < RTE_DIM(counters->extended); number++)
		sum->extended[number] += counters->extended[number];
}

static void
add_lcore(const struct lcore *lcore, struct totals *totals)
{
	if (lcore->worker == NULL)
		return;
#define ADD_(name, meaning) totals->packets.name += lcore->counters.name;
	PACKET_COUNTERS(ADD_)
#undef ADD_
	for (unsigned int d = 0; d < DROP_REASON_COUNT; d++)
		totals->packets.drops[d] += lcore->counters.drops[d];
	totals_add_pipeline(&lcore->retired, &totals->pipeline);
	totals_add_pipeline(pipeline_worker_counters(lcore->worker), &totals->pipeline);
}

static uint64_t
untaken_by(const struct app *app, unsigned int port)
{
	unsigned int lcore_id;
	uint64_t untaken = 0;

	RTE_LCORE_FOREACH (lcore_id) {
		const struct outbox *outbox = app->lcore[lcore_id].outbox;

		if (outbox != NULL)
			untaken += __atomic_load_n(&outbox[port].untaken, __ATOMIC_RELAXED);
	}
	return untaken;
}

/*
 * A driver that counts what it does not take has counted it before the switch does: one with fewer
 * errors is of the other kind. Both numbers have to be of one moment.
 */
bool
totals_of_device(const struct app *app, unsigned int port, struct rte_eth_stats *stats)
{
	uint64_t untaken;

	for (unsigned int tries = 0; tries < MOMENT_TRIES; tries++) {
		untaken = untaken_by(app, port);
		if (rte_eth_stats_get(app->port[port].id, stats) != 0)
			return false;
		if (untaken_by(app, port) == untaken)
			break;
	}
	if (stats->oerrors >= untaken)
		stats->oerrors -= untaken;
	return true;
}

static void
add_port(const struct app *app, unsigned int port, struct totals *totals)
{
	struct rte_eth_stats stats;

	/* Not every device counts. */
	if (!totals_of_device(app, port, &stats))
		return;
#define ADD_(name, field, meaning) totals->devices.field += stats.field;
	DEVICE_COUNTERS(ADD_)
#undef ADD_
}

void
totals_of_lcore(const struct lcore *lcore, struct totals *totals)
{
	*totals = (struct totals){0};
	add_lcore(lcore, totals);
}

void
totals_of_all(const struct app *app, struct totals *totals)
{
	unsigned int lcore_id;

	*totals = (struct totals){0};
	RTE_LCORE_FOREACH (lcore_id)
		add_lcore(&app->lcore[lcore_id], totals);
	for (unsigned int p = 0; p < app->port_count; p++)
		add_port(app, p, totals);
}

bool
totals_add_up(const struct totals *totals)
{
	uint64_t accounted = totals->packets.tx_packets;

	for (unsigned int d = 0; d < DROP_REASON_COUNT; d++)
		accounted += totals->packets.drops[d];
	return accounted == totals->packets.rx_packets + totals->packets.copies;
}

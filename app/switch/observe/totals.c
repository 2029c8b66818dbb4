/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "json.h"
#include "observe/state.h"

/* Attempts to read the switch's counter and a device's at the same moment. */
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
	for (unsigned int t = 0; t < TAKEN_REASON_COUNT; t++)
		totals->packets.taken_up[t] += lcore->counters.taken_up[t];
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
		const struct tx_buffer *tx_buffer = app->lcore[lcore_id].tx_buffer;

		if (tx_buffer != NULL)
			untaken += __atomic_load_n(&tx_buffer[port].untaken, __ATOMIC_RELAXED);
	}
	return untaken;
}

static bool
read_device(const struct port *port, struct rte_eth_stats *stats)
{
	if (!port_is_gone(port))
		return rte_eth_stats_get(port->id, stats) == 0;
	*stats = port->last;
	return port->counted;
}

/*
 * A driver that counts refused packets as errors does so before the switch counts them; one with
 * fewer errors does not count them. Both counters must be of the same moment.
 */
bool
totals_of_device(const struct app *app, unsigned int port, struct rte_eth_stats *stats)
{
	uint64_t untaken;

	for (unsigned int tries = 0; tries < MOMENT_TRIES; tries++) {
		untaken = untaken_by(app, port);
		if (!read_device(&app->port[port], stats))
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

uint64_t
totals_taken_up(const struct totals *totals)
{
	uint64_t sum = 0;

	for (unsigned int t = 0; t < TAKEN_REASON_COUNT; t++)
		sum += totals->packets.taken_up[t];
	return sum;
}

uint64_t
totals_dropped(const struct totals *totals)
{
	uint64_t sum = 0;

	for (unsigned int d = 0; d < DROP_REASON_COUNT; d++)
		sum += totals->packets.drops[d];
	return sum;
}

bool
totals_add_up(const struct totals *totals)
{
	const struct packet_counters *packets = &totals->packets;

	return packets->rx_packets + packets->copies ==
		packets->tx_packets + totals_taken_up(totals) + totals_dropped(totals);
}

/* Greatest nanoseconds of the buckets that are shown, the same of every switch: so they add up. */
static const uint32_t shown_ns[] = {
#define DECADE_(ns) 1 * (ns), 3 * (ns) / 2, 2 * (ns), 3 * (ns), 5 * (ns), 7 * (ns)
	DECADE_(100),
	DECADE_(1000),
	DECADE_(10000),
	DECADE_(100000),
	DECADE_(1000000),
	DECADE_(10000000),
	DECADE_(100000000),
#undef DECADE_
	1000000000,
};

int
latency_create(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		struct lcore *lcore = &app->lcore[lcore_id];

		if (!app->options.latency || !lcore_works(lcore))
			continue;
		lcore->latency = rte_zmalloc_socket("latency", sizeof(*lcore->latency),
			RTE_CACHE_LINE_SIZE, (int)rte_lcore_to_socket_id(lcore_id));
		if (lcore->latency == NULL)
			return -1;
	}
	return 0;
}

void
latency_free(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id)
		rte_free(app->lcore[lcore_id].latency);
}

void
latency_sum(const struct app *app, struct histogram *histogram)
{
	unsigned int lcore_id;

	*histogram = (struct histogram){0};
	RTE_LCORE_FOREACH (lcore_id) {
		if (app->lcore[lcore_id].latency != NULL)
			histogram_merge(histogram, app->lcore[lcore_id].latency);
	}
}

static json_t *
buckets_object(const struct histogram *histogram)
{
	uint64_t counts[RTE_DIM(shown_ns) + 1];
	json_t *buckets = json_object();

	histogram_sort(histogram, rte_get_tsc_hz(), shown_ns, RTE_DIM(shown_ns), counts);
	for (unsigned int b = 0; b < RTE_DIM(shown_ns); b++) {
		char bound[12];

		snprintf(bound, sizeof(bound), "%" PRIu32, shown_ns[b]);
		json_object_set_new(buckets, bound, json_count(counts[b]));
	}
	json_object_set_new(buckets, "more", json_count(counts[RTE_DIM(shown_ns)]));
	return buckets;
}

json_t *
latency_json(const struct app *app)
{
	struct histogram histogram;
	json_t *object;

	if (!app->options.latency)
		return NULL;
	latency_sum(app, &histogram);
	object = json_object();
	json_object_set_new(object, "tsc_hz", json_count(rte_get_tsc_hz()));
	json_object_set_new(object, "count", json_count(histogram.count));
	json_object_set_new(object, "sum", json_count(histogram.sum));
	json_object_set_new(object, "least", json_count(histogram.least));
	json_object_set_new(object, "mean",
		json_count(histogram.count != 0 ? histogram.sum / histogram.count : 0));
	json_object_set_new(object, "p50", json_count(histogram_percentile(&histogram, 0.5)));
	json_object_set_new(object, "p90", json_count(histogram_percentile(&histogram, 0.9)));
	json_object_set_new(object, "p99", json_count(histogram_percentile(&histogram, 0.99)));
	json_object_set_new(object, "p99_9", json_count(histogram_percentile(&histogram, 0.999)));
	json_object_set_new(object, "greatest", json_count(histogram.greatest));
	json_object_set_new(object, "buckets_ns", buckets_object(&histogram));
	return object;
}

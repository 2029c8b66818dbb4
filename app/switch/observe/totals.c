/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "json.h"
#include "observe/state.h"

#define DEVICE_ROW_(name, field, meaning) {#name, meaning},
static const struct counter taken[] = {TAKEN_REASONS(REASON_ROW)};
static const struct counter drops[] = {DROP_REASONS(REASON_ROW)};
static const struct counter losses[] = {DEVICE_LOSSES(DEVICE_ROW_)};

/* Attempts to read the switch's counter and a device's at the same moment. */
#define MOMENT_TRIES 16

static void
add_lcore(const struct lcore *lcore, struct totals *totals)
{
	if (lcore->worker == NULL)
		return;
	counters_add(&totals->packets, &lcore->counters, sizeof(totals->packets));
	counters_add(&totals->pipeline, &lcore->retired, sizeof(totals->pipeline));
	counters_add(&totals->pipeline, pipeline_worker_counters(lcore->worker),
		sizeof(totals->pipeline));
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

static uint64_t
sum_of(const uint64_t *counts, unsigned int number)
{
	uint64_t sum = 0;

	for (unsigned int n = 0; n < number; n++)
		sum += counts[n];
	return sum;
}

uint64_t
totals_taken_up(const struct totals *totals)
{
	return sum_of(totals->packets.taken_up, TAKEN_REASON_COUNT);
}

uint64_t
totals_dropped(const struct totals *totals)
{
	return sum_of(totals->packets.drops, DROP_REASON_COUNT);
}

bool
totals_add_up(const struct totals *totals)
{
	const struct packet_counters *packets = &totals->packets;

	return packets->rx_packets + packets->copies ==
		packets->tx_packets + totals_taken_up(totals) + totals_dropped(totals);
}

json_t *
totals_device_json(const struct rte_eth_stats *stats)
{
	json_t *device = json_object();

#define SET_(name, field, meaning) json_object_set_new(device, #name, json_count(stats->field));
	DEVICE_COUNTERS(SET_)
#undef SET_
	return device;
}

/* Requests by name of the operation, without zeros. */
static json_t *
extended_object(const struct pipeline_counters *pipeline, const struct functions *functions)
{
	json_t *extended = json_object();

	for (unsigned int number = NETFC_MIN; number < RTE_DIM(pipeline->extended); number++) {
		char name[NETFC_FUNCTION_NAME_SIZE];

		if (pipeline->extended[number] == 0)
			continue;
		functions_name(functions, number, name);
		json_object_set_new(extended, name, json_count(pipeline->extended[number]));
	}
	return extended;
}

void
totals_set(json_t *object, const struct functions *functions, const struct totals *totals)
{
	static const struct counter counters[] = {PACKET_COUNTERS(COUNTER_ROW)};
	static const struct counter exceptions[] = {{.name = "invalid"}, {.name = "divbyzero"},
		{.name = "overflow"}, {.name = "underflow"}};
	const struct packet_counters *packets = &totals->packets;
	const struct pipeline_counters *pipeline = &totals->pipeline;

	json_counts(object, counters, RTE_DIM(counters), packets);
	json_object_set_new(object, "taken_up",
		json_counts(json_object(), taken, RTE_DIM(taken), packets->taken_up));
	json_object_set_new(
		object, "drops", json_counts(json_object(), drops, RTE_DIM(drops), packets->drops));
	json_object_set_new(object, "netfc_packets", json_count(pipeline->netfc_packets));
	json_object_set_new(object, "lanes", json_count(pipeline->lanes));
	json_object_set_new(object, "operations", extended_object(pipeline, functions));
	json_object_set_new(object, "errors",
		json_counts(json_object(), json_statuses + 1, NETFC_STATUS_END - 1,
			pipeline->errors + 1));
	json_object_set_new(object, "exceptions",
		json_counts(json_object(), exceptions, RTE_DIM(exceptions), pipeline->exceptions));
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

static void
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

/* ---- the report at the end ------------------------------------------------------------------- */

static uint64_t
count_of(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static void
print_count(const char *what, uint64_t count)
{
	printf("  %-24s %15" PRIu64 "\n", what, count);
}

static void
print_named(const char *what, const char *name, uint64_t count)
{
	if (count != 0)
		printf("  %-24s %15" PRIu64 "  (%s)\n", what, count, name);
}

static void
print_reasons(
	const char *what, const json_t *object, const struct counter *counters, unsigned int number)
{
	for (unsigned int n = 0; n < number; n++)
		print_named(what, counters[n].meaning, count_of(object, counters[n].name));
}

static void
print_gone_ports(const struct app *app)
{
	for (unsigned int p = 0; p < RTE_DIM(app->port); p++) {
		if (port_is_gone(&app->port[p]))
			printf("  port %-4u %s has gone\n", app->port[p].id, app->port[p].name);
	}
}

static void
print_latency(const json_t *latency)
{
	static const struct counter shares[] = {{"least", ": least"}, {"p50", ", 50 %"},
		{"p90", ", 90 %"}, {"p99", ", 99 %"}, {"p99_9", ", 99.9 %"},
		{"greatest", ", greatest"}};

	printf("  from receive to transmit burst, us");
	for (unsigned int s = 0; s < RTE_DIM(shares); s++)
		printf("%s %.3f", shares[s].meaning,
			(double)count_of(latency, shares[s].name) * US_PER_S /
				(double)rte_get_tsc_hz());
	putchar('\n');
}

void
report_totals(const struct app *app, json_t *stats)
{
	const char *name;
	json_t *count;

	printf("Ran for %.3f seconds\n", app_seconds(app));
	print_count("packets received", count_of(stats, "rx_packets"));
	print_count("packets sent", count_of(stats, "tx_packets"));
	if (count_of(stats, "copies") != 0)
		print_count("copies made for it", count_of(stats, "copies"));
	if (count_of(stats, "answers") != 0)
		print_count("answers among them", count_of(stats, "answers"));
	print_reasons(
		"packets taken up", json_object_get(stats, "taken_up"), taken, RTE_DIM(taken));
	print_reasons("packets dropped", json_object_get(stats, "drops"), drops, RTE_DIM(drops));
	print_reasons("packets lost at devices", json_object_get(stats, "devices"), losses,
		RTE_DIM(losses));
	print_gone_ports(app);
	print_count("NetFC requests", count_of(stats, "netfc_packets"));
	print_count("lanes computed", count_of(stats, "lanes"));
	json_object_foreach(json_object_get(stats, "operations"), name, count)
		print_named("requests of", name, (uint64_t)json_integer_value(count));
	print_reasons("requests refused", json_object_get(stats, "errors"), json_statuses + 1,
		NETFC_STATUS_END - 1);
	report_aggregate(json_object_get(stats, "aggregate"));
	if (app->options.latency)
		print_latency(json_object_get(stats, "latency"));
	if (app->mbufs_kept != 0)
		print_count("packet buffers kept by drivers", app->mbufs_kept);
	if (app->mbufs_leaked != 0)
		print_count("packet buffers lost", app->mbufs_leaked);
	fflush(stdout);
}

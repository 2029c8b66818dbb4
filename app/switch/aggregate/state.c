/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_ether.h>

#include "aggregate/aggregation.h"
#include "json.h"
#include "observe/state.h"

/* Maximum number of jobs listed, a limit of telemetry's answers. */
#define MAX_LISTED 64

/* All of struct aggregate_counters. */
#define CHUNK_COUNTERS_(X)              \
	AGGREGATE_ACTIONS(X)            \
	X(, values, , , "values added") \
	X(, zeros, , , "chunks of zeros, whose values were not sent")
#define CHUNK_ROW_(symbol, name, send, reason, meaning) {#name, meaning},
#define JOB_ROW_(name, meaning) {"jobs_" #name, meaning},

static const struct counter chunk_counters[] = {CHUNK_COUNTERS_(CHUNK_ROW_)};
static const struct counter job_counters[] = {AGGREGATE_JOB_COUNTERS(JOB_ROW_)};
static const struct counter parent_link_counters[] = {PARENT_LINK_COUNTERS(COUNTER_ROW)};
static const struct counter neighbour_counters[] = {NEIGHBOUR_COUNTERS(COUNTER_ROW)};

static json_t *
refused_object(const struct aggregation *aggregation)
{
	uint64_t refused[NETFC_STATUS_END] = {0};

	for (uint32_t s = 0; s < aggregation->shard_count; s++)
		counters_add(refused, aggregation->shard[s].refused, sizeof(refused));
	return json_counts(json_object(), json_statuses + 1, NETFC_STATUS_END - 1, refused + 1);
}

/* The switch above: where it is and how. */
static json_t *
parent_object(const struct app *app)
{
	const struct parent_link *parent_link = app->aggregation->parent_link;
	const struct neighbour *neighbour = &parent_link->neighbour;
	json_t *object = json_object();
	char text[64], mac[RTE_ETHER_ADDR_FMT_SIZE];
	struct neighbour_place place;
	struct parent_link_side sum;

	parent_link_sum(app, &sum);
	address_print(&parent_link->parent, text, sizeof(text));
	json_object_set_new(object, "address", json_string(text));
	json_object_set_new(object, "udp_port", json_integer(parent_link->port));
	if (parent_link->through_gateway) {
		address_print(&neighbour->address, text, sizeof(text));
		json_object_set_new(object, "gateway", json_string(text));
	}
	json_object_set_new(
		object, "state", json_string(parent_link_state_name(parent_link_state(app))));
	if (neighbour_find(neighbour, &place)) {
		rte_ether_format_addr(mac, sizeof(mac), &place.mac);
		json_object_set_new(object, "mac", json_string(mac));
		json_object_set_new(object, "port", json_integer(app->port[place.port].id));
	}
	json_counts(object, parent_link_counters, RTE_DIM(parent_link_counters), &sum.counters);
	return json_counts(
		object, neighbour_counters, RTE_DIM(neighbour_counters), &neighbour->counters);
}

/* The indices of the jobs there are. */
static json_t *
jobs_array(const struct aggregation *aggregation)
{
	json_t *jobs = json_array();
	struct aggregate_info info;

	for (uint32_t j = 0; j < aggregation->limits.jobs; j++) {
		if (json_array_size(jobs) < MAX_LISTED &&
			aggregate_table_info(aggregation->table, (uint16_t)j, &info))
			json_array_append_new(jobs, json_integer(j));
	}
	return jobs;
}

json_t *
state_aggregate(const struct app *app)
{
	const struct aggregation *aggregation = app->aggregation;
	json_t *object = json_object();
	struct aggregate_counters counters;
	struct aggregate_usage usage;
	uint64_t handed_over = 0;

	json_object_set_new(object, "on", json_integer(aggregation != NULL));
	if (aggregation == NULL)
		return object;
	aggregate_table_usage(aggregation->table, &usage);
	aggregation_counters(aggregation, &counters);
	for (uint32_t s = 0; s < aggregation->shard_count; s++)
		handed_over += aggregation->shard[s].handed_over;
	json_object_set_new(object, "takes_jobs", json_boolean(!usage.draining));
	json_object_set_new(object, "udp_port", json_integer(aggregation->port));
	json_object_set_new(object, "shards", json_integer(aggregation->shard_count));
	json_object_set_new(object, "bytes", json_count(aggregation->bytes));
	json_object_set_new(object, "jobs", json_integer(usage.jobs));
	json_object_set_new(object, "slots", json_integer(usage.slots));
	json_object_set_new(object, "most_jobs", json_integer(aggregation->limits.jobs));
	json_object_set_new(object, "most_slots", json_integer(aggregation->limits.slots));
	json_counts(object, job_counters, RTE_DIM(job_counters), &usage.counters);
	json_counts(object, chunk_counters, RTE_DIM(chunk_counters), &counters);
	json_object_set_new(object, "handed_over", json_count(handed_over));
	json_object_set_new(object, "refused", refused_object(aggregation));
	if (aggregation->parent_link != NULL)
		json_object_set_new(object, "parent", parent_object(app));
	json_object_set_new(object, "job_indices", jobs_array(aggregation));
	return object;
}

static void
print_counts(const json_t *object, const struct counter *counters, unsigned int number)
{
	for (unsigned int n = 0; n < number; n++) {
		json_int_t count = json_integer_value(json_object_get(object, counters[n].name));

		if (count != 0)
			printf("  aggregation: %" PRIu64 " %s\n", (uint64_t)count,
				counters[n].meaning);
	}
}

void
report_aggregate(const json_t *aggregate)
{
	const json_t *parent = json_object_get(aggregate, "parent");

	print_counts(aggregate, job_counters, RTE_DIM(job_counters));
	print_counts(aggregate, chunk_counters, RTE_DIM(chunk_counters));
	print_counts(parent, parent_link_counters, RTE_DIM(parent_link_counters));
	print_counts(parent, neighbour_counters, RTE_DIM(neighbour_counters));
}

static json_t *
workers_array(uint64_t bits)
{
	json_t *array = json_array();

	for (unsigned int w = 0; w < AGGREGATE_MAX_WORKERS; w++) {
		if (bits >> w & 1)
			json_array_append_new(array, json_integer(w));
	}
	return array;
}

/* The whole microseconds of so many ticks. */
static uint64_t
microseconds(uint64_t ticks, uint64_t hz)
{
	return ticks / hz * 1000000 + ticks % hz * 1000000 / hz;
}

/* For whom others have waited, by worker: telemetry's arrays have small numbers only. */
static void
set_lateness(json_t *object, const struct aggregate_info *info, uint64_t hz)
{
	json_t *last = json_object(), *waited = json_object();

	for (unsigned int w = 0; w < info->workers; w++) {
		char worker[sizeof("4294967295")];

		snprintf(worker, sizeof(worker), "%u", w);
		json_object_set_new(last, worker, json_count(info->last[w]));
		json_object_set_new(waited, worker, json_count(microseconds(info->waited[w], hz)));
	}
	json_object_set_new(object, "came_last", last);
	json_object_set_new(object, "waited_us", waited);
}

json_t *
state_job(const struct app *app, unsigned int index)
{
	const struct aggregation *aggregation = app->aggregation;
	uint64_t now = rte_rdtsc(), hz = rte_get_tsc_hz();
	struct aggregate_info info;
	json_t *object;

	if (aggregation == NULL || index >= aggregation->limits.jobs ||
		!aggregate_table_info(aggregation->table, (uint16_t)index, &info))
		return NULL;
	object = json_object();
	json_object_set_new(object, "job", json_integer(info.job));
	json_object_set_new(object, "workers", json_integer(info.workers));
	json_object_set_new(object, "slots", json_integer(info.slots));
	json_object_set_new(object, "bytes", json_integer(info.bytes));
	json_object_set_new(object, "open", json_integer(info.open));
	json_object_set_new(object, "levels", json_integer(info.levels));
	json_object_set_new(object, "all_workers", json_integer(info.all_workers));
	json_object_set_new(
		object, "uplink", json_string(aggregate_member_state_name(info.parent_state)));
	if (info.above != AGGREGATE_REASON_NONE)
		json_object_set_new(
			object, "above", json_string(aggregate_reason_name(info.above)));
	json_object_set_new(
		object, "silent_s", json_count(now > info.latest ? (now - info.latest) / hz : 0));
	json_counts(object, chunk_counters, RTE_DIM(chunk_counters), &info.counters);
	/* Workers, in place of the counters of these names. */
	json_object_set_new(object, "joined", workers_array(info.joined));
	json_object_set_new(object, "left", workers_array(info.left));
	json_object_set_new(object, "silent", workers_array(info.silent));
	if (info.failed >= 0)
		json_object_set_new(object, "failed", json_integer(info.failed));
	set_lateness(object, &info, hz);
	return object;
}

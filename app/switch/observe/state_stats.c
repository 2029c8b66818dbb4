/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>
#include <rte_cycles.h>

#include "observe/totals.h"
#include "json/json_value.h"
#include "observe/state.h"

static json_t *
drops_object(const struct packet_counters *packets)
{
	json_t *drops = json_object();

#define SET_DROP_(symbol, name, meaning) \
	json_object_set_new(drops, name, json_count(packets->drops[DROP_##symbol]));
	DROP_REASONS(SET_DROP_)
#undef SET_DROP_
	return drops;
}

static json_t *
errors_object(const struct pipeline_counters *pipeline)
{
	json_t *errors = json_object();

#define SET_ERROR_(symbol, value, name, meaning) \
	if ((value) != NETFC_STATUS_OK)          \
		json_object_set_new(errors, name, json_count(pipeline->errors[value]));
	NETFC_STATUS_CODES(SET_ERROR_)
#undef SET_ERROR_
	return errors;
}

static json_t *
exceptions_object(const struct pipeline_counters *pipeline)
{
	static const char *const names[] = {"invalid", "divbyzero", "overflow", "underflow"};
	json_t *exceptions = json_object();

	for (unsigned int bit = 0; bit < RTE_DIM(names); bit++)
		json_object_set_new(exceptions, names[bit], json_count(pipeline->exceptions[bit]));
	return exceptions;
}

/* Requests by name of the operation: those that there were. */
static json_t *
further_object(const struct pipeline_counters *pipeline, const struct functions *functions)
{
	json_t *further = json_object();

	for (unsigned int number = NETFC_MIN; number < RTE_DIM(pipeline->extended); number++) {
		char name[NETFC_FUNCTION_NAME_SIZE];

		if (pipeline->extended[number] == 0)
			continue;
		functions_name(functions, number, name);
		json_object_set_new(further, name, json_count(pipeline->extended[number]));
	}
	return further;
}

json_t *
state_fdb(const struct fdb *table)
{
	const struct fdb_counters *counters = fdb_counters(table);
	json_t *stations = json_object();

	json_object_set_new(stations, "known", json_count(counters->stations));
	json_object_set_new(stations, "learned", json_count(counters->learned));
	json_object_set_new(stations, "aged", json_count(counters->aged));
	json_object_set_new(stations, "refused", json_count(counters->refused));
	return stations;
}

json_t *
state_device(const struct rte_eth_stats *stats)
{
	json_t *device = json_object();

#define SET_(name, field, meaning) json_object_set_new(device, #name, json_count(stats->field));
	DEVICE_COUNTERS(SET_)
#undef SET_
	return device;
}

void
state_set_counters(json_t *object, const struct functions *functions, const struct totals *totals)
{
#define SET_(name, meaning) json_object_set_new(object, #name, json_count(totals->packets.name));
	PACKET_COUNTERS(SET_)
#undef SET_
	json_object_set_new(object, "drops", drops_object(&totals->packets));
	json_object_set_new(object, "netfc_packets", json_count(totals->pipeline.netfc_packets));
	json_object_set_new(object, "lanes", json_count(totals->pipeline.lanes));
	json_object_set_new(object, "operations", further_object(&totals->pipeline, functions));
	json_object_set_new(object, "errors", errors_object(&totals->pipeline));
	json_object_set_new(object, "exceptions", exceptions_object(&totals->pipeline));
}

json_t *
state_stats(const struct app *app, const struct totals *totals)
{
	json_t *stats = json_object();

	state_set_counters(stats, &app->functions, totals);
	json_object_set_new(stats, "devices", state_device(&totals->devices));
	if (app->fdb != NULL)
		json_object_set_new(stats, "stations", state_fdb(app->fdb));
	if (app->slowloris != NULL)
		json_object_set_new(stats, "slowloris", state_slowloris(app));
	if (app->aggregation != NULL)
		json_object_set_new(stats, "aggregate", state_aggregate(app));
	if (app->options.latency)
		json_object_set_new(stats, "latency", latency_json(app));
	json_object_set_new(stats, "mbufs_in_use", json_count(rte_mempool_in_use_count(app->pool)));
	json_object_set_new(stats, "mbufs_leaked", json_count(app->mbufs_leaked));
	json_object_set_new(stats, "seconds", json_real(app_seconds(app)));
	return stats;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "report.h"

static json_t *
json_count(uint64_t count)
{
	return json_integer((json_int_t)count);
}

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

static json_t *
stations_object(const struct station_table *table)
{
	const struct station_counters *counters = station_table_counters(table);
	json_t *stations = json_object();

	json_object_set_new(stations, "known", json_count(counters->stations));
	json_object_set_new(stations, "learned", json_count(counters->learned));
	json_object_set_new(stations, "aged", json_count(counters->aged));
	json_object_set_new(stations, "refused", json_count(counters->refused));
	return stations;
}

json_t *
report_json(const struct app *app, const struct totals *totals)
{
	json_t *stats = json_object();

	json_object_set_new(stats, "rx_packets", json_count(totals->packets.rx_packets));
	json_object_set_new(stats, "tx_packets", json_count(totals->packets.tx_packets));
	json_object_set_new(stats, "copies", json_count(totals->packets.copies));
	json_object_set_new(stats, "answers", json_count(totals->packets.answers));
	if (app->stations != NULL)
		json_object_set_new(stats, "stations", stations_object(app->stations));
	json_object_set_new(stats, "drops", drops_object(&totals->packets));
	json_object_set_new(stats, "netfc_packets", json_count(totals->pipeline.netfc_packets));
	json_object_set_new(stats, "lanes", json_count(totals->pipeline.lanes));
	json_object_set_new(stats, "errors", errors_object(&totals->pipeline));
	json_object_set_new(stats, "exceptions", exceptions_object(&totals->pipeline));
	json_object_set_new(stats, "mbufs_leaked", json_count(app->mbufs_leaked));
	json_object_set_new(stats, "seconds", json_real(app->seconds));
	return stats;
}

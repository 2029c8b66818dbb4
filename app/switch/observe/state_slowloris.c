/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <stdio.h>

#include <rte_byteorder.h>
#include <rte_lcore.h>

#include "json.h"
#include "observe/state.h"

/* Maximum number of destinations listed, a limit of telemetry's answers. */
#define MAX_LISTED 64

static json_t *
address_json(uint32_t address)
{
	const struct in_addr in = {rte_cpu_to_be_32(address)};
	char text[INET_ADDRSTRLEN];

	return json_string(inet_ntop(AF_INET, &in, text, sizeof(text)));
}

static json_t *
alarms_json(const struct app *app)
{
	struct slowloris_registers registers[MAX_LISTED];
	uint32_t count = slowloris_alarms(app->slowloris, registers, MAX_LISTED);
	json_t *array = json_array();

	for (uint32_t r = 0; r < count; r++)
		json_array_append_new(array, address_json(registers[r].address));
	return array;
}

static void
set_worker_counters(json_t *object, const struct app *app)
{
	struct slowloris_worker_counters sum = {0};
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		const struct slowloris_worker_counters *counters;

		if (app->lcore[lcore_id].slowloris == NULL)
			continue;
		counters = slowloris_worker_counters(app->lcore[lcore_id].slowloris);
#define ADD_(name, meaning) sum.name += counters->name;
		SLOWLORIS_WORKER_COUNTERS(ADD_)
#undef ADD_
	}
#define SET_(name, meaning) json_object_set_new(object, #name, json_count(sum.name));
	SLOWLORIS_WORKER_COUNTERS(SET_)
#undef SET_
}

json_t *
state_slowloris(const struct app *app)
{
	json_t *object = json_object();
	const struct slowloris_counters *counters;
	struct slowloris_memory memory;
	struct slowloris_usage usage;

	json_object_set_new(object, "on", json_integer(app->slowloris != NULL));
	if (app->slowloris == NULL)
		return object;
	slowloris_usage(app->slowloris, &usage);
	memory = slowloris_memory(app->slowloris);
	counters = slowloris_counters(app->slowloris);
	json_object_set_new(object, "connections", json_integer(usage.connections));
	json_object_set_new(object, "half_open", json_integer(usage.half_open));
	json_object_set_new(object, "destinations", json_integer(usage.destinations));
	json_object_set_new(object, "alarms", json_integer(usage.alarms));
	set_worker_counters(object, app);
#define SET_(name, meaning) json_object_set_new(object, #name, json_count(counters->name));
	SLOWLORIS_COUNTERS(SET_)
#undef SET_
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

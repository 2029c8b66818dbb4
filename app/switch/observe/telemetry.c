/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#include "capture/capture.h"
#include "observe/state.h"
#include "capture/trace.h"

/* Bytes that an object may have: an answer has 16 KiB in all. */
#define ROOM 16000

/* The callbacks of DPDK's telemetry take no argument of their own. */
static struct app *served;

static json_t *
show_stats(const struct app *app)
{
	struct totals totals;

	totals_of_all(app, &totals);
	return state_stats(app, &totals);
}

static json_t *
show_lane(const struct app *app, unsigned int lane)
{
	(void)app; /* a trace changes it */
	return trace_json(served, lane);
}

static json_t *
show_trace(const struct app *app)
{
	return show_lane(app, 0);
}

/* Telemetry would leave out what it has no room for, without a word: it is the formats of all. */
static json_t *
show_functions(const struct app *app)
{
	json_t *functions = state_functions(app), *function;
	const char *name;

	if (json_dumpb(functions, NULL, 0, JSON_COMPACT) <= ROOM)
		return functions;
	json_object_foreach(functions, name, function)
	{
		json_object_del(function, "formats");
	}
	return functions;
}

/*
 * All commands: what is answered without a parameter, and to a number or a text if one is taken;
 * NULL: nothing. Help texts may have 63 characters.
 */
static const struct command {
	const char *name, *help;
	json_t *(*all)(const struct app *app);
	json_t *(*by_number)(const struct app *app, unsigned int number);
	json_t *(*by_text)(const struct app *app, const char *text);
	bool waits; /* for packets: others are answered meanwhile */
} commands[] = {
	{"/netfc/config", "The configuration in force. No parameters", .all = state_config},
	{"/netfc/stats", "Counters of all lcores and devices. No parameters", .all = show_stats},
	{"/netfc/port", "The ports, or one of them. Parameter: port id", .all = state_ports,
		.by_number = state_port},
	{"/netfc/lcore", "The lcores, or what one does. Parameter: lcore id", .all = state_lcores,
		.by_number = state_lcore},
	{"/netfc/tables", "The loaded table sets by format. No parameters", .all = state_tables},
	{"/netfc/functions", "The loaded functions, or one. Parameter: its number",
		.all = show_functions, .by_number = state_function},
	{"/netfc/bridge", "The bridge's stations. No parameters", .all = state_bridge},
	{"/netfc/slowloris", "Slowloris detector, or registers. Parameter: IPv4 address",
		.all = state_slowloris, .by_text = state_destination},
	{"/netfc/aggregate", "Aggregations, or one job. Parameter: index of the job",
		.all = state_aggregate, .by_number = state_job},
	{"/netfc/latency", "Latency in TSC cycles. No parameters", .all = latency_json},
	{"/netfc/trace", "A request, and a lane of it by stages. Parameter: lane",
		.all = show_trace, .by_number = show_lane, .waits = true},
	{"/netfc/capture", "The capture, or the last one. No parameters", .all = capture_json},
};

static bool
parse_id(const char *text, unsigned int *id)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (*end != '\0' || errno != 0 || number > UINT16_MAX)
		return false;
	*id = (unsigned int)number;
	return true;
}

/* Parameters are NULL if none were given. */
static json_t *
answer_to(const struct command *command, const char *parameters)
{
	unsigned int number;

	if (parameters == NULL)
		return command->all(served);
	if (command->by_text != NULL)
		return command->by_text(served, parameters);
	return command->by_number != NULL && parse_id(parameters, &number)
		? command->by_number(served, number)
		: NULL;
}

static int put_object(struct rte_tel_data *data, json_t *object);
static int put_array(struct rte_tel_data *data, json_t *array);

static int
put_number(struct rte_tel_data *data, const char *name, uint64_t number)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
	return rte_tel_data_add_dict_uint(data, name, number);
#else
	return rte_tel_data_add_dict_u64(data, name, number);
#endif
}

static int
put_container(struct rte_tel_data *data, const char *name, json_t *value)
{
	struct rte_tel_data *container = rte_tel_data_alloc();
	int error;

	if (container == NULL)
		return -ENOMEM;
	error = json_is_object(value) ? put_object(container, value) : put_array(container, value);
	if (error == 0)
		error = rte_tel_data_add_dict_container(data, name, container, 0);
	if (error != 0)
		rte_tel_data_free(container);
	return error;
}

/*
 * A text as telemetry can have it. Longer ones it would cut in the middle of a character; what is
 * not ASCII it takes for a control character, which makes an answer that is no JSON.
 */
static const char *
plain_text(const json_t *value, char text[RTE_TEL_MAX_STRING_LEN])
{
	size_t length = 0;

	for (const char *at = json_string_value(value); *at != '\0'; at++) {
		const bool goes_on = (*at & 0xc0) == 0x80; /* of a character in UTF-8 */

		if (!goes_on && length < RTE_TEL_MAX_STRING_LEN - 1)
			text[length++] = *at >= ' ' && *at < 0x7f ? *at : '?';
	}
	text[length] = '\0';
	return text;
}

/* Telemetry has no fractions. */
static int
put_value(struct rte_tel_data *data, const char *name, json_t *value)
{
	char text[RTE_TEL_MAX_STRING_LEN];

	switch (json_typeof(value)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		return put_container(data, name, value);
	case JSON_STRING:
		return rte_tel_data_add_dict_string(data, name, plain_text(value, text));
	case JSON_INTEGER:
		return put_number(data, name, (uint64_t)json_integer_value(value));
	case JSON_REAL:
		return put_number(data, name, (uint64_t)json_real_value(value));
	case JSON_TRUE:
	case JSON_FALSE:
	case JSON_NULL:
		return put_number(data, name, json_is_true(value));
	}
	return -EINVAL;
}

static int
put_object(struct rte_tel_data *data, json_t *object)
{
	const char *name;
	json_t *value;
	int error;

	error = rte_tel_data_start_dict(data);
	json_object_foreach(object, name, value)
	{
		if (error == 0)
			error = put_value(data, name, value);
	}
	return error;
}

/* Arrays of texts or of numbers that fit into an int. */
static int
put_array(struct rte_tel_data *data, json_t *array)
{
	bool texts = json_is_string(json_array_get(array, 0));
	char text[RTE_TEL_MAX_STRING_LEN];
	json_t *value;
	size_t i;
	int error;

	error = rte_tel_data_start_array(data, texts ? RTE_TEL_STRING_VAL : RTE_TEL_INT_VAL);
	json_array_foreach(array, i, value)
	{
		if (error != 0)
			break;
		error = texts ? rte_tel_data_add_array_string(data, plain_text(value, text))
			      : rte_tel_data_add_array_int(data, (int)json_integer_value(value));
	}
	return error;
}

static const struct command *
find_command(const char *name)
{
	for (unsigned int c = 0; c < RTE_DIM(commands); c++) {
		if (strcmp(commands[c].name, name) == 0)
			return &commands[c];
	}
	return NULL;
}

static json_t *
show(const char *name, const char *parameters)
{
	const struct command *command = find_command(name);
	pthread_mutex_t *lock =
		command != NULL && command->waits ? &served->trace_lock : &served->state_lock;
	json_t *answer = NULL;

	pthread_mutex_lock(lock);
	if (command != NULL && served->observable)
		answer = answer_to(command, parameters);
	pthread_mutex_unlock(lock);
	return answer;
}

static int
handle(const char *name, const char *parameters, struct rte_tel_data *data)
{
	json_t *answer = show(name, parameters);
	int error;

	if (answer == NULL)
		return -1;
	error = json_is_object(answer) ? put_object(data, answer) : put_array(data, answer);
	json_decref(answer);
	return error;
}

int
telemetry_register(struct app *app)
{
	served = app;
	for (unsigned int c = 0; c < RTE_DIM(commands); c++) {
		int error = rte_telemetry_register_cmd(commands[c].name, handle, commands[c].help);

		if (error == 0)
			continue;
		return REPORT("cannot make the telemetry command %s known: %s\n", commands[c].name,
			rte_strerror(-error));
	}
	return 0;
}

void
telemetry_set_open(struct app *app, bool open)
{
	pthread_mutex_lock(&app->trace_lock);
	pthread_mutex_lock(&app->state_lock);
	app->observable = open;
	pthread_mutex_unlock(&app->state_lock);
	pthread_mutex_unlock(&app->trace_lock);
}

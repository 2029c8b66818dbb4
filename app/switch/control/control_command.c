/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <rte_common.h>
#include <rte_log.h>

#include "app.h"
#include "capture/capture.h"
#include "control/control.h"
#include "json.h"
#include "observe/state.h"
#include "slowloris/defend.h"
#include "tables/tables.h"

/*
 * Each command takes its request, adds its results to the answer, and returns 0; or -1 with an
 * error on `errors` and nothing changed.
 */
typedef int (*command_function)(
	struct app *app, const json_t *request, json_t *answer, FILE *errors);

/* A text of a request, or NULL (reported). */
static const char *
get_text(const json_t *request, const char *name, FILE *errors)
{
	const char *text = json_string_value(json_object_get(request, name));

	if (text == NULL)
		fprintf(errors, "'%s' is missing, or not a string", name);
	return text;
}

/* ---- table sets and functions ---------------------------------------------------------------- */

static const struct exchange {
	const char *name;
	const char *names; /* of the request: what is to be loaded */
	const char *shown; /* of the answer */
	enum tables_change change;
	int (*apply)(struct app *app, enum tables_change change, const char *names, FILE *errors);
	json_t *(*show)(const struct app *app);
} exchanges[] = {
	{"tables", "sets", "tables", TABLES_REPLACE, tables_change, state_tables},
	{"add", "sets", "tables", TABLES_ADD, tables_change, state_tables},
	{"functions", "functions", "functions", TABLES_REPLACE, functions_change, state_functions},
	{"add-functions", "functions", "functions", TABLES_ADD, functions_change, state_functions},
};

static int
do_exchange(struct app *app, const struct exchange *exchange, const json_t *request, json_t *answer,
	FILE *errors)
{
	const char *names = get_text(request, exchange->names, errors);

	if (names == NULL || exchange->apply(app, exchange->change, names, errors) != 0)
		return -1;
	json_object_set_new(answer, exchange->shown, exchange->show(app));
	return 0;
}

/* ---- what can be changed ----------------------------------------------------------------- */

static int
set_ageing(struct app *app, uint32_t value, FILE *errors)
{
	if (app->fdb == NULL) {
		fprintf(errors, "there is no bridge");
		return -1;
	}
	app->options.ageing_s = value;
	fdb_set_ageing(app->fdb, value);
	return 0;
}

static int
set_idle_exit(struct app *app, uint32_t value, FILE *errors)
{
	(void)errors;
	__atomic_store_n(&app->options.idle_exit_ms, value, __ATOMIC_RELAXED);
	return 0;
}

static const struct setting {
	const char *name;
	uint32_t least, greatest;
	int (*set)(struct app *app, uint32_t value, FILE *errors);
} settings[] = {
	{"ageing", 1, MAX_AGEING_S, set_ageing},
	{"idle-exit", 0, MAX_IDLE_EXIT_MS, set_idle_exit},
};

static const struct setting *
find_setting(const char *name, FILE *errors)
{
	for (unsigned int s = 0; s < RTE_DIM(settings); s++) {
		if (strcmp(settings[s].name, name) == 0)
			return &settings[s];
	}
	fprintf(errors, "unknown setting '%s'; known settings:", name);
	for (unsigned int s = 0; s < RTE_DIM(settings); s++)
		fprintf(errors, " %s", settings[s].name);
	slowloris_options_print_names(errors);
	return NULL;
}

/* A rule of the Slowloris detector: its value is what the option takes. */
static int
set_rule(struct app *app, const struct option_row *option, const json_t *value, FILE *errors)
{
	char *number = json_is_number(value)
		? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9))
		: NULL;
	const char *text = number != NULL ? number : json_string_value(value);
	int result = -1;

	if (text == NULL) {
		fprintf(errors, "'value' is missing, or neither a number nor a string");
	} else {
		pthread_mutex_lock(&app->state_lock);
		result = defend_set(app, option, text, errors);
		pthread_mutex_unlock(&app->state_lock);
	}
	free(number);
	return result;
}

static int
set_number(struct app *app, const char *name, const json_t *value, FILE *errors)
{
	const struct setting *setting = find_setting(name, errors);
	json_int_t number = json_integer_value(value);
	int result;

	if (setting == NULL)
		return -1;
	if (!json_is_integer(value) || number < setting->least || number > setting->greatest) {
		fprintf(errors, "'value' of %s: expected a number from %" PRIu32 " to %" PRIu32,
			name, setting->least, setting->greatest);
		return -1;
	}
	pthread_mutex_lock(&app->state_lock);
	result = setting->set(app, (uint32_t)number, errors);
	pthread_mutex_unlock(&app->state_lock);
	return result;
}

static int
do_set(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	const char *name = get_text(request, "name", errors);
	json_t *value = json_object_get(request, "value");
	const struct option_row *rule;
	int result;

	if (name == NULL)
		return -1;
	rule = slowloris_options_find(name);
	result = rule != NULL ? set_rule(app, rule, value, errors)
			      : set_number(app, name, value, errors);
	if (result == 0)
		json_object_set(answer, name, value);
	return result;
}

/* ---- captures ------------------------------------------------------------------------------ */

/* Bytes of a capture's file unless the request states a limit. */
#define CAPTURE_BYTES 100000000

/* Bytes of a packet that are captured unless the request states them. */
#define CAPTURE_SNAPLEN 2048

/* Take a number if the request has it. */
static int
get_number(const json_t *request, const char *name, json_int_t least, json_int_t greatest,
	json_int_t *number, FILE *errors)
{
	const json_t *value = json_object_get(request, name);

	if (value == NULL)
		return 0;
	*number = json_integer_value(value);
	if (json_is_integer(value) && *number >= least && *number <= greatest)
		return 0;
	fprintf(errors,
		"'%s': expected a number from %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT,
		name, least, greatest);
	return -1;
}

static int
start_capture(struct app *app, const json_t *request, FILE *errors)
{
	const char *file = json_string_value(json_object_get(request, "file"));
	json_int_t snaplen = CAPTURE_SNAPLEN, packets = 0, bytes = CAPTURE_BYTES;
	struct capture_request wanted = {.path = file};

	if (file == NULL || file[0] == '\0') {
		fprintf(errors, "'file' is missing, or not a string");
		return -1;
	}
	if (get_number(request, "snaplen", CAPTURE_MIN_SNAPLEN, CAPTURE_MAX_SNAPLEN, &snaplen,
		    errors) != 0 ||
		get_number(request, "packets", 0, INT64_MAX, &packets, errors) != 0 ||
		get_number(request, "bytes", 0, INT64_MAX, &bytes, errors) != 0)
		return -1;
	wanted.snaplen = (uint32_t)snaplen;
	wanted.packets = (uint64_t)packets;
	wanted.bytes = (uint64_t)bytes;
	return capture_start(app, &wanted, errors);
}

/* {"command": "capture", "action": "start" | "stop" | "show", ...} */
static int
do_capture(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	const char *name = json_string_value(json_object_get(request, "action"));
	const char *action = name != NULL ? name : "";
	int result = 0;

	if (strcmp(action, "start") == 0) {
		result = start_capture(app, request, errors);
	} else if (strcmp(action, "stop") == 0) {
		result = capture_stop(app, errors);
	} else if (strcmp(action, "show") != 0) {
		fprintf(errors, "'action': expected one of start stop show");
		result = -1;
	}
	if (result != 0)
		return -1;
	pthread_mutex_lock(&app->state_lock);
	json_object_set_new(answer, "capture", capture_json(app));
	pthread_mutex_unlock(&app->state_lock);
	return 0;
}

/* ---- the rest ------------------------------------------------------------------------------ */

static int
do_log(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	static const char *const names[] = {
		[RTE_LOG_EMERG] = "emergency",
		[RTE_LOG_ALERT] = "alert",
		[RTE_LOG_CRIT] = "critical",
		[RTE_LOG_ERR] = "error",
		[RTE_LOG_WARNING] = "warning",
		[RTE_LOG_NOTICE] = "notice",
		[RTE_LOG_INFO] = "info",
		[RTE_LOG_DEBUG] = "debug",
	};
	const char *pattern = get_text(request, "pattern", errors);
	const char *level = pattern != NULL ? get_text(request, "level", errors) : NULL;

	(void)app;
	if (level == NULL)
		return -1;
	for (uint32_t l = RTE_LOG_EMERG; l < RTE_DIM(names); l++) {
		if (strcmp(level, names[l]) != 0)
			continue;
		if (rte_log_set_level_pattern(pattern, l) != 0) {
			fprintf(errors, "'pattern' does not suit rte_log: '%s'", pattern);
			return -1;
		}
		json_object_set_new(answer, "level", json_string(level));
		return 0;
	}
	fprintf(errors, "'level': expected one of");
	for (uint32_t l = RTE_LOG_EMERG; l < RTE_DIM(names); l++)
		fprintf(errors, " %s", names[l]);
	return -1;
}

static int
do_show(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	(void)request;
	(void)errors;
	json_object_set_new(answer, "config", state_config(app));
	json_object_set_new(answer, "tables", state_tables(app));
	json_object_set_new(answer, "functions", state_functions(app));
	if (app->aggregation != NULL)
		json_object_set_new(answer, "aggregate", state_aggregate(app));
	return 0;
}

static int
do_stop(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	(void)request;
	(void)answer;
	(void)errors;
	app_quit(app);
	return 0;
}

static const struct command {
	const char *name;
	command_function function;
} commands[] = {
	{"set", do_set},
	{"log", do_log},
	{"capture", do_capture},
	{"show", do_show},
	{"stop", do_stop},
};

static int
execute(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	const char *name = get_text(request, "command", errors);

	if (name == NULL)
		return -1;
	for (unsigned int e = 0; e < RTE_DIM(exchanges); e++) {
		if (strcmp(exchanges[e].name, name) == 0)
			return do_exchange(app, &exchanges[e], request, answer, errors);
	}
	for (unsigned int c = 0; c < RTE_DIM(commands); c++) {
		if (strcmp(commands[c].name, name) == 0)
			return commands[c].function(app, request, answer, errors);
	}
	fprintf(errors, "unknown command '%s'; known commands:", name);
	for (unsigned int e = 0; e < RTE_DIM(exchanges); e++)
		fprintf(errors, " %s", exchanges[e].name);
	for (unsigned int c = 0; c < RTE_DIM(commands); c++)
		fprintf(errors, " %s", commands[c].name);
	return -1;
}

static int
parse_and_execute(struct app *app, const char *line, size_t length, json_t *answer, FILE *errors)
{
	json_error_t error;
	json_t *request = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
	int result = -1;

	if (request == NULL)
		fprintf(errors, "not valid JSON, column %d: %s", error.column, error.text);
	else if (!json_is_object(request))
		fprintf(errors, "expected a JSON object");
	else
		result = execute(app, request, answer, errors);
	json_decref(request);
	return result;
}

/* Remove ends of lines from the end. */
static void
trim(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && text[length - 1] == '\n')
		text[--length] = '\0';
}

char *
control_answer(struct app *app, const char *line, size_t length)
{
	json_t *answer = json_object();
	char *error = NULL, *text;
	size_t error_length;
	FILE *errors = open_memstream(&error, &error_length);
	int result;

	if (errors == NULL || answer == NULL) {
		json_decref(answer);
		if (errors != NULL)
			fclose(errors);
		free(error);
		return NULL;
	}
	result = parse_and_execute(app, line, length, answer, errors);
	if (fclose(errors) != 0 || error == NULL)
		result = -1;
	else
		trim(error);
	json_object_set_new(answer, "ok", json_boolean(result == 0));
	if (result != 0)
		json_object_set_new(answer, "error", json_text(error != NULL ? error : ""));
	text = json_dumps(answer, JSON_COMPACT);
	json_decref(answer);
	free(error);
	return text;
}

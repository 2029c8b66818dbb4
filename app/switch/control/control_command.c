/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <rte_common.h>

#include "aggregate/aggregation.h"
#include "app.h"
#include "capture/capture.h"
#include "control/changes.h"
#include "control/control.h"
#include "control/init_file.h"
#include "json.h"
#include "observe/state.h"

/*
 * Each command takes its request, adds its results to the answer, and returns 0; or -1 with an
 * error on `errors` and nothing changed.
 */
typedef int (*command_function)(
	struct app *app, const json_t *request, json_t *answer, FILE *errors);

/* ---- changes ------------------------------------------------------------------------------- */

/* What has changed. */
static void
show_change(const struct app *app, const struct change_kind *kind, const json_t *request,
	json_t *answer)
{
	const char *name = json_string_value(json_object_get(request, "name"));

	if (strcmp(kind->command, "set") == 0)
		json_object_set(answer, name, json_object_get(request, "value"));
	else if (strcmp(kind->command, "log") == 0)
		json_object_set(answer, "level", json_object_get(request, "level"));
	else if (strcmp(kind->fields[0], "sets") == 0)
		json_object_set_new(answer, "tables", state_tables(app));
	else
		json_object_set_new(answer, "functions", state_functions(app));
}

static int
do_change(struct app *app, const struct change_kind *kind, const json_t *request, json_t *answer,
	FILE *errors)
{
	struct changes *changes = changes_begin(app);
	int result = -1;

	if (changes == NULL)
		fprintf(errors, "no memory for a change");
	else if (changes_add(changes, kind, request, errors) == 0)
		result = changes_make(changes, errors);
	if (result == 0)
		show_change(app, kind, request, answer);
	changes_free(changes);
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
do_show(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	(void)request;
	(void)errors;
	pthread_mutex_lock(&app->state_lock);
	json_object_set_new(answer, "config", state_config(app));
	json_object_set_new(answer, "tables", state_tables(app));
	json_object_set_new(answer, "functions", state_functions(app));
	if (app->aggregation != NULL)
		json_object_set_new(answer, "aggregate", state_aggregate(app));
	pthread_mutex_unlock(&app->state_lock);
	return 0;
}

/* Do what the file of --init says once more. */
static int
do_reload(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	(void)request;
	if (app->options.init == NULL) {
		fprintf(errors, "there is no file of commands (--init)");
		return -1;
	}
	if (init_file_do(app, app->options.init, errors) != 0)
		return -1;
	json_object_set_new(answer, "file", json_text(app->options.init));
	return 0;
}

/* Take no new jobs; the main lcore ends the switch when the last has ended. */
static int
do_drain(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	struct aggregate_usage usage = {0};

	(void)request;
	(void)errors;
	if (app->aggregation == NULL) {
		app_quit(app);
	} else {
		aggregate_table_drain(app->aggregation->table);
		aggregate_table_usage(app->aggregation->table, &usage);
	}
	json_object_set_new(answer, "jobs", json_integer(usage.jobs));
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
	{"capture", do_capture},
	{"show", do_show},
	{"reload", do_reload},
	{"drain", do_drain},
	{"stop", do_stop},
};

static int
execute(struct app *app, const json_t *request, json_t *answer, FILE *errors)
{
	const char *name = json_string_value(json_object_get(request, "command"));
	const struct change_kind *kind;

	if (name == NULL) {
		fprintf(errors, "'command' is missing, or not a string");
		return -1;
	}
	kind = change_kind_find(name);
	if (kind != NULL)
		return do_change(app, kind, request, answer, errors);
	for (unsigned int c = 0; c < RTE_DIM(commands); c++) {
		if (strcmp(commands[c].name, name) == 0)
			return commands[c].function(app, request, answer, errors);
	}
	fprintf(errors, "unknown command '%s'; known commands:", name);
	change_kinds_print(errors);
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

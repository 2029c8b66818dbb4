/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines on the control channel. Nothing is built: what commands would do is only looked at. */
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "control/control.h"
#include "slowloris/slowloris_filter.h"
#include "fuzz.h"
#include "observe/state.h"
#include "tables/tables.h"

static struct app app;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	pthread_mutex_init(&app.state_lock, NULL);
	pthread_mutex_init(&app.change_lock, NULL);
	return 0;
}

/* ---- in the place of what commands do ----------------------------------------------------- */

struct generation {
	unsigned int steps;
};

struct generation *
tables_plan(const struct app *changed)
{
	FUZZ_CHECK(changed == &app);
	return calloc(1, sizeof(struct generation));
}

int
tables_plan_sets(const struct app *changed, struct generation *plan, enum tables_change change,
	const char *names, FILE *errors)
{
	FUZZ_CHECK(changed == &app && (change == TABLES_REPLACE || change == TABLES_ADD));
	plan->steps++;
	if (strlen(names) % 2 == 0)
		return 0;
	fprintf(errors, "refused: %s\n", names);
	return -1;
}

int
tables_plan_functions(const struct app *changed, struct generation *plan, enum tables_change change,
	const char *names, FILE *errors)
{
	return tables_plan_sets(changed, plan, change, names, errors);
}

int
tables_put(struct app *changed, struct generation *plan, FILE *errors)
{
	(void)errors;
	FUZZ_CHECK(changed == &app && plan->steps == 1);
	return 0;
}

void
tables_plan_free(const struct app *changed, struct generation *plan)
{
	FUZZ_CHECK(changed == &app);
	free(plan);
}

void
fdb_set_ageing(struct fdb *table, uint32_t ageing_s)
{
	FUZZ_CHECK(table == app.fdb && ageing_s >= 1 && ageing_s <= MAX_AGEING_S);
}

void
slowloris_filter_set(struct app *changed, const struct slowloris_options *options)
{
	FUZZ_CHECK(changed == &app && options->on);
	app.options.slowloris = *options;
}

json_t *
state_config(const struct app *shown)
{
	return json_integer(shown->options.idle_exit_ms);
}

json_t *
state_tables(const struct app *shown)
{
	return json_integer(shown->options.ageing_s);
}

json_t *
state_functions(const struct app *shown)
{
	return json_integer(shown->options.stations);
}

json_t *
state_aggregate(const struct app *shown)
{
	return json_integer(shown->options.stations);
}

int
capture_start(struct app *changed, const struct capture_request *request, FILE *errors)
{
	FUZZ_CHECK(changed == &app && request->path[0] != '\0');
	FUZZ_CHECK(
		request->snaplen >= CAPTURE_MIN_SNAPLEN && request->snaplen <= CAPTURE_MAX_SNAPLEN);
	FUZZ_CHECK(request->packets <= INT64_MAX && request->bytes <= INT64_MAX);
	if (strlen(request->path) % 2 == 0)
		return 0;
	fprintf(errors, "cannot make '%s'", request->path);
	return -1;
}

int
capture_stop(struct app *changed, FILE *errors)
{
	FUZZ_CHECK(changed == &app);
	fprintf(errors, "there is no capture");
	return -1;
}

json_t *
capture_json(const struct app *shown)
{
	FUZZ_CHECK(shown == &app);
	return json_object();
}

/* ---- memory that is short ----------------------------------------------------------------- */

FILE *__real_open_memstream(char **text, size_t *length);
FILE *__wrap_open_memstream(char **text, size_t *length);

static bool memory_is_short;

FILE *
__wrap_open_memstream(char **text, size_t *length)
{
	return memory_is_short ? NULL : __real_open_memstream(text, length);
}

/* ---- a line ------------------------------------------------------------------------------- */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line, *text;
	json_t *answer;

	if (size == 0 || size - 1 > CONTROL_LINE_BYTES)
		return 0;
	memory_is_short = (data[0] & 2) != 0;
	app.fdb = (data[0] & 1) != 0 ? (struct fdb *)&app : NULL;
	app.options.forward = (data[0] & 1) != 0 ? FORWARD_BRIDGE : FORWARD_PAIR;
	app.options.slowloris.on = (data[0] & 1) != 0;
	line = malloc(size);
	FUZZ_CHECK(line != NULL);
	memcpy(line, data + 1, size - 1);
	text = control_answer(&app, line, size - 1);
	free(line);
	FUZZ_CHECK((text == NULL) == memory_is_short);
	if (text == NULL)
		return 0;
	FUZZ_CHECK(strchr(text, '\n') == NULL);
	answer = json_loads(text, 0, NULL);
	FUZZ_CHECK(json_is_boolean(json_object_get(answer, "ok")));
	FUZZ_CHECK(json_is_true(json_object_get(answer, "ok")) ==
		(json_object_get(answer, "error") == NULL));
	json_decref(answer);
	free(text);
	return 0;
}

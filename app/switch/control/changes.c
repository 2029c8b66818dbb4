/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <rte_common.h>
#include <rte_log.h>

#include "control/changes.h"
#include "slowloris/slowloris_filter.h"
#include "tables/tables.h"

/* ---- numbers that can be set ----------------------------------------------------------------- */

static bool
has_bridge(const struct app *app, FILE *errors)
{
	if (app->options.forward == FORWARD_BRIDGE)
		return true;
	fprintf(errors, "there is no bridge; --forward bridge makes one");
	return false;
}

static void
set_ageing(struct app *app, uint32_t value)
{
	app->options.ageing_s = value;
	fdb_set_ageing(app->fdb, value);
}

static void
set_idle_exit(struct app *app, uint32_t value)
{
	__atomic_store_n(&app->options.idle_exit_ms, value, __ATOMIC_RELAXED);
}

static const struct setting {
	const char *name;
	uint32_t least, greatest;
	bool (*suits)(const struct app *app, FILE *errors); /* NULL: any switch */
	void (*set)(struct app *app, uint32_t value);
} settings[] = {
	{"ageing", 1, MAX_AGEING_S, has_bridge, set_ageing},
	{"idle-exit", 0, MAX_IDLE_EXIT_MS, NULL, set_idle_exit},
};

/* ---- changes --------------------------------------------------------------------------------- */

struct log_change {
	char *pattern;
	uint32_t level;
};

struct changes {
	struct app *app;
	struct generation *tables;          /* NULL: as they are */
	struct slowloris_options slowloris; /* in force, or to be */
	bool has_rules, has_value[RTE_DIM(settings)];
	uint32_t value[RTE_DIM(settings)];
	unsigned int log_count;
	struct log_change *logs;
};

/* How table sets or functions change. */
struct exchange {
	enum tables_change change;
	int (*plan)(const struct app *app, struct generation *plan, enum tables_change change,
		const char *names, FILE *errors);
};

/* A text of a request, or NULL (reported). */
static const char *
get_text(const json_t *request, const char *name, FILE *errors)
{
	const char *text = json_string_value(json_object_get(request, name));

	if (text == NULL)
		fprintf(errors, "'%s' is missing, or not a string", name);
	return text;
}

bool
changes_may_read(const struct app *app, const char *path, FILE *errors)
{
	struct stat status;

	if (!app->commanded || stat(path, &status) != 0 || !S_ISFIFO(status.st_mode))
		return true;
	REPORT_TO(errors, "'%s': a pipe, which a switch that runs does not wait for\n", path);
	return false;
}

/* Those of a list that are files. */
static bool
may_read_all(const struct app *app, const char *names, FILE *errors)
{
	char *items = strdup(names), *rest = items, *item;
	bool may = items != NULL || REPORT_TO(errors, "no memory for a change\n") == 0;

	while (may && (item = strsep(&rest, ",")) != NULL)
		may = !(is_path(item, NETFC_FILE_SUFFIX) ||
			      is_path(item, NETFC_FUNCTION_FILE_SUFFIX)) ||
			changes_may_read(app, item, errors);
	free(items);
	return may;
}

static int
add_exchange(
	struct changes *changes, const struct exchange *exchange, const char *names, FILE *errors)
{
	if (names == NULL || !may_read_all(changes->app, names, errors))
		return -1;
	if (changes->tables == NULL)
		changes->tables = tables_plan(changes->app);
	if (changes->tables == NULL)
		return REPORT_TO(errors, "no memory for a change\n");
	return exchange->plan(changes->app, changes->tables, exchange->change, names, errors);
}

/* A rule of the Slowloris detector: its value is what the option takes. */
static int
add_rule(
	struct changes *changes, const struct option_row *option, const json_t *value, FILE *errors)
{
	char *number = json_is_number(value)
		? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9))
		: NULL;
	const char *text = number != NULL ? number : json_string_value(value);
	int result = -1;

	if (text == NULL)
		fprintf(errors, "'value' is missing, or neither a number nor a string");
	else if (!changes->app->options.slowloris.on)
		fprintf(errors, "there is no Slowloris detector (--slowloris)");
	else if (option_take(errors, option, text, &changes->slowloris) == 0)
		result = slowloris_options_check(&changes->slowloris, errors);
	changes->has_rules |= result == 0;
	free(number);
	return result;
}

static int
refuse_setting(const char *name, FILE *errors)
{
	fprintf(errors, "unknown setting '%s'; known settings:", name);
	for (unsigned int s = 0; s < RTE_DIM(settings); s++)
		fprintf(errors, " %s", settings[s].name);
	slowloris_options_print_names(errors);
	return -1;
}

static int
add_number(struct changes *changes, const char *name, const json_t *value, FILE *errors)
{
	json_int_t number = json_integer_value(value);
	unsigned int s = 0;

	while (s < RTE_DIM(settings) && strcmp(settings[s].name, name) != 0)
		s++;
	if (s == RTE_DIM(settings))
		return refuse_setting(name, errors);
	if (!json_is_integer(value) || number < settings[s].least ||
		number > settings[s].greatest) {
		fprintf(errors, "'value' of %s: expected a number from %" PRIu32 " to %" PRIu32,
			name, settings[s].least, settings[s].greatest);
		return -1;
	}
	if (settings[s].suits != NULL && !settings[s].suits(changes->app, errors))
		return -1;
	changes->value[s] = (uint32_t)number;
	changes->has_value[s] = true;
	return 0;
}

static int
add_setting(struct changes *changes, const json_t *request, FILE *errors)
{
	const char *name = get_text(request, "name", errors);
	const json_t *value = json_object_get(request, "value");
	const struct option_row *rule;

	if (name == NULL)
		return -1;
	rule = slowloris_options_find(name);
	return rule != NULL ? add_rule(changes, rule, value, errors)
			    : add_number(changes, name, value, errors);
}

/* The number of a log level; 0 (reported): there is none of that name. */
static uint32_t
find_level(const char *level, FILE *errors)
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

	for (uint32_t l = RTE_LOG_EMERG; l < RTE_DIM(names); l++) {
		if (strcmp(level, names[l]) == 0)
			return l;
	}
	fprintf(errors, "'level': expected one of");
	for (uint32_t l = RTE_LOG_EMERG; l < RTE_DIM(names); l++)
		fprintf(errors, " %s", names[l]);
	return 0;
}

static int
add_log(struct changes *changes, const json_t *request, FILE *errors)
{
	const char *pattern = get_text(request, "pattern", errors);
	const char *name = pattern != NULL ? get_text(request, "level", errors) : NULL;
	uint32_t level = name != NULL ? find_level(name, errors) : 0;
	struct log_change *logs;
	char *copy;

	if (level == 0)
		return -1;
	logs = realloc(changes->logs, (changes->log_count + 1) * sizeof(*logs));
	if (logs != NULL)
		changes->logs = logs;
	copy = logs != NULL ? strdup(pattern) : NULL;
	if (copy == NULL)
		return REPORT_TO(errors, "no memory for a change\n");
	logs[changes->log_count++] = (struct log_change){copy, level};
	return 0;
}

/* ---- their commands -------------------------------------------------------------------------- */

static const struct kind {
	struct change_kind shown; /* first */
	int (*add)(struct changes *changes, const json_t *request, FILE *errors);
	struct exchange exchange; /* of kinds without the function */
} kinds[] = {
	{{"tables", {"sets"}}, NULL, {TABLES_REPLACE, tables_plan_sets}},
	{{"add", {"sets"}}, NULL, {TABLES_ADD, tables_plan_sets}},
	{{"functions", {"functions"}}, NULL, {TABLES_REPLACE, tables_plan_functions}},
	{{"add-functions", {"functions"}}, NULL, {TABLES_ADD, tables_plan_functions}},
	{{"set", {"name", "value"}}, add_setting, {0}},
	{{"log", {"pattern", "level"}}, add_log, {0}},
};

const struct change_kind *
change_kind_find(const char *command)
{
	for (unsigned int k = 0; k < RTE_DIM(kinds); k++) {
		if (strcmp(kinds[k].shown.command, command) == 0)
			return &kinds[k].shown;
	}
	return NULL;
}

void
change_kinds_print(FILE *out)
{
	for (unsigned int k = 0; k < RTE_DIM(kinds); k++)
		fprintf(out, " %s", kinds[k].shown.command);
}

/* ---- made together --------------------------------------------------------------------------- */

struct changes *
changes_begin(struct app *app)
{
	struct changes *changes = calloc(1, sizeof(*changes));

	if (changes == NULL)
		return NULL;
	pthread_mutex_lock(&app->change_lock);
	changes->app = app;
	changes->slowloris = app->options.slowloris;
	return changes;
}

int
changes_add(struct changes *changes, const struct change_kind *kind, const json_t *request,
	FILE *errors)
{
	const struct kind *known = (const struct kind *)kind;

	if (known->add != NULL)
		return known->add(changes, request, errors);
	return add_exchange(
		changes, &known->exchange, get_text(request, kind->fields[0], errors), errors);
}

/* Nothing of this fails. */
static void
set_all(struct changes *changes)
{
	struct app *app = changes->app;

	pthread_mutex_lock(&app->state_lock);
	for (unsigned int s = 0; s < RTE_DIM(settings); s++) {
		if (changes->has_value[s])
			settings[s].set(app, changes->value[s]);
	}
	if (changes->has_rules)
		slowloris_filter_set(app, &changes->slowloris);
	pthread_mutex_unlock(&app->state_lock);
}

int
changes_make(struct changes *changes, FILE *errors)
{
	if (changes->tables != NULL && tables_put(changes->app, changes->tables, errors) != 0)
		return -1;
	set_all(changes);
	/* It fails only where there is no memory to remember the level for logs that come later. */
	for (unsigned int l = 0; l < changes->log_count; l++)
		rte_log_set_level_pattern(changes->logs[l].pattern, changes->logs[l].level);
	return 0;
}

void
changes_free(struct changes *changes)
{
	if (changes == NULL)
		return;
	tables_plan_free(changes->app, changes->tables);
	for (unsigned int l = 0; l < changes->log_count; l++)
		free(changes->logs[l].pattern);
	free(changes->logs);
	pthread_mutex_unlock(&changes->app->change_lock);
	free(changes);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "tables/tables.h"
#include "observe/state.h"

struct generation {
	struct sets sets;
	struct functions functions;
	struct pipeline *pipeline[RTE_MAX_NUMA_NODES];
	struct pipeline_worker *worker[RTE_MAX_LCORE];
};

static bool
has_wide_slots(const struct loaded_function *function)
{
	return netfc_wire_slot_bytes(function->number, netfc_format_id(function->format)) == 4;
}

/* The functions in the pipeline's form; free() it. NULL if memory is short. */
static struct pipeline_function *
describe_functions(const struct functions *functions)
{
	struct pipeline_function *described = calloc(functions->count + 1, sizeof(*described));

	for (unsigned int f = 0; f < functions->count && described != NULL; f++) {
		const struct loaded_function *function = functions->function[f];

		described[f] = (struct pipeline_function){
			.name = function->name,
			.number = function->number,
			.format = (uint8_t)netfc_format_id(function->format),
			.z = has_wide_slots(function) ? NULL : function->z,
			.flags = function->flags,
		};
	}
	return described;
}

static int
create_pipeline(const struct options *options, struct generation *generation, unsigned int socket,
	FILE *errors)
{
	struct pipeline_function *functions = describe_functions(&generation->functions);
	struct pipeline_config config = {
		.match = options->match,
		.isa = vector_isa_best(),
		.udp_port = options->udp_port,
		.queries = options->slowloris.on,
		.socket_id = (int)socket,
		.functions = functions,
		.function_count = generation->functions.count,
	};
	int error = -ENOMEM;

	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++)
		config.sets[format] = generation->sets.by_format[format];
	if (functions != NULL)
		error = pipeline_create(&config, &generation->pipeline[socket]);
	free(functions);
	if (error == 0)
		return 0;
	return REPORT_TO(errors, "cannot make the %s match stages: %s%s\n",
		match_kind_name(options->match), rte_strerror(-error),
		error == -ENOMEM
			? "; give the EAL more memory (lpm: -m 80 for each table; else -m 128 is enough; "
			  "0.25 for each function of a format)"
			: "");
}

/* Tables on each socket in use, so that no look-up goes to another. */
static int
create_pipelines(const struct app *app, struct generation *generation, FILE *errors)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		unsigned int socket = rte_lcore_to_socket_id(lcore_id);

		if (generation->pipeline[socket] == NULL && lcore_in_use(app, lcore_id) &&
			create_pipeline(&app->options, generation, socket, errors) != 0)
			return -1;
	}
	return 0;
}

static int
create_workers(const struct app *app, struct generation *generation, FILE *errors)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		unsigned int socket = rte_lcore_to_socket_id(lcore_id);

		if (!lcore_works(&app->lcore[lcore_id]))
			continue;
		generation->worker[lcore_id] =
			pipeline_worker_create(generation->pipeline[socket], (int)socket);
		if (generation->worker[lcore_id] != NULL)
			continue;
		return REPORT_TO(errors,
			"no memory for an lcore's working memory; give the EAL more (-m MB)\n");
	}
	return 0;
}

/* All of it but functions that are kept. */
static void
free_generation(struct generation *generation, const struct functions *kept)
{
	for (unsigned int lcore_id = 0; lcore_id < RTE_MAX_LCORE; lcore_id++)
		pipeline_worker_free(generation->worker[lcore_id]);
	for (unsigned int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++)
		pipeline_free(generation->pipeline[socket]);
	functions_free(&generation->functions, kept);
	sets_free(&generation->sets);
}

/* Put a generation in place, and take out what was there. */
static void
exchange(struct app *app, struct generation *generation)
{
	struct generation before = {.sets = app->sets, .functions = app->functions};
	unsigned int lcore_id;

	memcpy(before.pipeline, app->pipeline, sizeof(before.pipeline));
	memcpy(app->pipeline, generation->pipeline, sizeof(app->pipeline));
	app->sets = generation->sets;
	app->functions = generation->functions;
	RTE_LCORE_FOREACH (lcore_id)
		before.worker[lcore_id] = __atomic_exchange_n(&app->lcore[lcore_id].worker,
			generation->worker[lcore_id], __ATOMIC_ACQ_REL);
	*generation = before;
}

int
tables_start(struct app *app)
{
	struct generation generation = {.sets = app->sets, .functions = app->functions};
	int result = create_pipelines(app, &generation, stderr);

	if (result == 0)
		result = create_workers(app, &generation, stderr);
	exchange(app, &generation);
	return result;
}

/* Keep the sets in use of formats for which none was named. */
static void
share_others(struct sets *sets, const struct sets *used)
{
	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++) {
		if (sets->by_format[format] != NULL)
			continue;
		sets->by_format[format] = used->by_format[format];
		sets->origin[format] = used->origin[format];
	}
}

/* Before they are freed: leave out the sets that are in use. */
static void
leave_shared(struct sets *sets, const struct sets *used)
{
	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++) {
		if (sets->by_format[format] != used->by_format[format])
			continue;
		sets->by_format[format] = NULL;
		sets->origin[format] = NULL;
	}
}

/* Nobody reads the counters while some are in both places, or in none. */
static void
exchange_running(struct app *app, struct generation *generation)
{
	pthread_mutex_lock(&app->trace_lock);
	pthread_mutex_lock(&app->state_lock);
	exchange(app, generation);
	rte_rcu_qsbr_synchronize(app->qsbr, RTE_QSBR_THRID_INVALID);
	for (unsigned int lcore_id = 0; lcore_id < RTE_MAX_LCORE; lcore_id++) {
		if (generation->worker[lcore_id] != NULL)
			counters_add(&app->lcore[lcore_id].retired,
				pipeline_worker_counters(generation->worker[lcore_id]),
				sizeof(struct pipeline_counters));
	}
	pthread_mutex_unlock(&app->state_lock);
	pthread_mutex_unlock(&app->trace_lock);
}

struct generation *
tables_plan(const struct app *app)
{
	struct generation *plan = calloc(1, sizeof(*plan));

	if (plan != NULL) {
		plan->sets = app->sets;
		plan->functions = app->functions;
	}
	return plan;
}

/* Free what neither a plan nor the application has. */
static void
free_others(const struct app *app, const struct generation *plan, struct generation *others)
{
	leave_shared(&others->sets, &plan->sets);
	leave_shared(&others->sets, &app->sets);
	sets_free(&others->sets);
	functions_leave(&others->functions, &plan->functions);
	functions_free(&others->functions, &app->functions);
}

/* Take a step of a plan, or leave it out. */
static int
end_step(const struct app *app, struct generation *plan, struct generation *next, int result)
{
	struct generation others = result == 0 ? *plan : *next;

	if (result == 0)
		*plan = *next;
	free_others(app, plan, &others);
	return result;
}

int
tables_plan_sets(const struct app *app, struct generation *plan, enum tables_change change,
	const char *names, FILE *errors)
{
	struct generation next = {0};
	struct options options = app->options;
	int result;

	options.tables = names;
	result = sets_load(&options, &next.sets, errors);
	if (change == TABLES_ADD)
		share_others(&next.sets, &plan->sets);
	if (result == 0)
		result = functions_follow(&next.sets, &plan->functions, &next.functions, errors);
	return end_step(app, plan, &next, result);
}

int
tables_plan_functions(const struct app *app, struct generation *plan, enum tables_change change,
	const char *names, FILE *errors)
{
	struct generation next = {.sets = plan->sets};
	int result = 0;

	if (*names != '\0')
		result = functions_load(
			names, &plan->sets, &plan->functions, &next.functions, errors);
	if (result == 0 && change == TABLES_ADD)
		result = functions_share_others(&plan->functions, &next.functions, errors);
	return end_step(app, plan, &next, result);
}

int
tables_put(struct app *app, struct generation *plan, FILE *errors)
{
	int result = create_pipelines(app, plan, errors);

	if (result == 0)
		result = create_workers(app, plan, errors);
	if (result == 0)
		exchange_running(app, plan);
	return result;
}

void
tables_plan_free(const struct app *app, struct generation *plan)
{
	if (plan == NULL)
		return;
	leave_shared(&plan->sets, &app->sets);
	free_generation(plan, &app->functions);
	free(plan);
}

void
tables_free(struct app *app)
{
	struct generation none = {0};

	exchange(app, &none);
	free_generation(&none, &app->functions);
}

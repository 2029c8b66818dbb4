/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_memory.h>

#include "measure.h"

/* Put lanes of the capture into a batch; returns how many. */
static unsigned int
load_batch(const struct microbench *bench, uint32_t first, struct netfc_lanes *lanes)
{
	unsigned int count = RTE_MIN(bench->lanes - first, (uint32_t)NETFC_BATCH);

	for (unsigned int l = 0; l < count; l++) {
		lanes->field[NETFC_X][l] = bench->capture.x[first + l];
		lanes->field[NETFC_Y][l] = bench->capture.y[first + l];
		lanes->field[NETFC_OP][l] = bench->capture.op - NETFC_ADD;
	}
	return count;
}

/* Run a batch by the tables' entries, and keep the keys that it looks up. */
static void
record_batch(
	struct microbench *bench, uint32_t first, struct netfc_lanes *lanes, unsigned int count)
{
	unsigned int l = 0;

	for (unsigned int s = 0; s < bench->program->step_count; s++) {
		const struct netfc_step *step = &bench->program->step[s];
		const struct look_up *look_up = &bench->look_up[l];

		if (step->kind != NETFC_STEP_LOOKUP) {
			netfc_step_run(step, lanes, count);
			continue;
		}
		memcpy(look_up->keys + first, lanes->field[step->a], count * sizeof(uint32_t));
		for (unsigned int i = 0; i < count; i++)
			lanes->field[step->dst][i] =
				netfc_table_entries(look_up->table)[look_up->keys[first + i]];
		l++;
	}
}

/* A program may look up in a table more than once: all by one stage. */
static int
create_stage(struct microbench *bench, struct look_up *look_up)
{
	enum match_kind kind = look_up->is_match ? bench->kind : MATCH_DIRECT;

	for (const struct look_up *other = bench->look_up; other < look_up; other++) {
		if (other->table != look_up->table)
			continue;
		look_up->stage = other->stage;
		look_up->is_shared = true;
		return 0;
	}
	return match_create(kind, look_up->table, SOCKET_ID_ANY, &look_up->stage);
}

static int
add_look_up(struct microbench *bench, const struct netfc_step *step)
{
	struct look_up *look_up = &bench->look_up[bench->look_up_count++];
	int error;

	look_up->table = netfc_set_table(bench->set, step->table);
	look_up->is_match = netfc_table_is_match(look_up->table);
	look_up->keys = calloc(bench->lanes, sizeof(*look_up->keys));
	if (look_up->keys == NULL)
		return -ENOMEM;
	error = create_stage(bench, look_up);
	/* An engine that computes without tables has no stages. */
	if (error == -ENOTSUP) {
		bench->has_stages = false;
		return 0;
	}
	return error;
}

int
look_ups_create(struct microbench *bench)
{
	static struct netfc_lanes lanes;
	int error = 0;

	bench->has_stages = true;
	for (unsigned int s = 0; s < bench->program->step_count && error == 0; s++) {
		if (bench->program->step[s].kind == NETFC_STEP_LOOKUP)
			error = add_look_up(bench, &bench->program->step[s]);
	}
	if (error != 0) {
		fprintf(stderr, PROGRAM ": cannot make the match stages: %s\n",
			rte_strerror(-error));
		return -1;
	}
	for (uint32_t first = 0; first < bench->lanes; first += NETFC_BATCH)
		record_batch(bench, first, &lanes, load_batch(bench, first, &lanes));
	return 0;
}

void
look_ups_free(struct microbench *bench)
{
	for (unsigned int l = 0; l < bench->look_up_count; l++) {
		if (!bench->look_up[l].is_shared)
			match_free(bench->look_up[l].stage);
		free(bench->look_up[l].keys);
	}
}

uint64_t
measure_look_ups(const struct microbench *bench)
{
	uint32_t values[NETFC_BATCH];
	uint64_t start = rte_rdtsc_precise();

	for (uint32_t first = 0; first < bench->lanes; first += NETFC_BATCH) {
		unsigned int count = RTE_MIN(bench->lanes - first, (uint32_t)NETFC_BATCH);

		for (unsigned int l = 0; l < bench->look_up_count; l++) {
			const struct look_up *look_up = &bench->look_up[l];

			if (look_up->is_match)
				match_lookup(look_up->stage, look_up->keys + first, values, count);
		}
	}
	return rte_rdtsc_precise() - start;
}

/* What reading the clock costs by itself. */
static uint64_t
clock_cycles(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < 100; i++) {
		uint64_t start = rte_rdtsc_precise();

		least = RTE_MIN(least, rte_rdtsc_precise() - start);
	}
	return least;
}

static void
run_step(const struct microbench *bench, const struct netfc_step *step, struct netfc_lanes *lanes,
	unsigned int count, unsigned int *look_up)
{
	if (step->kind == NETFC_STEP_LOOKUP)
		match_lookup(bench->look_up[(*look_up)++].stage, lanes->field[step->a],
			lanes->field[step->dst], count);
	else
		netfc_step_run(step, lanes, count);
}

void
measure_steps(const struct microbench *bench, struct step_cycles *cycles)
{
	const uint64_t clock = clock_cycles();
	static struct netfc_lanes lanes;

	*cycles = (struct step_cycles){0};
	for (uint32_t first = 0; first < bench->lanes; first += NETFC_BATCH) {
		unsigned int count = load_batch(bench, first, &lanes), look_up = 0;

		for (unsigned int s = 0; s < bench->program->step_count; s++) {
			uint64_t start = rte_rdtsc_precise(), taken;

			run_step(bench, &bench->program->step[s], &lanes, count, &look_up);
			taken = rte_rdtsc_precise() - start;
			cycles->step[s] += taken > clock ? taken - clock : 0;
		}
	}
}

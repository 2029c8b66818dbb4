/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_lpm.h>
#include <rte_memory.h>

#include "match.h"
#include "timing.h"

/* Put lanes of the capture into a batch; returns how many. */
static unsigned int
load_batch(const struct parts *parts, uint32_t first, struct netfc_lanes *lanes)
{
	unsigned int count = RTE_MIN(parts->lanes - first, (uint32_t)NETFC_BATCH);

	for (unsigned int l = 0; l < count; l++) {
		lanes->field[NETFC_X][l] = parts->capture->x[first + l];
		lanes->field[NETFC_Y][l] = parts->capture->y[first + l];
		lanes->field[NETFC_OP][l] = parts->capture->op - NETFC_ADD;
	}
	return count;
}

/* Run a batch by the tables' entries, and keep the keys that it looks up. */
static void
record_batch(struct parts *parts, uint32_t first, struct netfc_lanes *lanes, unsigned int count)
{
	unsigned int l = 0;

	for (unsigned int s = 0; s < parts->program->step_count; s++) {
		const struct netfc_step *step = &parts->program->step[s];
		const struct look_up *look_up = &parts->look_up[l];

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
create_stage(struct parts *parts, struct look_up *look_up)
{
	enum match_kind kind = look_up->is_match ? parts->kind : MATCH_DIRECT;

	for (const struct look_up *other = parts->look_up; other < look_up; other++) {
		if (other->table != look_up->table)
			continue;
		look_up->stage = other->stage;
		look_up->is_shared = true;
		return 0;
	}
	return match_create(kind, look_up->table, SOCKET_ID_ANY, &look_up->stage);
}

static int
add_look_up(struct parts *parts, const struct netfc_step *step)
{
	struct look_up *look_up = &parts->look_up[parts->look_up_count++];
	int error;

	look_up->table = netfc_set_table(parts->set, step->table);
	look_up->is_match = netfc_table_is_match(look_up->table);
	look_up->keys = calloc(parts->lanes, sizeof(*look_up->keys));
	if (look_up->keys == NULL)
		return -ENOMEM;
	error = create_stage(parts, look_up);
	/* An engine that computes without tables has no stages. */
	if (error == -ENOTSUP) {
		parts->has_stages = false;
		return 0;
	}
	return error;
}

int
look_ups_create(struct parts *parts)
{
	static struct netfc_lanes lanes;
	int error = 0;

	parts->has_stages = true;
	for (unsigned int s = 0; s < parts->program->step_count && error == 0; s++) {
		if (parts->program->step[s].kind == NETFC_STEP_LOOKUP)
			error = add_look_up(parts, &parts->program->step[s]);
	}
	if (error != 0)
		return REPORT("--time: cannot make the match stages: %s\n", rte_strerror(-error));
	for (uint32_t first = 0; first < parts->lanes; first += NETFC_BATCH)
		record_batch(parts, first, &lanes, load_batch(parts, first, &lanes));
	return 0;
}

void
look_ups_free(struct parts *parts)
{
	for (unsigned int l = 0; l < parts->look_up_count; l++) {
		if (!parts->look_up[l].is_shared)
			match_free(parts->look_up[l].stage);
		free(parts->look_up[l].keys);
	}
}

uint64_t
measure_look_ups(const struct parts *parts)
{
	uint32_t values[NETFC_BATCH];
	uint64_t start = rte_rdtsc_precise();

	for (uint32_t first = 0; first < parts->lanes; first += NETFC_BATCH) {
		unsigned int count = RTE_MIN(parts->lanes - first, (uint32_t)NETFC_BATCH);

		for (unsigned int l = 0; l < parts->look_up_count; l++) {
			const struct look_up *look_up = &parts->look_up[l];

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
run_step(const struct parts *parts, const struct netfc_step *step, struct netfc_lanes *lanes,
	unsigned int count, unsigned int *look_up)
{
	if (step->kind == NETFC_STEP_LOOKUP)
		match_lookup(parts->look_up[(*look_up)++].stage, lanes->field[step->a],
			lanes->field[step->dst], count);
	else
		netfc_step_run(step, lanes, count);
}

void
measure_steps(const struct parts *parts, struct step_cycles *cycles)
{
	const uint64_t clock = clock_cycles();
	static struct netfc_lanes lanes;

	*cycles = (struct step_cycles){0};
	for (uint32_t first = 0; first < parts->lanes; first += NETFC_BATCH) {
		unsigned int count = load_batch(parts, first, &lanes), look_up = 0;

		for (unsigned int s = 0; s < parts->program->step_count; s++) {
			uint64_t start = rte_rdtsc_precise(), taken;

			run_step(parts, &parts->program->step[s], &lanes, count, &look_up);
			taken = rte_rdtsc_precise() - start;
			cycles->step[s] += taken > clock ? taken - clock : 0;
		}
	}
}

/*
 * ---- the bulk look-ups of rte_lpm and rte_hash without a match engine around them: the limit of
 * what the engines on top of them can reach. The tables are the engines' own.
 */

/* The keys of one batch, as the library wants them: made before the clock starts. */
union prepared {
	uint32_t address[NETFC_BATCH];
	const void *pointer[NETFC_BATCH];
};

static void
prepare(const struct parts *parts, const uint32_t *keys, union prepared *prepared,
	unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (parts->kind == MATCH_LPM)
			prepared->address[i] = match_lpm_address(keys[i]);
		else
			prepared->pointer[i] = &keys[i];
	}
}

static void
look_up_lpm(const struct match_stage *stage, const union prepared *prepared, unsigned int count)
{
	uint32_t values[NETFC_BATCH];

	rte_lpm_lookup_bulk(match_lpm_object(stage), prepared->address, values, count);
	/* Inlined, a look-up whose values nobody reads would not take place. */
	__asm__ volatile("" : : "r"(values) : "memory");
}

static void
look_up_hash(const struct match_stage *stage, const union prepared *prepared, unsigned int count)
{
	void *data[RTE_HASH_LOOKUP_BULK_MAX];
	uint64_t hits;

	for (unsigned int done = 0; done < count; done += RTE_HASH_LOOKUP_BULK_MAX)
		rte_hash_lookup_bulk_data(match_hash_object(stage),
			(const void **)(uintptr_t)&prepared->pointer[done],
			RTE_MIN(count - done, (unsigned int)RTE_HASH_LOOKUP_BULK_MAX), &hits, data);
}

bool
can_measure_bare(const struct parts *parts)
{
	return parts->kind == MATCH_LPM || parts->kind == MATCH_HASH;
}

uint64_t
measure_bare(const struct parts *parts)
{
	static union prepared prepared[NETFC_MAX_STEPS];
	uint64_t cycles = 0;

	for (uint32_t first = 0; first < parts->lanes; first += NETFC_BATCH) {
		unsigned int count = RTE_MIN(parts->lanes - first, (uint32_t)NETFC_BATCH);
		uint64_t start;

		for (unsigned int l = 0; l < parts->look_up_count; l++)
			prepare(parts, parts->look_up[l].keys + first, &prepared[l], count);
		start = rte_rdtsc_precise();
		for (unsigned int l = 0; l < parts->look_up_count; l++) {
			const struct look_up *look_up = &parts->look_up[l];

			if (!look_up->is_match)
				continue;
			if (parts->kind == MATCH_LPM)
				look_up_lpm(look_up->stage, &prepared[l], count);
			else
				look_up_hash(look_up->stage, &prepared[l], count);
		}
		cycles += rte_rdtsc_precise() - start;
	}
	return cycles;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any table set, step by step: lanes go through its programs, keys through match stages. Compiled
 * for each instruction set.
 */
#include <errno.h>
#include <stdbool.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "isa.h"
#include "slots.h"
#include "steps.h"

#define OPS 4

struct steps {
	struct vector_kernel kernel;
	const struct netfc_program *program[OPS]; /* by operation less NETFC_ADD */
	struct match_stage *const *stages;        /* by table of the set */
	unsigned int width;                       /* of slots, in bits */
};

/* `width` is a constant wherever these are used. */
static __rte_always_inline void
read_slots(uint32_t *restrict to, const void *restrict from, unsigned int count,
	const unsigned int width)
{
	for (unsigned int l = 0; l < count; l++)
		to[l] = slot_swap(slot_load(from, l, width), width);
}

static __rte_always_inline void
write_slots(void *restrict to, const uint32_t *restrict from, unsigned int count,
	const unsigned int width)
{
	for (unsigned int l = 0; l < count; l++)
		slot_store(to, l, width, slot_swap(from[l], width));
}

static uint8_t
any_flags(const struct netfc_lanes *lanes, unsigned int count)
{
	uint32_t any = 0;

	for (unsigned int l = 0; l < count; l++)
		any |= lanes->field[NETFC_FLAGS][l];
	return (uint8_t)any;
}

/* x and y are there. A program has a step at least: the last one writes z. */
static void
run_program(
	const struct steps *steps, enum netfc_op op, struct netfc_lanes *lanes, unsigned int count)
{
	const struct netfc_program *program = steps->program[op - NETFC_ADD];
	const struct netfc_step *step = program->step, *end = step + program->step_count;

	for (unsigned int l = 0; l < count; l++)
		lanes->field[NETFC_OP][l] = op - NETFC_ADD;
	do {
		if (step->kind == NETFC_STEP_LOOKUP)
			match_lookup(steps->stages[step->table], lanes->field[step->a],
				lanes->field[step->dst], count);
		else
			VECTOR_NAME(step_run)(step, lanes, count);
	} while (++step < end);
}

static __rte_always_inline void
run_packet(const struct steps *steps, enum netfc_op op, struct vector_packet *packet,
	const unsigned int width)
{
	const uint32_t size = width / 8, bytes = slots_bytes(packet->count, width);
	uint8_t *x = packet->slots, *y = x + bytes, *z = y + bytes;
	const uint64_t before = slots_sum(z, bytes);
	struct netfc_lanes lanes;

	for (uint32_t first = 0; first < packet->count; first += NETFC_BATCH) {
		const unsigned int count = RTE_MIN(packet->count - first, (uint32_t)NETFC_BATCH);

		read_slots(lanes.field[NETFC_X], x + first * size, count, width);
		read_slots(lanes.field[NETFC_Y], y + first * size, count, width);
		run_program(steps, op, &lanes, count);
		write_slots(z + first * size, lanes.field[NETFC_Z], count, width);
		packet->flags |= any_flags(&lanes, count);
	}
	packet->changes = slots_changes(bytes / 2, before, slots_sum(z, bytes));
}

static void
run_packets(const struct vector_kernel *kernel, unsigned int op, struct vector_packet *packets,
	unsigned int count)
{
	const struct steps *steps = (const struct steps *)kernel;

	for (unsigned int p = 0; p < count; p++) {
		packets[p].flags = 0;
		if (steps->width == 8)
			run_packet(steps, op, &packets[p], 8);
		else if (steps->width == 16)
			run_packet(steps, op, &packets[p], 16);
		else
			run_packet(steps, op, &packets[p], 32);
	}
}

static void
run_lanes(const struct vector_kernel *kernel, unsigned int op, const struct vector_lanes *gathered)
{
	struct netfc_lanes lanes;

	for (uint32_t first = 0; first < gathered->count; first += NETFC_BATCH) {
		const unsigned int count = RTE_MIN(gathered->count - first, (uint32_t)NETFC_BATCH);

		read_slots(lanes.field[NETFC_X], gathered->x + first, count, 16);
		read_slots(lanes.field[NETFC_Y], gathered->y + first, count, 16);
		run_program((const struct steps *)kernel, op, &lanes, count);
		write_slots(gathered->z + first, lanes.field[NETFC_Z], count, 16);
		for (unsigned int l = 0; l < count; l++)
			gathered->flags[first + l] = (uint8_t)lanes.field[NETFC_FLAGS][l];
	}
}

int
VECTOR_NAME(steps_create)(const struct netfc_set *set, struct match_stage *const *stages,
	int socket_id, struct vector_kernel **kernel)
{
	struct steps *steps;

	steps = rte_zmalloc_socket("netfc_steps", sizeof(*steps), RTE_CACHE_LINE_SIZE, socket_id);
	if (steps == NULL)
		return -ENOMEM;
	steps->width = netfc_format_width(netfc_set_format(set));
	steps->kernel.run.packets = run_packets;
	steps->kernel.run.lanes = steps->width == 16 ? run_lanes : NULL;
	steps->stages = stages;
	for (unsigned int o = 0; o < OPS; o++)
		steps->program[o] = netfc_set_op_program(set, NETFC_ADD + o);
	*kernel = &steps->kernel;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes of 32 bits through a program of their table set, step by step. */
#include <rte_common.h>

#include "wide_kernels.h"

static void
read_slots(const wide_slot *from, uint32_t *to, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++)
		to[l] = wide_swap(from[l]);
}

/* A program has a step at least: the last one writes z. */
static void
run_program(const struct wide_op *operation, struct netfc_lanes *lanes, unsigned int count)
{
	const struct netfc_step *step = operation->program->step;
	const struct netfc_step *end = step + operation->program->step_count;

	do {
		if (step->kind == NETFC_STEP_LOOKUP)
			match_lookup(operation->stage[step->table], lanes->field[step->a],
				lanes->field[step->dst], count);
		else
			netfc_step_run(step, lanes, count);
	} while (++step < end);
}

/* Results into their slots, and what they change in a checksum. */
static uint64_t
write_results(const struct netfc_lanes *lanes, wide_slot *to, unsigned int count)
{
	uint32_t before = 0, after = 0;

	for (unsigned int l = 0; l < count; l++) {
		const uint32_t slot = wide_swap(lanes->field[NETFC_Z][l]);

		before += wide_words(to[l]);
		after += wide_words(slot);
		to[l] = slot;
	}
	return wide_changes(count, before, after);
}

void
wide_run_steps(const struct further_kernel *kernel, struct vector_packet *packet)
{
	const struct wide_op *operation = (const struct wide_op *)kernel;
	const wide_slot *x = (const wide_slot *)packet->slots, *y = x + packet->count;
	wide_slot *z = (wide_slot *)packet->slots + 2 * (size_t)packet->count;
	struct netfc_lanes lanes;

	packet->flags = 0;
	packet->changes = 0;
	for (uint32_t first = 0; first < packet->count; first += NETFC_BATCH) {
		const unsigned int count = RTE_MIN(packet->count - first, (uint32_t)NETFC_BATCH);

		read_slots(x + first, lanes.field[NETFC_X], count);
		read_slots(y + first, lanes.field[NETFC_Y], count);
		for (unsigned int l = 0; l < count; l++)
			lanes.field[NETFC_OP][l] = operation->op - NETFC_ADD;
		run_program(operation, &lanes, count);
		packet->changes += write_results(&lanes, z + first, count);
		for (unsigned int l = 0; l < count; l++)
			packet->flags |= (uint8_t)lanes.field[NETFC_FLAGS][l];
	}
}

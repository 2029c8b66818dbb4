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
#include "kernels.h"
#include "slots.h"

#define OPS 4

struct steps {
	struct vector_kernel kernel;
	const struct netfc_program *program[OPS]; /* by operation less NETFC_ADD */
	struct match_stage *const *stages;        /* by table of the set */
	unsigned int width;                       /* of slots, in bits */
};

static void
read_slots16(uint32_t *restrict to, const slot16 *restrict from, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++)
		to[l] = slot16_swap(from[l]);
}

static void
read_slots32(uint32_t *restrict to, const slot32 *restrict from, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++)
		to[l] = slot32_swap(from[l]);
}

static void
read_slots8(uint32_t *restrict to, const uint8_t *restrict from, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++)
		to[l] = from[l];
}

static void
write_slots8(uint8_t *restrict to, const uint32_t *restrict from, unsigned int count)
{
	for (unsigned int l = 0; l < count; l++)
		to[l] = (uint8_t)from[l];
}

/* Returns what results change in a checksum, as those below. */
static uint64_t
write_slots16(slot16 *restrict to, const uint32_t *restrict from, unsigned int count)
{
	uint32_t before = 0, after = 0;

	for (unsigned int l = 0; l < count; l++) {
		const uint16_t slot = slot16_swap((uint16_t)from[l]);

		before += to[l];
		after += slot;
		to[l] = slot;
	}
	return slots_changes(count, before, after);
}

static uint64_t
write_slots32(slot32 *restrict to, const uint32_t *restrict from, unsigned int count)
{
	uint32_t before = 0, after = 0;

	for (unsigned int l = 0; l < count; l++) {
		const uint32_t slot = slot32_swap(from[l]);

		before += slot32_words(to[l]);
		after += slot32_words(slot);
		to[l] = slot;
	}
	return slots_changes(2 * count, before, after);
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

static void
run_packet16(const struct steps *steps, enum netfc_op op, struct vector_packet *packet)
{
	slot16 *x = (slot16 *)packet->slots, *y = x + packet->count, *z = y + packet->count;
	struct netfc_lanes lanes;

	for (uint32_t first = 0; first < packet->count; first += NETFC_BATCH) {
		const unsigned int count = RTE_MIN(packet->count - first, (uint32_t)NETFC_BATCH);

		read_slots16(lanes.field[NETFC_X], x + first, count);
		read_slots16(lanes.field[NETFC_Y], y + first, count);
		run_program(steps, op, &lanes, count);
		packet->changes += write_slots16(z + first, lanes.field[NETFC_Z], count);
		packet->flags |= any_flags(&lanes, count);
	}
}

static void
run_packet32(const struct steps *steps, enum netfc_op op, struct vector_packet *packet)
{
	slot32 *x = (slot32 *)packet->slots, *y = x + packet->count, *z = y + packet->count;
	struct netfc_lanes lanes;

	for (uint32_t first = 0; first < packet->count; first += NETFC_BATCH) {
		const unsigned int count = RTE_MIN(packet->count - first, (uint32_t)NETFC_BATCH);

		read_slots32(lanes.field[NETFC_X], x + first, count);
		read_slots32(lanes.field[NETFC_Y], y + first, count);
		run_program(steps, op, &lanes, count);
		packet->changes += write_slots32(z + first, lanes.field[NETFC_Z], count);
		packet->flags |= any_flags(&lanes, count);
	}
}

/* Each operand is filled up to an even number of bytes. */
static void
run_packet8(const struct steps *steps, enum netfc_op op, struct vector_packet *packet)
{
	const uint32_t bytes = packet->count + packet->count % 2;
	uint8_t *x = packet->slots, *y = x + bytes, *z = y + bytes;
	const uint64_t before = slots8_sum(z, bytes);
	struct netfc_lanes lanes;

	for (uint32_t first = 0; first < packet->count; first += NETFC_BATCH) {
		const unsigned int count = RTE_MIN(packet->count - first, (uint32_t)NETFC_BATCH);

		read_slots8(lanes.field[NETFC_X], x + first, count);
		read_slots8(lanes.field[NETFC_Y], y + first, count);
		run_program(steps, op, &lanes, count);
		write_slots8(z + first, lanes.field[NETFC_Z], count);
		packet->flags |= any_flags(&lanes, count);
	}
	packet->changes = slots_changes(bytes / 2, before, slots8_sum(z, bytes));
}

static void
run_packets(const struct vector_kernel *kernel, unsigned int op, struct vector_packet *packets,
	unsigned int count)
{
	const struct steps *steps = (const struct steps *)kernel;

	for (unsigned int p = 0; p < count; p++) {
		packets[p].flags = 0;
		packets[p].changes = 0;
		if (steps->width == 8)
			run_packet8(steps, op, &packets[p]);
		else if (steps->width == 16)
			run_packet16(steps, op, &packets[p]);
		else
			run_packet32(steps, op, &packets[p]);
	}
}

static void
write_lanes(uint16_t *restrict z, uint8_t *restrict flags, const struct netfc_lanes *restrict lanes,
	unsigned int count)
{
	for (unsigned int l = 0; l < count; l++)
		z[l] = slot16_swap((uint16_t)lanes->field[NETFC_Z][l]);
	for (unsigned int l = 0; l < count; l++)
		flags[l] = (uint8_t)lanes->field[NETFC_FLAGS][l];
}

static void
run_lanes(const struct vector_kernel *kernel, unsigned int op, const struct vector_lanes *gathered)
{
	struct netfc_lanes lanes;

	for (uint32_t first = 0; first < gathered->count; first += NETFC_BATCH) {
		const unsigned int count = RTE_MIN(gathered->count - first, (uint32_t)NETFC_BATCH);

		read_slots16(lanes.field[NETFC_X], gathered->x + first, count);
		read_slots16(lanes.field[NETFC_Y], gathered->y + first, count);
		run_program((const struct steps *)kernel, op, &lanes, count);
		write_lanes(gathered->z + first, gathered->flags + first, &lanes, count);
	}
}

static void
steps_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
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
	steps->kernel.free = steps_free;
	steps->stages = stages;
	for (unsigned int o = 0; o < OPS; o++)
		steps->program[o] = netfc_set_op_program(set, NETFC_ADD + o);
	*kernel = &steps->kernel;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <inttypes.h>
#include <string.h>

#include <aggregate_format.h>

#include "comm/error.h"

/* Copies are sent as values of this format, two bytes each; the last one may be partial. */
#define COPY_FORMAT AGGREGATE_FP16

/* Of numbers of similar magnitude, and the share of a chunk's lanes that is left out for them. */
#define USUAL_DIGITS 4
#define FEW 16

/* Properties of each kind. */
static const struct shape {
	bool copies;       /* bytes; else values are reduced */
	bool has_root;     /* chunks are one worker's, the root's */
	bool has_blocks;   /* each block's chunks are another worker's */
	bool gives_blocks; /* `values` has all blocks, */
	bool takes_blocks; /* and so has `result` */
	bool has_totals;   /* `values` is struct netfc_allreduce_totals */
} shapes[NETFC_COLLECTIVE_KINDS] = {
	[NETFC_COLLECTIVE_ALLREDUCE] = {0},
	[NETFC_COLLECTIVE_REDUCE] = {.has_root = true},
	[NETFC_COLLECTIVE_REDUCE_SCATTER] = {.has_blocks = true, .gives_blocks = true},
	[NETFC_COLLECTIVE_ALLGATHER] = {.copies = true, .has_blocks = true, .takes_blocks = true},
	[NETFC_COLLECTIVE_BROADCAST] = {.copies = true, .has_root = true},
	[NETFC_COLLECTIVE_BARRIER] = {.copies = true},
	[NETFC_COLLECTIVE_DIGITS] = {.has_totals = true},
};

static const struct shape *
shape_of(const struct netfc_collective *collective)
{
	return &shapes[collective->kind];
}

static unsigned int
format_of(const struct netfc_collective *collective)
{
	return shape_of(collective)->copies ? COPY_FORMAT : collective->format;
}

/* Bytes of a block. */
static uint64_t
block_bytes(const struct netfc_collective *collective)
{
	if (collective->kind == NETFC_COLLECTIVE_BARRIER)
		return 0;
	return collective->count *
		(shape_of(collective)->copies ? 1 : aggregate_value_bytes(collective->format));
}

/* Bytes of its results. */
static uint64_t
result_block_bytes(const struct netfc_collective *collective)
{
	return shape_of(collective)->copies
		? block_bytes(collective)
		: collective->count * aggregate_result_value_bytes(collective->format);
}

/* Whether this worker gives values. */
static bool
gives(const struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	return collective->kind != NETFC_COLLECTIVE_BROADCAST ||
		collective->root == comm->options.worker;
}

/* Whether it gets results. */
static bool
takes(const struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	bool is_root = collective->root == comm->options.worker;

	if (collective->kind == NETFC_COLLECTIVE_BROADCAST)
		return !is_root;
	return collective->kind != NETFC_COLLECTIVE_REDUCE || is_root;
}

static bool
is_aligned(const void *pointer, unsigned int bytes)
{
	return (uintptr_t)pointer % bytes == 0;
}

/* Results over values that are still to be sent. */
static bool
is_overwritten(const struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	const uint8_t *values = collective->values, *result = collective->result;
	const struct shape *shape = shape_of(collective);
	uint64_t bytes = block_bytes(collective), offset = bytes * comm->options.worker;
	uint64_t results = result_block_bytes(collective);
	uint64_t given = shape->gives_blocks ? bytes * comm->options.workers : bytes;
	uint64_t taken = shape->takes_blocks ? results * comm->options.workers : results;

	if (values + (shape->gives_blocks ? offset : 0) ==
			result + (shape->takes_blocks ? offset : 0) &&
		results == bytes)
		return false;
	return (uintptr_t)values < (uintptr_t)result + taken &&
		(uintptr_t)result < (uintptr_t)values + given;
}

/* Whoever both gives values and gets results; totals are elsewhere. */
static bool
could_overwrite(const struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	return !shape_of(collective)->has_totals && gives(comm, collective) &&
		takes(comm, collective);
}

/* Parts of exact sums have to fit packets, and a switch that knows them. */
static int
check_totals(struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	const struct netfc_allreduce_totals *totals = collective->values;
	const unsigned int format = format_of(collective);
	const unsigned int bytes = aggregate_result_value_bytes(format);
	const uint32_t divisor = totals_divisor(totals, collective->op);

	if (totals->lanes.format != collective->format || totals->count != collective->count)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The totals are %" PRIu64 " of format %u, and the collective has %" PRIu64
			" of format %u.",
			totals->count, totals->lanes.format, collective->count, collective->format);
	if (collective->op != NETFC_ALLREDUCE_SUM && collective->op != NETFC_ALLREDUCE_MEAN)
		return error_set(
			comm, NETFC_ALLREDUCE_ARGUMENT, "Totals are for sums and means only.");
	if (!is_aligned(collective->result, bytes))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The result is not aligned to its values of %u bytes.", bytes);
	for (unsigned int k = 0; k < comm->peers && comm->life == ALLREDUCE_JOINED; k++) {
		if (!comm->peer[k].member.takes_digits)
			return error_set_for(comm, &comm->peer[k], NETFC_ALLREDUCE_ARGUMENT,
				"Switch %s takes values only, as one in P4 does, no totals.",
				comm->peer[k].link.address.text);
		if (divisor != 0 && !comm->peer[k].member.knows_divisors)
			return error_set_for(comm, &comm->peer[k], NETFC_ALLREDUCE_ARGUMENT,
				"Switch %s, one above it or another worker does not know divisors "
				"of totals: install one release on switches and workers.",
				comm->peer[k].link.address.text);
	}
	if (comm->life == ALLREDUCE_JOINED &&
		!aggregate_totals_can_divide(format, comm->bytes / aggregate_lane_bytes(format),
			comm->bytes - aggregate_divisor_bytes(divisor)))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Chunks of %u bytes are too small for totals of this format: ask for more, "
			"option bytes.",
			comm->bytes);
	return NETFC_ALLREDUCE_OK;
}

static int
check_reduction(struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	const unsigned int bytes = aggregate_value_bytes(collective->format);
	const unsigned int result_bytes = aggregate_result_value_bytes(collective->format);
	const unsigned int lane_bytes = aggregate_lane_bytes(collective->format);

	if (bytes == 0)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"There is no format %u, or no such format of results: see enum "
			"netfc_allreduce_format and NETFC_ALLREDUCE_INTO().",
			collective->format);
	if (!aggregate_is_reduction(collective->op))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"There is no operation %u: see enum netfc_allreduce_op.", collective->op);
	if (!aggregate_has_format(collective->op, collective->format))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Results of another format than the values' are sums or means: operation "
			"%u has none.",
			collective->op);
	if (comm->life == ALLREDUCE_JOINED && comm->bytes < lane_bytes)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Chunks are granted %u bytes, and a value has %u: ask for more, option "
			"bytes.",
			comm->bytes, lane_bytes);
	if (shape_of(collective)->has_totals)
		return check_totals(comm, collective);
	if (!is_aligned(collective->values, bytes) ||
		(takes(comm, collective) && !is_aligned(collective->result, result_bytes)))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The array is not aligned to its values of %u bytes: its element type is "
			"another, maybe.",
			is_aligned(collective->values, bytes) ? result_bytes : bytes);
	return NETFC_ALLREDUCE_OK;
}

static int
check_arrays(struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	if ((collective->values == NULL && gives(comm, collective)) ||
		(collective->result == NULL && takes(comm, collective)))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT, "The array of values is NULL.");
	if (collective->count == 0 || collective->count > NETFC_ALLREDUCE_MAX_COUNT)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The array has %" PRIu64 " values: give 1 to %" PRIu64 ".",
			collective->count, NETFC_ALLREDUCE_MAX_COUNT);
	return shape_of(collective)->copies ? NETFC_ALLREDUCE_OK
					    : check_reduction(comm, collective);
}

int
collective_check(struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	int status = NETFC_ALLREDUCE_OK;

	if (collective->kind >= NETFC_COLLECTIVE_KINDS)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"There is no collective %u: see enum netfc_collective_kind.",
			collective->kind);
	if (collective->kind != NETFC_COLLECTIVE_BARRIER)
		status = check_arrays(comm, collective);
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	/* What went wrong first says more. */
	if (comm->life == ALLREDUCE_APART)
		return error_set(comm, NETFC_ALLREDUCE_BROKEN,
			"No job is joined: call netfc_allreduce_join() first.");
	if (comm->life != ALLREDUCE_JOINED)
		return NETFC_ALLREDUCE_BROKEN;
	if (tree_is_there(&comm->options) &&
		(shape_of(collective)->has_root || shape_of(collective)->has_blocks))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"In a tree of switches there are allreduces and barriers only.");
	if (shape_of(collective)->has_root && collective->root >= comm->options.workers)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The root is worker %u, and there are %u: give 0 to %u.", collective->root,
			comm->options.workers, comm->options.workers - 1);
	if (could_overwrite(comm, collective) && is_overwritten(comm, collective))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The results would overwrite values that are still to be sent: give another "
			"array, or this worker's own place in it.");
	return NETFC_ALLREDUCE_OK;
}

static uint8_t
owner_of(const struct netfc_collective *collective)
{
	if (shape_of(collective)->has_root)
		return (uint8_t)(AGGREGATE_OWNER + collective->root);
	return shape_of(collective)->has_blocks ? AGGREGATE_OWNER : 0;
}

/* Copy this worker's block into the result, unless it is there already. */
static void
keep_own_block(const struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	uint8_t *block = (uint8_t *)collective->result + comm->options.worker * collective->count;

	if (block != collective->values)
		memcpy(block, collective->values, collective->count);
}

/* Switches in P4 know no labels, nor do those of earlier releases. */
static bool
can_have_label(const struct netfc_allreduce *comm)
{
	for (unsigned int k = 0; k < comm->peers; k++) {
		if (!comm->peer[k].member.knows_labels)
			return false;
	}
	return true;
}

/*
 * How many lanes fill whole parts, of any usual number of digits a lane, where that leaves out few:
 * a few lanes more would need a packet of their own.
 */
static unsigned int
lanes_of_parts(unsigned int lanes, unsigned int bytes)
{
	unsigned int least = lanes;

	for (unsigned int width = 1; width <= USUAL_DIGITS; width++) {
		const unsigned int in_part = bytes / (width * sizeof(uint32_t));
		const unsigned int whole = lanes / in_part * in_part;

		if (lanes - whole <= lanes / FEW && whole < least)
			least = whole;
	}
	return least;
}

/* Lanes of a chunk; of workers that may give values, as many values as fit. */
static unsigned int
lanes_of_chunk(const struct netfc_allreduce *comm, unsigned int format,
	const struct netfc_allreduce_totals *totals, unsigned int op)
{
	const unsigned int lanes = comm->bytes / aggregate_lane_bytes(format);

	if (totals != NULL && comm->local != NULL)
		return local_lanes_of_totals(format);
	if (totals == NULL || totals_divisor(totals, op) == 0)
		return lanes;
	return lanes_of_parts(lanes, comm->bytes - AGGREGATE_PART_BYTES - AGGREGATE_DIVISOR_BYTES);
}

void
collective_plan(struct netfc_allreduce *comm, const struct netfc_collective *collective,
	uint32_t label, bool lazily, struct netfc_allreduce_handle *handle)
{
	const struct shape *shape = shape_of(collective);
	unsigned int value_bytes = aggregate_value_bytes(format_of(collective));
	const struct netfc_allreduce_totals *totals = shape->has_totals ? collective->values : NULL;
	unsigned int in_chunk =
		lanes_of_chunk(comm, format_of(collective), totals, collective->op) * value_bytes;
	unsigned int blocks = shape->has_blocks ? comm->options.workers : 1;
	uint64_t bytes = block_bytes(collective);
	uint64_t chunks = bytes == 0 ? 1 : ((bytes - 1) / in_chunk + 1) * blocks;

	if (!can_have_label(comm))
		label = 0;
	chunks += label != 0;
	if (collective->kind == NETFC_COLLECTIVE_ALLGATHER)
		keep_own_block(comm, collective);
	handle->comm = comm;
	handle->lazy = lazily;
	handle->status = NETFC_ALLREDUCE_PENDING;
	handle->call = (struct call){
		.totals = totals,
		.from = totals != NULL ? (const uint8_t *)totals->lanes.bins : collective->values,
		.to = collective->result,
		.from_step = shape->gives_blocks ? bytes : 0,
		.to_step = shape->takes_blocks ? result_block_bytes(collective) : 0,
		.bytes = bytes,
		.values = shape->copies ? 0 : collective->count * blocks,
		.chunks = chunks,
		.left = chunks,
		.label = label,
		.blocks = blocks,
		.in_chunk = in_chunk,
		.value_bytes = value_bytes,
		.word_bytes = shape->copies ? 1 : value_bytes,
		.result_word_bytes =
			shape->copies ? 1 : aggregate_result_value_bytes(collective->format),
		.format = (uint8_t)format_of(collective),
		.op = (uint8_t)(shape->copies ? AGGREGATE_COPY : collective->op),
		.owner = owner_of(collective),
		.worker = (uint8_t)comm->options.worker,
	};
}

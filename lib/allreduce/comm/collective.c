/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <inttypes.h>
#include <string.h>

#include <aggregate_format.h>

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

/* A collective, and what it is to this worker: looked up once. */
struct request {
	const struct netfc_collective *of;
	const struct shape *shape;
	unsigned int format; /* as it is sent */
	unsigned int value_bytes, lane_bytes;
	unsigned int word_bytes, result_word_bytes; /* of values and results, or 1 */
	uint64_t bytes, result_bytes;               /* of a block */
	bool gives, takes;                          /* this worker: values, results */
};

static struct request
request_of(const struct netfc_allreduce *comm, const struct netfc_collective *collective)
{
	const struct shape *shape = &shapes[collective->kind];
	const bool is_root = collective->root == comm->options.worker;
	const unsigned int format = shape->copies ? COPY_FORMAT : collective->format;
	const unsigned int value_bytes = aggregate_value_bytes(format);
	const unsigned int result_bytes = aggregate_result_value_bytes(format);
	const uint64_t count = collective->kind == NETFC_COLLECTIVE_BARRIER ? 0 : collective->count;
	struct request request = {
		.of = collective,
		.shape = shape,
		.format = format,
		.value_bytes = value_bytes,
		.lane_bytes = value_bytes > result_bytes ? value_bytes : result_bytes,
		.word_bytes = shape->copies ? 1 : value_bytes,
		.result_word_bytes = shape->copies ? 1 : result_bytes,
		.gives = collective->kind != NETFC_COLLECTIVE_BROADCAST || is_root,
		.takes = collective->kind == NETFC_COLLECTIVE_BROADCAST
			? !is_root
			: collective->kind != NETFC_COLLECTIVE_REDUCE || is_root,
	};

	request.bytes = count * request.word_bytes;
	request.result_bytes = count * request.result_word_bytes;
	return request;
}

static bool
is_aligned(const void *pointer, unsigned int bytes)
{
	return (uintptr_t)pointer % bytes == 0;
}

/* Results over values that are still to be sent; totals are elsewhere. */
static bool
is_overwritten(const struct netfc_allreduce *comm, const struct request *request)
{
	const uint8_t *values = request->of->values, *result = request->of->result;
	const struct shape *shape = request->shape;
	const uint64_t bytes = request->bytes, results = request->result_bytes;
	const uint64_t offset = bytes * comm->options.worker;
	const uint64_t given = shape->gives_blocks ? bytes * comm->options.workers : bytes;
	const uint64_t taken = shape->takes_blocks ? results * comm->options.workers : results;

	if (shape->has_totals || !request->gives || !request->takes)
		return false;
	if (values + (shape->gives_blocks ? offset : 0) ==
			result + (shape->takes_blocks ? offset : 0) &&
		results == bytes)
		return false;
	return (uintptr_t)values < (uintptr_t)result + taken &&
		(uintptr_t)result < (uintptr_t)values + given;
}

/* Parts of exact sums have to fit packets, and a switch that knows them. */
static int
check_totals(struct netfc_allreduce *comm, const struct request *request)
{
	const struct netfc_allreduce_totals *totals = request->of->values;
	const unsigned int format = request->format, bytes = request->result_word_bytes;
	const uint32_t divisor = totals_divisor(totals, request->of->op);

	if (totals->lanes.format != request->of->format || totals->count != request->of->count)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The totals are %" PRIu64 " of format %u, and the collective has %" PRIu64
			" of format %u.",
			totals->count, totals->lanes.format, request->of->count,
			request->of->format);
	if (request->of->op != NETFC_ALLREDUCE_SUM && request->of->op != NETFC_ALLREDUCE_MEAN)
		return error_set(
			comm, NETFC_ALLREDUCE_ARGUMENT, "Totals are for sums and means only.");
	if (!is_aligned(request->of->result, bytes))
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
		!aggregate_totals_can_divide(format, comm->bytes / request->lane_bytes,
			comm->bytes - aggregate_divisor_bytes(divisor)))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Chunks of %u bytes are too small for totals of this format: ask for more, "
			"option bytes.",
			comm->bytes);
	return NETFC_ALLREDUCE_OK;
}

static int
check_reduction(struct netfc_allreduce *comm, const struct request *request)
{
	const unsigned int bytes = request->word_bytes, result_bytes = request->result_word_bytes;
	const unsigned int lane_bytes = request->lane_bytes;

	if (bytes == 0)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"There is no format %u, or no such format of results: see enum "
			"netfc_allreduce_format and NETFC_ALLREDUCE_INTO().",
			request->of->format);
	if (!aggregate_is_reduction(request->of->op))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"There is no operation %u: see enum netfc_allreduce_op.", request->of->op);
	if (!aggregate_has_format(request->of->op, request->of->format))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Results of another format than the values' are sums or means: operation "
			"%u has none.",
			request->of->op);
	if (comm->life == ALLREDUCE_JOINED && comm->bytes < lane_bytes)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Chunks are granted %u bytes, and a value has %u: ask for more, option "
			"bytes.",
			comm->bytes, lane_bytes);
	if (request->shape->has_totals)
		return check_totals(comm, request);
	if (!is_aligned(request->of->values, bytes) ||
		(request->takes && !is_aligned(request->of->result, result_bytes)))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The array is not aligned to its values of %u bytes: its element type is "
			"another, maybe.",
			is_aligned(request->of->values, bytes) ? result_bytes : bytes);
	return NETFC_ALLREDUCE_OK;
}

static int
check_arrays(struct netfc_allreduce *comm, const struct request *request)
{
	if ((request->of->values == NULL && request->gives) ||
		(request->of->result == NULL && request->takes))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT, "The array of values is NULL.");
	if (request->of->count == 0 || request->of->count > NETFC_ALLREDUCE_MAX_COUNT)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The array has %" PRIu64 " values: give 1 to %" PRIu64 ".",
			request->of->count, NETFC_ALLREDUCE_MAX_COUNT);
	return request->shape->copies ? NETFC_ALLREDUCE_OK : check_reduction(comm, request);
}

static int
check(struct netfc_allreduce *comm, const struct request *request)
{
	int status = NETFC_ALLREDUCE_OK;

	if (request->of->kind != NETFC_COLLECTIVE_BARRIER)
		status = check_arrays(comm, request);
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	/* What went wrong first says more. */
	if (comm->life == ALLREDUCE_APART)
		return error_set(comm, NETFC_ALLREDUCE_BROKEN,
			"No job is joined: call netfc_allreduce_join() first.");
	if (comm->life != ALLREDUCE_JOINED)
		return NETFC_ALLREDUCE_BROKEN;
	if (tree_is_there(&comm->options) &&
		(request->shape->has_root || request->shape->has_blocks))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"In a tree of switches there are allreduces and barriers only.");
	if (request->shape->has_root && request->of->root >= comm->options.workers)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The root is worker %u, and there are %u: give 0 to %u.", request->of->root,
			comm->options.workers, comm->options.workers - 1);
	if (is_overwritten(comm, request))
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"The results would overwrite values that are still to be sent: give another "
			"array, or this worker's own place in it.");
	return NETFC_ALLREDUCE_OK;
}

static uint8_t
owner_of(const struct request *request)
{
	if (request->shape->has_root)
		return (uint8_t)(AGGREGATE_OWNER + request->of->root);
	return request->shape->has_blocks ? AGGREGATE_OWNER : 0;
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
lanes_of_chunk(const struct netfc_allreduce *comm, const struct request *request)
{
	const unsigned int lanes = comm->bytes / request->lane_bytes;

	if (request->shape->has_totals && comm->local != NULL)
		return local_lanes_of_totals(request->format);
	if (!request->shape->has_totals ||
		totals_divisor(request->of->values, request->of->op) == 0)
		return lanes;
	return lanes_of_parts(lanes, comm->bytes - AGGREGATE_PART_BYTES - AGGREGATE_DIVISOR_BYTES);
}

static struct call
call_of(const struct netfc_allreduce *comm, const struct request *request, uint32_t label)
{
	const struct netfc_collective *collective = request->of;
	const struct shape *shape = request->shape;
	const struct netfc_allreduce_totals *totals = shape->has_totals ? collective->values : NULL;
	const unsigned int in_chunk = lanes_of_chunk(comm, request) * request->value_bytes;
	const unsigned int blocks = shape->has_blocks ? comm->options.workers : 1;
	const uint64_t bytes = request->bytes;
	const uint64_t chunks =
		(bytes == 0 ? 1 : ((bytes - 1) / in_chunk + 1) * blocks) + (label != 0);

	return (struct call){
		.totals = totals,
		.from = totals != NULL ? (const uint8_t *)totals->lanes.bins : collective->values,
		.to = collective->result,
		.from_step = shape->gives_blocks ? bytes : 0,
		.to_step = shape->takes_blocks ? request->result_bytes : 0,
		.bytes = bytes,
		.values = shape->copies ? 0 : collective->count * blocks,
		.chunks = chunks,
		.left = chunks,
		.label = label,
		.blocks = blocks,
		.in_chunk = in_chunk,
		.value_bytes = request->value_bytes,
		.word_bytes = request->word_bytes,
		.result_word_bytes = request->result_word_bytes,
		.format = (uint8_t)request->format,
		.op = (uint8_t)(shape->copies ? AGGREGATE_COPY : collective->op),
		.owner = owner_of(request),
		.worker = (uint8_t)comm->options.worker,
	};
}

int
collective_plan(struct netfc_allreduce *comm, const struct netfc_collective *collective,
	uint32_t label, bool lazily, struct netfc_allreduce_handle *handle)
{
	struct request request;
	int status;

	if (collective->kind >= NETFC_COLLECTIVE_KINDS)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"There is no collective %u: see enum netfc_collective_kind.",
			collective->kind);
	request = request_of(comm, collective);
	status = check(comm, &request);
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	if (collective->kind == NETFC_COLLECTIVE_ALLGATHER)
		keep_own_block(comm, collective);
	handle->comm = comm;
	handle->lazy = lazily;
	handle->status = NETFC_ALLREDUCE_PENDING;
	handle->call = call_of(comm, &request, can_have_label(comm) ? label : 0);
	return NETFC_ALLREDUCE_OK;
}

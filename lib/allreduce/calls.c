/* SPDX-License-Identifier: BSD-3-Clause */
/* A function for each collective: what it is called with, as a struct netfc_collective. */
#include "totals.h"

int
netfc_allreduce_start(struct netfc_allreduce *comm, void *data, uint64_t count, unsigned int format,
	unsigned int op, bool lazily, struct netfc_allreduce_handle **handle)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_ALLREDUCE,
		.format = format,
		.op = op,
		.values = data,
		.result = data,
		.count = count};

	return netfc_collective_start(comm, &collective, lazily, handle);
}

int
netfc_allreduce(struct netfc_allreduce *comm, void *data, uint64_t count, unsigned int format,
	unsigned int op)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_ALLREDUCE,
		.format = format,
		.op = op,
		.values = data,
		.result = data,
		.count = count};

	return netfc_collective(comm, &collective);
}

int
netfc_allreduce_digits(struct netfc_allreduce *comm, const struct netfc_allreduce_totals *totals,
	void *result, unsigned int op)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_DIGITS,
		.format = totals != NULL ? totals->lanes.format : 0,
		.op = op,
		.values = totals,
		.result = result,
		.count = totals != NULL ? totals->count : 0};

	return netfc_collective(comm, &collective);
}

int
netfc_reduce(struct netfc_allreduce *comm, const void *values, void *result, uint64_t count,
	unsigned int format, unsigned int op, unsigned int root)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_REDUCE,
		.format = format,
		.op = op,
		.root = root,
		.values = values,
		.result = result,
		.count = count};

	return netfc_collective(comm, &collective);
}

int
netfc_reduce_scatter(struct netfc_allreduce *comm, const void *values, void *result, uint64_t count,
	unsigned int format, unsigned int op)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_REDUCE_SCATTER,
		.format = format,
		.op = op,
		.values = values,
		.result = result,
		.count = count};

	return netfc_collective(comm, &collective);
}

int
netfc_allgather(struct netfc_allreduce *comm, const void *own, void *all, uint64_t bytes)
{
	const struct netfc_collective collective = {
		.kind = NETFC_COLLECTIVE_ALLGATHER, .values = own, .result = all, .count = bytes};

	return netfc_collective(comm, &collective);
}

int
netfc_broadcast(struct netfc_allreduce *comm, void *data, uint64_t bytes, unsigned int root)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_BROADCAST,
		.root = root,
		.values = data,
		.result = data,
		.count = bytes};

	return netfc_collective(comm, &collective);
}

int
netfc_barrier(struct netfc_allreduce *comm)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_BARRIER};

	return netfc_collective(comm, &collective);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of all numbers of all workers: each worker adds up its own exactly, in integers. The switch
 * adds these like any other integers; then each worker rounds the same totals.
 */
#include <aggregate_exact.h>

#include "error.h"
#include "internal.h"

#define WORDS (sizeof(struct aggregate_exact) / sizeof(int64_t))

static int
refuse(struct netfc_allreduce *comm, const char *what)
{
	int status;

	pthread_mutex_lock(&comm->lock);
	status = error_set(comm, NETFC_ALLREDUCE_ARGUMENT, "%s", what);
	pthread_mutex_unlock(&comm->lock);
	return status;
}

static int
check(struct netfc_allreduce *comm, const void *values, uint64_t count, unsigned int format)
{
	if (!aggregate_exact_has(format))
		return refuse(comm, "There are sums of fp32, fp64, int32 and int64 only.");
	if (values == NULL && count != 0)
		return refuse(comm, "The array of values is NULL.");
	if (count > NETFC_ALLREDUCE_MAX_COUNT)
		return refuse(comm, "The array has more values than a sum can have.");
	return NETFC_ALLREDUCE_OK;
}

static int
add_up(struct netfc_allreduce *comm, struct aggregate_exact *sum, unsigned int format, void *result,
	unsigned int *flags)
{
	unsigned int raised;
	int status = netfc_allreduce(comm, sum, WORDS, NETFC_ALLREDUCE_INT64, NETFC_ALLREDUCE_SUM);

	if (status != NETFC_ALLREDUCE_OK)
		return status;
	raised = aggregate_exact_round(sum, format, result);
	if (flags != NULL)
		*flags = raised;
	return status;
}

int
netfc_allreduce_sum(struct netfc_allreduce *comm, const void *values, uint64_t count,
	unsigned int format, void *result, unsigned int *flags)
{
	struct aggregate_exact sum = {0};
	int status = check(comm, values, count, format);

	if (status != NETFC_ALLREDUCE_OK)
		return status;
	aggregate_exact_add(&sum, format, values, count);
	return add_up(comm, &sum, format, result, flags);
}

int
netfc_allreduce_dot(struct netfc_allreduce *comm, const void *x, const void *y, uint64_t count,
	unsigned int format, void *result, unsigned int *flags)
{
	struct aggregate_exact sum = {0};
	int status = check(comm, x, count, format);

	if (status == NETFC_ALLREDUCE_OK)
		status = check(comm, y, count, format);
	if (status == NETFC_ALLREDUCE_OK && format != NETFC_ALLREDUCE_FP32 &&
		format != NETFC_ALLREDUCE_FP64)
		status = refuse(comm, "There are dot products of fp32 and fp64 only.");
	if (status != NETFC_ALLREDUCE_OK)
		return status;
	aggregate_exact_add_products(&sum, format, x, y, count);
	return add_up(comm, &sum, format, result, flags);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "bench.h"
#include "encoding.h"

/*
 * Relative errors are sorted into buckets by the upper bits of their single-precision encoding,
 * which orders like their sizes: 10 bits of the fraction, 0.1 % of the error.
 */
#define ERROR_SHIFT 13
#define ERROR_BUCKETS (1u << (31 - ERROR_SHIFT))

/* What is summed up, each lane as often as its request was answered. */
struct sums {
	struct accuracy counts;
	double accuracy, squares;
	double worst; /* relative error */
	uint64_t *errors;
};

static uint32_t
error_bucket(double error)
{
	float single = (float)error;
	uint32_t bits;

	memcpy(&bits, &single, sizeof(bits));
	return bits >> ERROR_SHIFT;
}

static double
bucket_error(uint32_t bucket)
{
	uint32_t bits = bucket << ERROR_SHIFT;
	float single;

	memcpy(&single, &bits, sizeof(single));
	return (double)single;
}

/* Encodings numbered in the order of their values. */
static int64_t
rank(const struct netfc_format *format, uint32_t bits)
{
	const int64_t magnitude = netfc_magnitude(format, bits);

	return netfc_is_negative(format, bits) ? -magnitude : magnitude;
}

static void
add_lane(struct sums *sums, const struct netfc_format *format, uint32_t expected, uint32_t result,
	uint64_t times)
{
	double right = netfc_decode(format, expected), got = netfc_decode(format, result);
	double off = fabs(right - got), error = off / fabs(right);

	if (!isfinite(right) || right == 0) {
		sums->counts.left_out += times;
		return;
	}
	sums->counts.lanes += times;
	if (!isfinite(got)) {
		sums->counts.infinite += times;
		error = (double)INFINITY;
	} else {
		int64_t apart = llabs(rank(format, expected) - rank(format, result));

		sums->counts.exact += apart == 0 ? times : 0;
		sums->counts.near += apart <= 1 ? times : 0;
		sums->squares += off * off * (double)times;
	}
	sums->accuracy += exp(-error) * (double)times;
	sums->worst = fmax(sums->worst, error);
	sums->errors[error_bucket(error)] += times;
}

static void
add_request(struct sums *sums, const struct workload *workload, const struct request *request)
{
	const struct netfc_format *format = netfc_set_format(workload->set);

	for (uint32_t lane = 0; lane < workload->lanes; lane++) {
		uint32_t x = workload_operand(workload, request->reply, 0, lane);
		uint32_t y = workload_operand(workload, request->reply, 1, lane);
		uint32_t z = workload_operand(workload, request->reply, 2, lane);
		struct netfc_result exact = netfc_exact(format, (enum netfc_op)request->op, x, y);

		add_lane(sums, format, exact.z, z, request->right);
	}
}

static void
add_sums(struct sums *total, const struct sums *sums)
{
	total->counts.lanes += sums->counts.lanes;
	total->counts.left_out += sums->counts.left_out;
	total->counts.exact += sums->counts.exact;
	total->counts.near += sums->counts.near;
	total->counts.infinite += sums->counts.infinite;
	total->accuracy += sums->accuracy;
	total->squares += sums->squares;
	total->worst = fmax(total->worst, sums->worst);
	for (uint32_t bucket = 0; bucket < ERROR_BUCKETS; bucket++)
		total->errors[bucket] += sums->errors[bucket];
}

static double
median_error(const struct sums *sums)
{
	uint64_t half = (sums->counts.lanes + 1) / 2, seen = 0;
	uint32_t bucket = 0;

	while (bucket < ERROR_BUCKETS - 1 && (seen += sums->errors[bucket]) < half)
		bucket++;
	return bucket_error(bucket);
}

static struct accuracy
conclude(const struct sums *sums)
{
	struct accuracy accuracy = sums->counts;
	uint64_t finite = accuracy.lanes - accuracy.infinite;

	if (accuracy.lanes != 0) {
		accuracy.average = sums->accuracy / (double)accuracy.lanes;
		accuracy.median = exp(-median_error(sums));
		accuracy.minimum = exp(-sums->worst);
	}
	if (finite != 0)
		accuracy.mean_square = sums->squares / (double)finite;
	return accuracy;
}

int
accuracy_find(const struct workload *workload, struct accuracies *accuracies)
{
	const size_t count = RTE_DIM(accuracies->of);
	struct sums sums[RTE_DIM(accuracies->of)] = {0};
	uint64_t *errors = calloc(count * ERROR_BUCKETS, sizeof(*errors));

	if (errors == NULL)
		return REPORT("no memory to find the accuracy\n");
	for (size_t s = 0; s < count; s++)
		sums[s].errors = errors + s * ERROR_BUCKETS;
	for (uint32_t c = 0; c < workload->count; c++) {
		if (workload->requests[c].right != 0 && workload->requests[c].op <= NETFC_DIV)
			add_request(
				&sums[workload->requests[c].op], workload, &workload->requests[c]);
	}
	for (size_t s = NETFC_ADD; s < count; s++)
		add_sums(&sums[ACCURACY_ALL], &sums[s]);
	for (size_t s = 0; s < count; s++)
		accuracies->of[s] = conclude(&sums[s]);
	free(errors);
	return 0;
}

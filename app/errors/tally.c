/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

#define LOSS_ONE (1 << 30)

static unsigned
min_bin(long bin, unsigned bins)
{
	return bin < 0 ? 0 : bin >= (long)bins ? bins - 1 : (unsigned)bin;
}

static unsigned
ulp_bin(const struct number_table *numbers, const struct miss *miss)
{
	int32_t ulps = abs(numbers->ordinal[miss->z] - numbers->ordinal[miss->expected]);

	return ulps == 0 ? 0 : 32 - (unsigned)__builtin_clz((unsigned)ulps);
}

static bool
is_before(const struct worst *a, const struct worst *b)
{
	return a->x != b->x ? a->x < b->x : a->y < b->y;
}

/* The greatest errors in descending order; an error of 0 is an empty element. */
static void
worst_add(struct worst *list, const struct worst *item)
{
	unsigned at = 0;

	while (at < WORST && list[at].error > item->error)
		at++;
	if (at == WORST)
		return;
	if (list[at].error == item->error) {
		uint64_t count = list[at].count + item->count;

		if (is_before(item, &list[at]))
			list[at] = *item;
		list[at].count = count;
		return;
	}
	memmove(&list[at + 1], &list[at], (WORST - 1 - at) * sizeof(*list));
	list[at] = *item;
}

/* The relative error of a result; that of a NaN is infinite. */
static double
error_of(const struct number_table *numbers, uint16_t z, uint16_t expected)
{
	double value = numbers->value[expected], error = fabs((numbers->value[z] - value) / value);

	return isnan(error) ? INFINITY : error;
}

static uint64_t
loss_of(double accuracy)
{
	return (uint64_t)llrint((1 - accuracy) * LOSS_ONE);
}

static uint64_t
tally_loss(const struct number_table *numbers, uint16_t z, uint16_t expected)
{
	return loss_of(exp(-error_of(numbers, z, expected)));
}

/* Count a result whose expected value is a finite number, `weight` times. */
static void
tally_add(struct tally *tally, const struct number_table *numbers, const struct miss *miss,
	uint64_t weight)
{
	double error = error_of(numbers, miss->z, miss->expected), accuracy = exp(-error);
	struct worst item = {error, weight, miss->x, miss->y};

	tally->inexact += weight;
	tally->overflowed += isinf(error) ? weight : 0;
	tally->loss += weight * loss_of(accuracy);
	tally->accuracy[min_bin((long)(accuracy * (ACCURACY_BINS - 1)), ACCURACY_BINS - 1)] +=
		weight;
	tally->ulps[min_bin(ulp_bin(numbers, miss), ULP_BINS)] += weight;
	tally->error[isinf(error) ? ERROR_BINS - 1
				  : min_bin(ilogb(error) + ERROR_ONE, ERROR_BINS)] += weight;
	if (error >= tally->worst[WORST - 1].error)
		worst_add(tally->worst, &item);
}

static void
add_bins(uint64_t *into, const uint64_t *from, unsigned bins)
{
	for (unsigned b = 0; b < bins; b++)
		into[b] += from[b];
}

void
tally_merge(struct tally *into, const struct tally *from)
{
	into->left_out_wrong += from->left_out_wrong;
	into->inexact += from->inexact;
	into->overflowed += from->overflowed;
	into->loss += from->loss;
	add_bins(into->accuracy, from->accuracy, ACCURACY_BINS);
	add_bins(into->ulps, from->ulps, ULP_BINS);
	add_bins(into->error, from->error, ERROR_BINS);
	for (unsigned b = 0; b < CANCEL_BINS; b++) {
		into->cancel[b].inexact += from->cancel[b].inexact;
		into->cancel[b].loss += from->cancel[b].loss;
	}
	for (unsigned w = 0; w < WORST && from->worst[w].error > 0; w++)
		worst_add(into->worst, &from->worst[w]);
}

static void
append_bin(json_t *array, int name, uint64_t count)
{
	if (count != 0)
		json_array_append_new(array, json_pack("[i, I]", name, (json_int_t)count));
}

/* Exact results are in the last bin of accuracy and in the first one of ulp. */
static json_t *
bins_json(const uint64_t *bins, unsigned count, int offset, unsigned exact_bin, uint64_t exact)
{
	json_t *array = json_array();

	for (unsigned b = 0; b < count; b++)
		append_bin(array, (int)b + offset, bins[b] + (b == exact_bin ? exact : 0));
	return array;
}

static json_t *
cancel_json(const struct cancel_bin *bins, const uint64_t *kinds)
{
	json_t *array = json_array();

	for (unsigned b = 0; b < CANCEL_BINS; b++)
		json_array_append_new(array,
			json_pack("{s:i, s:I, s:I, s:f}", "bits", (int)b, "pairs",
				(json_int_t)kinds[b], "exact",
				(json_int_t)(kinds[b] - bins[b].inexact), "loss",
				(double)bins[b].loss / LOSS_ONE));
	return array;
}

static json_t *
worst_json(const struct worst *list, const struct netfc_set *set, enum netfc_op op)
{
	json_t *array = json_array();

	for (unsigned w = 0; w < WORST && list[w].error > 0; w++) {
		const struct worst *item = &list[w];
		json_t *error = isinf(item->error) ? json_null() : json_real(item->error);
		uint16_t z, expected = netfc_exact(netfc_set_format(set), op, item->x, item->y).z;

		netfc_compute(set, op, &item->x, &item->y, &z, NULL, 1);
		json_array_append_new(array,
			json_pack("{s:o, s:I, s:i, s:i, s:i, s:i}", "error", error, "pairs",
				(json_int_t)item->count, "x", item->x, "y", item->y, "z", z,
				"expected", expected));
	}
	return array;
}

static uint64_t
sum_kinds(const uint64_t *kinds, unsigned first, unsigned end)
{
	uint64_t sum = 0;

	for (unsigned k = first; k < end; k++)
		sum += kinds[k];
	return sum;
}

json_t *
tally_json(const struct tally *tally, const uint64_t *kinds, const struct netfc_set *set,
	enum netfc_op op)
{
	uint64_t counted = sum_kinds(kinds, 0, ZERO), exact = counted - tally->inexact;
	json_t *json = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "pairs",
		(json_int_t)sum_kinds(kinds, 0, KINDS), "counted", (json_int_t)counted, "special",
		(json_int_t)kinds[SPECIAL], "infinite", (json_int_t)kinds[INFINITE], "zero",
		(json_int_t)kinds[ZERO], "left_out_wrong", (json_int_t)tally->left_out_wrong,
		"overflowed", (json_int_t)tally->overflowed, "loss",
		(double)tally->loss / LOSS_ONE);

	json_object_set_new(json, "accuracy",
		bins_json(tally->accuracy, ACCURACY_BINS, 0, ACCURACY_BINS - 1, exact));
	json_object_set_new(json, "ulps", bins_json(tally->ulps, ULP_BINS, 0, 0, exact));
	json_object_set_new(
		json, "errors", bins_json(tally->error, ERROR_BINS, -ERROR_ONE, ERROR_BINS, 0));
	json_object_set_new(json, "worst", worst_json(tally->worst, set, op));
	if (netfc_op_branch(op) == NETFC_ADDITIVE)
		json_object_set_new(json, "cancellation", cancel_json(tally->cancel, kinds));
	return json;
}

/* ---- misses ---------------------------------------------------------------------------------- */

/* The greatest magnitude that is a number or an infinity. */
static int32_t
greatest_magnitude(const struct number_table *numbers)
{
	int32_t inf = netfc_inf_magnitude(numbers->format);

	return inf < (int32_t)MAGNITUDES ? inf : (int32_t)MAGNITUDES - 1;
}

void
miss_losses_fill(struct miss_losses *losses, const struct number_table *numbers)
{
	const int32_t greatest = greatest_magnitude(numbers);

	for (int32_t off = -NEAR; off <= NEAR; off++) {
		for (int32_t expected = 1; expected <= greatest; expected++) {
			int32_t z = expected + off;

			if (z >= 0 && z <= greatest)
				losses->loss[off + NEAR][expected] = (uint32_t)tally_loss(
					numbers, (uint16_t)z, (uint16_t)expected);
		}
	}
}

/* Without a branch on data. */
static uint32_t
find_differing(const uint16_t *a, const uint16_t *b, uint16_t *differing)
{
	uint32_t count = 0;

	for (uint32_t y = 0; y < ENCODINGS; y++) {
		differing[count] = (uint16_t)y;
		count += a[y] != b[y];
	}
	return count;
}

static uint64_t
count_miss(struct misses *misses, struct tally *tally, enum population population,
	const struct miss *miss)
{
	const struct number_table *numbers = misses->numbers;
	int32_t from = numbers->ordinal[miss->expected], off = numbers->ordinal[miss->z] - from;
	struct miss_cell *cell;

	if (from < 0) {
		from = -from;
		off = -off;
	}
	if (off < -NEAR || off > NEAR || from + off < 0) {
		tally_add(tally, numbers, miss, 1);
		return tally_loss(numbers, miss->z, miss->expected);
	}
	cell = &misses->cell[population][off + NEAR][from];
	if (cell->pairs++ == 0)
		cell->first = (uint32_t)miss->x << 16 | miss->y;
	return misses->losses->loss[off + NEAR][from];
}

void
misses_count(struct misses *misses, const struct row *row, const uint16_t *z)
{
	uint32_t count;

	/* For a correctly rounded set this is all. */
	if (memcmp(z, row->expected, sizeof(row->expected)) == 0)
		return;
	count = find_differing(z, row->expected, misses->differing);
	for (uint32_t i = 0; i < count; i++) {
		uint16_t y = misses->differing[i];
		enum population population = row->kind[y] >> POPULATION_AT;
		unsigned kind = row->kind[y] & ((1u << POPULATION_AT) - 1);
		struct miss miss = {row->x[y], y, z[y], row->expected[y]};
		struct tally *tally = &misses->tally[population];
		uint64_t loss;

		if (kind > UNCANCELLED) {
			tally->left_out_wrong++;
			continue;
		}
		loss = count_miss(misses, tally, population, &miss);
		if (kind < CANCEL_BINS) {
			tally->cancel[kind].inexact++;
			tally->cancel[kind].loss += loss;
		}
	}
}

static void
finish_population(struct misses *misses, enum population population)
{
	for (int32_t off = -NEAR; off <= NEAR; off++) {
		for (uint32_t from = 1; from < MAGNITUDES; from++) {
			struct miss_cell cell = misses->cell[population][off + NEAR][from];
			/* Signs do not change a relative error. */
			struct miss miss = {(uint16_t)(cell.first >> 16), (uint16_t)cell.first,
				(uint16_t)((int32_t)from + off), (uint16_t)from};

			if (cell.pairs != 0)
				tally_add(&misses->tally[population], misses->numbers, &miss,
					cell.pairs);
		}
	}
}

void
misses_finish(struct misses *misses)
{
	for (unsigned p = 0; p < POPULATIONS; p++)
		finish_population(misses, p);
}

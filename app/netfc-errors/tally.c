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
ulp_bin(const struct number_table *numbers, const struct lane *lane)
{
	int32_t ulps = abs(numbers->ordinal[lane->z] - numbers->ordinal[lane->expected]);

	return ulps == 0 ? 0 : 32 - (unsigned)__builtin_clz((unsigned)ulps);
}

static bool
is_before(const struct worst *a, const struct worst *b)
{
	return a->x != b->x ? a->x < b->x : a->y < b->y;
}

/* Worst errors are in descending order; an error of 0 is an empty place. */
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

static void
cancel_add(struct tally *tally, const struct number_table *numbers, const struct lane *lane,
	unsigned weight, uint64_t loss)
{
	int x = numbers->exponent[lane->x], y = numbers->exponent[lane->y];
	struct cancel_bin *bin;

	if (numbers->class[lane->x] != NETFC_FINITE || numbers->class[lane->y] != NETFC_FINITE)
		return;
	bin = &tally->cancel[min_bin(
		(x > y ? x : y) - numbers->exponent[lane->expected], CANCEL_BINS)];
	bin->count += weight;
	bin->exact += lane->z == lane->expected ? weight : 0;
	bin->loss += loss;
}

static void
exact_add(struct tally *tally, unsigned weight)
{
	tally->accuracy[ACCURACY_BINS - 1] += weight;
	tally->ulps[0] += weight;
}

/* Gives what the lane adds to the loss. */
static uint64_t
inexact_add(struct tally *tally, const struct number_table *numbers, const struct lane *lane,
	unsigned weight)
{
	double expected = numbers->value[lane->expected];
	double error = fabs((numbers->value[lane->z] - expected) / expected);
	double accuracy = exp(-error);
	struct worst item = {error, weight, lane->x, lane->y, lane->z, lane->expected};
	uint64_t loss = weight * (uint64_t)llrint((1 - accuracy) * LOSS_ONE);

	tally->overflowed += isinf(error) ? weight : 0;
	tally->accuracy[min_bin((long)(accuracy * (ACCURACY_BINS - 1)), ACCURACY_BINS - 1)] +=
		weight;
	tally->ulps[min_bin(ulp_bin(numbers, lane), ULP_BINS)] += weight;
	tally->error[isinf(error) ? ERROR_BINS - 1
				  : min_bin(ilogb(error) + ERROR_ONE, ERROR_BINS)] += weight;
	if (error >= tally->worst[WORST - 1].error)
		worst_add(tally->worst, &item);
	tally->loss += loss;
	return loss;
}

static void
left_out_add(struct tally *tally, const struct number_table *numbers, const struct lane *lane,
	unsigned weight)
{
	switch (numbers->class[lane->expected]) {
	case NETFC_ZERO:
		tally->zero += weight;
		break;
	case NETFC_INF:
		tally->infinite += weight;
		break;
	default:
		tally->special += weight;
		break;
	}
	tally->left_out_wrong += lane->z != lane->expected ? weight : 0;
}

void
tally_lane(struct tally *tally, const struct number_table *numbers, const struct lane *lane,
	unsigned weight, bool sum)
{
	uint64_t loss = 0;

	tally->pairs += weight;
	if (numbers->class[lane->expected] != NETFC_FINITE) {
		left_out_add(tally, numbers, lane, weight);
		return;
	}
	if (lane->z == lane->expected)
		exact_add(tally, weight);
	else
		loss = inexact_add(tally, numbers, lane, weight);
	if (sum)
		cancel_add(tally, numbers, lane, weight, loss);
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
	into->pairs += from->pairs;
	into->special += from->special;
	into->infinite += from->infinite;
	into->zero += from->zero;
	into->left_out_wrong += from->left_out_wrong;
	into->overflowed += from->overflowed;
	into->loss += from->loss;
	add_bins(into->accuracy, from->accuracy, ACCURACY_BINS);
	add_bins(into->ulps, from->ulps, ULP_BINS);
	add_bins(into->error, from->error, ERROR_BINS);
	for (unsigned b = 0; b < CANCEL_BINS; b++) {
		into->cancel[b].count += from->cancel[b].count;
		into->cancel[b].exact += from->cancel[b].exact;
		into->cancel[b].loss += from->cancel[b].loss;
	}
	for (unsigned w = 0; w < WORST && from->worst[w].error > 0; w++)
		worst_add(into->worst, &from->worst[w]);
}

static json_t *
bins_json(const uint64_t *bins, unsigned count, int offset)
{
	json_t *array = json_array();

	for (unsigned b = 0; b < count; b++) {
		if (bins[b] != 0)
			json_array_append_new(
				array, json_pack("[i, I]", (int)b + offset, (json_int_t)bins[b]));
	}
	return array;
}

static json_t *
cancel_json(const struct cancel_bin *bins)
{
	json_t *array = json_array();

	for (unsigned b = 0; b < CANCEL_BINS; b++)
		json_array_append_new(array,
			json_pack("{s:i, s:I, s:I, s:f}", "bits", (int)b, "pairs",
				(json_int_t)bins[b].count, "exact", (json_int_t)bins[b].exact,
				"loss", (double)bins[b].loss / LOSS_ONE));
	return array;
}

static json_t *
worst_json(const struct worst *list)
{
	json_t *array = json_array();

	for (unsigned w = 0; w < WORST && list[w].error > 0; w++) {
		json_t *error = isinf(list[w].error) ? json_null() : json_real(list[w].error);

		json_array_append_new(array,
			json_pack("{s:o, s:I, s:i, s:i, s:i, s:i}", "error", error, "pairs",
				(json_int_t)list[w].count, "x", list[w].x, "y", list[w].y, "z",
				list[w].z, "expected", list[w].expected));
	}
	return array;
}

json_t *
tally_json(const struct tally *tally, bool sum)
{
	uint64_t left_out = tally->special + tally->infinite + tally->zero;
	json_t *json = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "pairs",
		(json_int_t)tally->pairs, "counted", (json_int_t)(tally->pairs - left_out),
		"special", (json_int_t)tally->special, "infinite", (json_int_t)tally->infinite,
		"zero", (json_int_t)tally->zero, "left_out_wrong",
		(json_int_t)tally->left_out_wrong, "overflowed", (json_int_t)tally->overflowed,
		"loss", (double)tally->loss / LOSS_ONE);

	json_object_set_new(json, "accuracy", bins_json(tally->accuracy, ACCURACY_BINS, 0));
	json_object_set_new(json, "ulps", bins_json(tally->ulps, ULP_BINS, 0));
	json_object_set_new(json, "errors", bins_json(tally->error, ERROR_BINS, -ERROR_ONE));
	json_object_set_new(json, "worst", worst_json(tally->worst));
	if (sum)
		json_object_set_new(json, "cancellation", cancel_json(tally->cancel));
	return json;
}

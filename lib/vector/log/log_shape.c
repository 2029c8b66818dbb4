/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "log/log.h"

static unsigned int
table_index(const struct netfc_set *set, const char *name)
{
	unsigned int t = 0;

	while (strcmp(netfc_table_name(netfc_set_table(set, t)), name) != 0)
		t++;
	return t;
}

/* The programs have a step that keeps the greater operand where logarithms are farther apart. */
static int32_t
guard_words(const struct netfc_set *set)
{
	const struct netfc_step *step = netfc_set_program(set, NETFC_ADDITIVE)->step;

	while (step->kind != NETFC_STEP_GUARD)
		step++;
	return step->imm;
}

/* A decision table is the same in all sets of a format; one of the least scale is built quickly. */
static int
compare_decisions(const struct netfc_set *set)
{
	const struct netfc_set_id least = {.format = netfc_set_format(set), .scale = 1};
	char name[NETFC_SET_NAME_SIZE];

	netfc_set_format_name(&least, name);
	return vector_compare(set, name, table_index(set, "decide"));
}

/* Whether an entry for theta = -d and one for theta = d are log a + value with one value. */
static bool
folds(uint32_t low, uint32_t high, int32_t d)
{
	if (low == NETFC_NO_RESULT || high == NETFC_NO_RESULT)
		return low == high;
	return (int16_t)low + d == (int16_t)high;
}

static bool
fold_mi(struct log_shape *shape)
{
	const uint32_t *mi0 = netfc_table_entries(netfc_set_table(shape->set, shape->mi_table));
	const uint32_t *mi1 = mi0 + 0x10000, *mi2 = mi1 + 0x10000;
	int32_t last = 0;

	for (int32_t d = 0; d <= shape->guard; d++) {
		uint16_t low = (uint16_t)-d, high = (uint16_t)d;

		if (!folds(mi0[low], mi0[high], d) || !folds(mi1[low], mi2[high], d))
			return false;
		/* No program takes NETFC_NO_RESULT for a sum. */
		if (mi0[low] == NETFC_NO_RESULT)
			return false;
		shape->sum[d] = (int16_t)mi0[low];
		shape->difference[d] = (int16_t)mi1[low];
		shape->no_result |= mi1[low] == NETFC_NO_RESULT;
		if (d > 0 &&
			(shape->sum[d] != shape->sum[d - 1] ||
				shape->difference[d] != shape->difference[d - 1]))
			last = d;
	}
	shape->entries = (uint32_t)last + 1;
	return true;
}

static bool
fold(struct log_shape *shape)
{
	int32_t farthest = (int16_t)shape->log[shape->finite - 1] - (int16_t)shape->log[1];

	shape->guard = RTE_MIN(shape->guard_words, farthest);
	/* Saturated, a d beyond the guard still is; another would not be the same. */
	return shape->guard >= 0 && shape->guard <= INT16_MAX && fold_mi(shape);
}

int
log_shape_find(const struct netfc_set *set, struct log_shape *shape)
{
	const struct netfc_format *format = netfc_set_format(set);
	int error;

	if (netfc_set_family(set) != NETFC_FAMILY_LOG)
		return -ENOTSUP;
	error = compare_decisions(set);
	if (error != 0)
		return error;
	*shape = (struct log_shape){
		.set = set,
		.format = format,
		.posit = netfc_format_is_posit(format),
		.inf = netfc_inf_magnitude(format),
		.finite = netfc_inf_magnitude(format),
		.log_table = table_index(set, "log"),
		.mi_table = table_index(set, "mi"),
		.exp_table = table_index(set, "exp"),
		.guard_words = guard_words(set),
	};
	shape->log = netfc_table_entries(netfc_set_table(set, shape->log_table));
	shape->exp = netfc_table_entries(netfc_set_table(set, shape->exp_table));
	shape->folded = fold(shape);
	return 0;
}

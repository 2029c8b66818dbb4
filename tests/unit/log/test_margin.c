/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How certain the known sets of a format, which is the argument, are of their entries: the bound
 * of each error is below the distance to the next rounding boundary, and the distances are right.
 */
#include <math.h>

#include "expected.h"
#include "unit.h"

/* Where the library starts to look at a boundary of 2^(n/k). */
#define EXP_DISTANCE_MAX 0x1p-12

static const struct netfc_format *format;

/* The sets of which least is certain. */
static struct {
	char log[NETFC_SET_NAME_SIZE], exp[NETFC_SET_NAME_SIZE];
	double log_factor, exp_factor;
} closest = {.log_factor = INFINITY, .exp_factor = INFINITY};

static struct netfc_margin
margin_of(const struct netfc_set *set)
{
	struct netfc_margin margin;

	assert_int_equal(netfc_set_margin(set, &margin), NETFC_OK);
	return margin;
}

static void
keep_closest(double *least, double factor, char *name, const struct netfc_set *set)
{
	if (factor >= *least)
		return;
	*least = factor;
	snprintf(name, NETFC_SET_NAME_SIZE, "%s", netfc_set_name(set));
}

static void
check_errors(const struct netfc_set *set)
{
	struct netfc_margin margin = margin_of(set);

	assert_true(margin.log_error == ldexp((double)LOG_ERROR, -LOG_BITS) * set->id.scale);
	assert_true(margin.exp_error == ldexp((double)EXP_ERROR, -63));
	assert_true(margin.log_error < margin.log_distance);
	assert_true(margin.exp_error < margin.exp_distance);
	keep_closest(&closest.log_factor, margin.log_distance / margin.log_error, closest.log, set);
	keep_closest(&closest.exp_factor, margin.exp_distance / margin.exp_error, closest.exp, set);
}

TEST(every_error_is_below_its_distance)
{
	for_each_set(format, check_errors);
	REPORT("closest call of a logarithm: %s, %.1f times the bound of its error\n", closest.log,
		closest.log_factor);
	REPORT("closest call of a power: %s, %.1f times the bound of its error\n", closest.exp,
		closest.exp_factor);
}

/* How far a logarithm is from where its log word changes; whole ones are certain if rounded down.
 */
static double
word_distance(const struct netfc_set *set, struct precise log)
{
	double words = ldexp((double)(log.floor % ((int128)1 << PRECISE_BITS)), -PRECISE_BITS) *
		set->id.scale;

	if (set->id.rounding == NETFC_NEAREST)
		return 0.5 - fabs(words - round(words));
	return log.exact ? INFINITY : fabs(words - round(words));
}

static double
least_log_distance(const struct netfc_set *set)
{
	double least = 1;

	for (uint32_t magnitude = 1; magnitude < naive_end(format); magnitude++)
		least = fmin(least, word_distance(set, expected_log(magnitude)));
	for (uint32_t t = 1; t < LOG_TAIL * set->id.scale && t <= 0x8000; t++) {
		least = fmin(least, word_distance(set, expected_log_one(&set->id, 1, t)));
		least = fmin(least, word_distance(set, expected_log_one(&set->id, -1, t)));
	}
	if (set->id.rounding == NETFC_NEAREST)
		least = fmin(least, word_distance(set, expected_same_log(&set->id)));
	return least;
}

SET_TEST(log_distances_are_right)
{
	struct netfc_margin margin = margin_of(set);
	double least = least_log_distance(set);

	if (fabs(least - margin.log_distance) > margin.log_error)
		fail_msg("%s: the distance is %a, not %a", netfc_set_name(set), least,
			margin.log_distance);
	assert_true(margin.log_error < least);
}

/* |2^(n/k) - boundary| as a part of the power of two at or below 2^(n/k). */
static double
power_distance(const struct netfc_set *set, int32_t n, struct precise boundary)
{
	const int128 one = (int128)1 << PRECISE_BITS;
	int128 log = n * (one / set->id.scale);
	double power = exp2(ldexp((double)((log % one + one) % one), -PRECISE_BITS));
	double away = ldexp((double)(boundary.floor - log), -PRECISE_BITS);

	return power * fabs(expm1(away * M_LN2));
}

/* Over all n that k does not divide: 2^(n/k) of the others is whole and exact. */
static double
least_exp_distance(const struct netfc_set *set)
{
	const uint32_t first = naive_least(format), last = naive_greatest(format);
	double least = INFINITY;
	uint32_t u = first;

	for (int32_t n = INT16_MIN; n <= INT16_MAX; n++) {
		while (u < last && expected_above(&set->id, n, u))
			u++;
		if (n % (int32_t)set->id.scale == 0)
			continue;
		if (u > first)
			least = fmin(
				least, power_distance(set, n, expected_threshold(&set->id, u - 1)));
		if (u < last)
			least = fmin(
				least, power_distance(set, n, expected_threshold(&set->id, u)));
	}
	return least;
}

/* It is found by halving: no boundary is nearer, and one is nearer than twice as far. */
SET_TEST(exp_distances_are_right)
{
	double claimed = margin_of(set).exp_distance, least = least_exp_distance(set);

	if (least < claimed || (claimed < EXP_DISTANCE_MAX && least > 2 * claimed))
		fail_msg("%s: the distance is %a, which does not fit %a", netfc_set_name(set),
			least, claimed);
}

FORMAT_MAIN(NULL, NULL)

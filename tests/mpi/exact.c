/* SPDX-License-Identifier: BSD-3-Clause */
#include "exact.h"

#include <math.h>

#include <mpfr.h>

#define BITS 2400 /* more than from the least subnormal to the sum of 64 of the greatest */

double
exact_sum(const double *values, size_t count, size_t stride, bool wide)
{
	double rounded, plain = values[0];
	mpfr_t sum;

	mpfr_init2(sum, BITS);
	mpfr_set_d(sum, values[0], MPFR_RNDN);
	for (size_t i = 1; i < count; i++) {
		mpfr_add_d(sum, sum, values[i * stride], MPFR_RNDN);
		plain += values[i * stride];
	}
	rounded = wide ? mpfr_get_d(sum, MPFR_RNDN) : (double)mpfr_get_flt(sum, MPFR_RNDN);
	mpfr_clear(sum);
	/* The sign of a zero is the same in any order. */
	return rounded == 0 && plain == 0 ? plain : rounded;
}

double
exact_extreme(const double *values, size_t count, size_t stride, bool greatest)
{
	double best = values[0];

	for (size_t i = 1; i < count; i++) {
		double value = values[i * stride];

		if (isnan(value) || isnan(best))
			best = NAN;
		else if (value == best)
			best = !!signbit(value) == !greatest ? value : best;
		else if (greatest ? value > best : value < best)
			best = value;
	}
	return best;
}

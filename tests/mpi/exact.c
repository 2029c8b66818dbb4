/* SPDX-License-Identifier: BSD-3-Clause */
#include "exact.h"

#include <math.h>

#include <mpfr.h>

#define BITS 400 /* more than from the least subnormal to the sum of 64 of the greatest */

float
exact_sum(const float *values, size_t count, size_t stride)
{
	float rounded, plain = 0;
	mpfr_t sum;

	mpfr_init2(sum, BITS);
	mpfr_set_zero(sum, 1);
	for (size_t i = 0; i < count; i++) {
		mpfr_add_d(sum, sum, (double)values[i * stride], MPFR_RNDN);
		plain = i == 0 ? values[0] : plain + values[i * stride];
	}
	rounded = mpfr_get_flt(sum, MPFR_RNDN);
	mpfr_clear(sum);
	/* The sign of a zero and what comes of infinities and NaN are the same in any order. */
	return rounded == 0 && plain == 0 ? plain : rounded;
}

float
exact_extreme(const float *values, size_t count, size_t stride, int greatest)
{
	float best = values[0];

	for (size_t i = 1; i < count; i++) {
		float value = values[i * stride];

		if (isnan(value) || isnan(best))
			best = NAN;
		else if (value == best)
			best = !!signbit(value) == !greatest ? value : best;
		else if (greatest ? value > best : value < best)
			best = value;
	}
	return best;
}

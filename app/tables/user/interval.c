/* SPDX-License-Identifier: BSD-3-Clause */
#include "user/interval.h"

/* Of the numbers that results are taken for: those between encodings have 17. */
#define SETTLED_BITS 64

void
interval_init(struct interval *interval, mpfr_prec_t bits)
{
	mpfr_inits2(bits, interval->low, interval->high, (mpfr_ptr)NULL);
}

void
interval_set_bits(struct interval *interval, mpfr_prec_t bits)
{
	mpfr_set_prec(interval->low, bits);
	mpfr_set_prec(interval->high, bits);
}

void
interval_clear(struct interval *interval)
{
	mpfr_clears(interval->low, interval->high, (mpfr_ptr)NULL);
}

void
interval_swap(struct interval *a, struct interval *b)
{
	struct interval before = *a;

	*a = *b;
	*b = before;
}

bool
interval_is_exact(const struct interval *interval)
{
	return interval->kind == INTERVAL_REAL && !interval->low_open && !interval->high_open &&
		mpfr_equal_p(interval->low, interval->high);
}

/* Whether the interval is small beside a number in it; of zero, beside 1. */
static bool
is_small(const struct interval *interval, mpfr_srcptr number)
{
	mpfr_prec_t bits = mpfr_get_prec(interval->low);
	mpfr_exp_t exponent = mpfr_zero_p(number) ? 0 : mpfr_get_exp(number);
	mpfr_t width;
	bool small;

	mpfr_init2(width, bits);
	mpfr_sub(width, interval->high, interval->low, MPFR_RNDU);
	small = mpfr_regular_p(width) && mpfr_get_exp(width) < exponent - bits / 2;
	mpfr_clear(width);
	return small;
}

static bool
contains(const struct interval *interval, mpfr_srcptr number)
{
	int low = mpfr_cmp(number, interval->low), high = mpfr_cmp(number, interval->high);

	return (low > 0 || (low == 0 && !interval->low_open)) &&
		(high < 0 || (high == 0 && !interval->high_open));
}

void
interval_settle(struct interval *interval)
{
	mpfr_t number;

	if (interval->kind != INTERVAL_REAL || interval_is_exact(interval))
		return;
	mpfr_init2(number, SETTLED_BITS);
	if (interval_may_be_zero(interval))
		mpfr_set_zero(number, 1);
	else
		mpfr_set(number, interval->low, MPFR_RNDU);
	if (!mpfr_inf_p(number) && contains(interval, number) && is_small(interval, number))
		interval_set(interval, number, 0);
	mpfr_clear(number);
}

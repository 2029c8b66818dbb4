/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "mpfr_functions.h"

static int
same(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding)
{
	return mpfr_set(result, x, rounding);
}

static int
absolute(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding)
{
	return mpfr_abs(result, x, rounding);
}

static int
negative(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding)
{
	return mpfr_neg(result, x, rounding);
}

static int
reciprocal(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding)
{
	return mpfr_ui_div(result, 1, x, rounding);
}

/* MPFR's inverse root of -0 is +infinity, and IEEE 754-2019's -infinity. */
static int
inverse_root(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding)
{
	int inexact = mpfr_rec_sqrt(result, x, rounding);

	if (mpfr_zero_p(x))
		mpfr_copysign(result, result, x, rounding);
	return inexact;
}

static int
sigmoid(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding)
{
	mpfr_neg(result, x, rounding);
	mpfr_exp(result, result, rounding);
	mpfr_add_ui(result, result, 1, rounding);
	mpfr_ui_div(result, 1, result, rounding);
	return 1;
}

/* The limit of x p(x) where p decreases exponentially. */
static bool
is_limit(mpfr_ptr result, mpfr_srcptr x)
{
	if (!mpfr_inf_p(x) || mpfr_sgn(x) > 0)
		return false;
	mpfr_set_zero(result, -1);
	return true;
}

static int
silu(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding)
{
	if (is_limit(result, x))
		return 0;
	sigmoid(result, x, rounding);
	mpfr_mul(result, result, x, rounding);
	return 1;
}

/* x/2 erfc(-x / sqrt(2)) */
static int
gelu(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding)
{
	mpfr_t root;

	if (is_limit(result, x))
		return 0;
	mpfr_init2(root, mpfr_get_prec(result));
	mpfr_sqrt_ui(root, 2, rounding);
	mpfr_div(result, x, root, rounding);
	mpfr_neg(result, result, rounding);
	mpfr_erfc(result, result, rounding);
	mpfr_mul(result, result, x, rounding);
	mpfr_div_2ui(result, result, 1, rounding);
	mpfr_clear(root);
	return 1;
}

static const struct {
	const char *name;
	mpfr_function *function;
} mpfr_functions[] = {
	{"abs", absolute},
	{"neg", negative},
	{"floor", mpfr_rint_floor},
	{"ceil", mpfr_rint_ceil},
	{"trunc", mpfr_rint_trunc},
	{"round", mpfr_rint_roundeven},
	{"sqrt", mpfr_sqrt},
	{"rsqrt", inverse_root},
	{"reciprocal", reciprocal},
	{"exp", mpfr_exp},
	{"exp2", mpfr_exp2},
	{"ln", mpfr_log},
	{"log2", mpfr_log2},
	{"sin", mpfr_sin},
	{"cos", mpfr_cos},
	{"tanh", mpfr_tanh},
	{"sigmoid", sigmoid},
	{"erf", mpfr_erf},
	{"gelu", gelu},
	{"silu", silu},
};

mpfr_function *
mpfr_function_of(const char *name)
{
	if (strncmp(name, "to_", 3) == 0 || strncmp(name, "from_", 5) == 0)
		return same;
	for (size_t f = 0; f < sizeof(mpfr_functions) / sizeof(mpfr_functions[0]); f++) {
		if (strcmp(mpfr_functions[f].name, name) == 0)
			return mpfr_functions[f].function;
	}
	return NULL;
}

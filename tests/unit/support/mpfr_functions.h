/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MPFR_FUNCTIONS_H
#define MPFR_FUNCTIONS_H

/** @file The library's functions of real numbers by MPFR: its own, and some made of several. */

#include <mpfr.h>

/** Compute f(x); gives 0 if the result is exact, as MPFR does. */
typedef int mpfr_function(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding);

/** The function of a name, for conversions x itself; NULL if there is none. */
mpfr_function *mpfr_function_of(const char *name);

#endif /* MPFR_FUNCTIONS_H */

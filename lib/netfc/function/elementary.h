/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_ELEMENTARY_H
#define NETFC_ELEMENTARY_H

/**
 * @file
 * Elementary functions of real numbers, with errors below 2^-53 of the result
 * (docs/functions.md). Arguments have significands of up to 26 bits: numbers of a format, and
 * their squares.
 */

#include "function/real.h"

/* e^x and 2^x. Beyond 2^1024 and its inverse they are merely that large or small. */
struct real real_exp(struct real x);
struct real real_exp2(struct real x);
/* e^x - 1, near 0 as precise as elsewhere. */
struct real real_expm1(struct real x);

/* The natural logarithm and that to base 2 of a positive number. */
struct real real_ln(struct real x);
struct real real_log2(struct real x);

/* Below 2^129, and a multiple of 2^-133. */
struct real real_sin(struct real x);
struct real real_cos(struct real x);

/* The error function. */
struct real real_erf(struct real x);
/* The normal distribution: the probability of a value below x. */
struct real real_normal(struct real x);

#endif /* NETFC_ELEMENTARY_H */

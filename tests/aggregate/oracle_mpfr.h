/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ORACLE_MPFR_H
#define ORACLE_MPFR_H

/** @file What the oracle has to say, by MPFR. */

#include <stdint.h>

/** The reduction of one lane, of an IEEE format or a posit by MPFR; sum and mean of finite numbers,
 * not all zero. */
uint64_t
oracle_mpfr(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers);

#endif /* ORACLE_MPFR_H */

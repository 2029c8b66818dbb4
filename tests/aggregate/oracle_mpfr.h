/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ORACLE_MPFR_H
#define ORACLE_MPFR_H

/** @file What the oracle has to say, by MPFR. */

#include <stdint.h>

#include <mpfr.h>

/** The reduction of one lane, of IEEE formats or a posit by MPFR; sum and mean of finite numbers,
 * not all zero. */
uint64_t
oracle_mpfr(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers);

/** The encoding nearest to a sum; the sum is not kept. */
uint64_t oracle_mpfr_round(unsigned int format, mpfr_t sum);

#endif /* ORACLE_MPFR_H */

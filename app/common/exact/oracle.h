/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ORACLE_H
#define ORACLE_H

/**
 * @file
 * The results that aggregation must return: by MPFR, exact and rounded once; integers by
 * __int128.
 */

#include <stdint.h>

#include <mpfr.h>

#include <aggregate.h>
#include <netfc.h>

struct oracle_result {
	uint64_t bits;
	uint8_t flags; /* enum netfc_flag */
};

/** The reduction of one lane, of what aggregate_has_format(). */
struct oracle_result
oracle_reduce(unsigned int op, unsigned int format, const uint64_t *values, unsigned int workers);

/** The value of an encoding; infinities and NaN (NaR) as such. */
double oracle_value(unsigned int format, uint64_t bits);

/** The encoding nearest to a number that is not NaN; the number is not kept. */
uint64_t oracle_round(unsigned int format, mpfr_t number);

#endif /* ORACLE_H */

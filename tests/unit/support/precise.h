/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PRECISE_H
#define PRECISE_H

/**
 * @file
 * Real numbers to far more bits than a table needs, from MPFR.
 *
 * A number is kept as a whole multiple of 2^-PRECISE_BITS rounded down, and whether that is the
 * number itself. Rounding that down further gives what rounding the number down would give, so
 * nothing derived from it depends on an error bound.
 */

#include <stdbool.h>
#include <stdint.h>

#define PRECISE_BITS 96

typedef __int128 int128;

struct precise {
	int128 floor;
	bool exact;
};

/** log2 of a positive number. */
struct precise precise_log2(double value);

/** log2 of significand * 2^-63. */
struct precise precise_log2_significand(uint64_t significand);

/** log2(1 + sign * 2^(-num/den)), sign being 1 or -1; num > 0 for -1; num/den <= 80. */
struct precise precise_log2_one(int sign, uint32_t num, uint32_t den);

/** 2^(num/den). */
struct precise precise_exp2(uint32_t num, uint32_t den);

#endif /* PRECISE_H */

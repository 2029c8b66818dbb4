/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LANES_H
#define LANES_H

/**
 * @file
 * Where things lie in the accumulators of a vector of values.
 */

#include "aggregate_lanes.h"

/* bf16 and fp32: 32 exponents each. */
#define BINS 8

/* Lanes whose bins lie together, bin by bin: a vector of AVX-512. */
#define GROUP 8

/* What says of a group that any of its bins may be in use, rather than which single one. */
#define ALL_BINS 0xff

/* Arrays are made for whole vectors of any kernel. */
#define MOST_LANES_AT_ONCE 32

/* What a lane has seen besides numbers. */
enum special {
	SPECIAL_NAN = 1,
	SPECIAL_PLUS_INF = 2,
	SPECIAL_MINUS_INF = 4,
};

struct aggregate_lanes {
	uint32_t capacity; /* of the arrays below: lanes of two bytes, whole vectors */
	bool has_specials; /* whether `specials` holds anything */
	uint8_t *common;   /* all workers' values, and-ed: in their first bits, whether all are
			      negative */
	uint8_t *specials; /* enum special, by lane */
	/* With AVX-512, by group: the bin that is in use, the others not even being zero; or
	 * ALL_BINS. */
	uint8_t *single_bins;
	/*
	 * fp16, posit16, int32: one integer a lane. posit16_es2: `capacity` low halves, then as
	 * many high ones. bf16, fp32: of each group of lanes, BINS times an integer for each of
	 * them.
	 */
	int64_t *sums;
	/* The same memory, for min and max: numbers that order as the values do. */
	int32_t *keys;
};

#endif /* LANES_H */

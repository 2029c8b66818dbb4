/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DATA_H
#define DATA_H

/**
 * @file
 * Values to aggregate, of kinds that each test something different.
 */

#include <stdint.h>

#include <aggregate.h>

enum data_kind {
	DATA_ANY,       /* any encoding */
	DATA_GRADIENTS, /* small numbers of a bell-shaped distribution */
	DATA_CANCEL,    /* workers whose values nearly, or just, cancel each other */
	DATA_SUBNORMAL, /* nothing but subnormals (posits: the least magnitudes) */
	DATA_OVERFLOW,  /* sums at the greatest number, to the last bit */
	DATA_ZEROS,     /* zeros of both signs, the least number among them now and then */
	DATA_SPARSE,    /* gradients, many of them zero, a few of any size */
	DATA_SPECIAL,   /* infinities, NaN, and the greatest and least numbers */
	DATA_FINITE,    /* any finite number: any exponent */
	DATA_KINDS,
};

/** For people. */
extern const char *const data_kind_names[DATA_KINDS];

/** For options, a word each. */
extern const char *const data_kind_words[DATA_KINDS];

/** The next number of a sequence that the seed stands for. */
uint64_t next_random(uint64_t *seed);

/** Fill a lane with the values of all workers, in random order; of what format results are does not
 * matter. */
void data_fill(enum data_kind kind, unsigned int format, uint64_t *values, unsigned int workers,
	uint64_t *seed);

/** Write a value as it stands in packets; the format of a result, aggregate_results_format(). */
void data_put(unsigned int format, uint8_t *packet, uint32_t lane, uint64_t bits);

/** Read one. */
uint64_t data_get(unsigned int format, const uint8_t *packet, uint32_t lane);

/** Change the order of the workers of a lane. */
void data_shuffle(uint64_t *values, unsigned int workers, uint64_t *seed);

#endif /* DATA_H */

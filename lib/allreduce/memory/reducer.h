/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_REDUCER_H
#define ALLREDUCE_REDUCER_H

/**
 * @file
 * Reductions by the switch's own functions, in memory: the same bits. Sums of fp32 and fp64 are of
 * any number of ranks, all else of as many as a switch has workers.
 */

#include <stddef.h>
#include <stdint.h>

#include <aggregate_digits.h>

/** What they need memory for. */
struct reducer;

/** NULL: there is not enough memory. */
struct reducer *reducer_new(void);

/** NULL is fine. */
void reducer_free(struct reducer *reducer);

/** What each rank gives: values in network byte order, at any address. */
struct reducer_values {
	const uint8_t *first; /**< the first rank's */
	size_t stride;        /**< bytes from those of a rank to those of the next */
	unsigned int ranks;   /**< 1 or more */
	size_t count;         /**< values of a rank */
};

/**
 * Reduce them.
 *
 * @param format, op that aggregate_has_format() has together
 * @param result in host byte order, at any address
 * @return enum netfc_flag, of all results
 */
uint8_t reducer_reduce(struct reducer *reducer, unsigned int format, unsigned int op,
	const struct reducer_values *values, uint8_t *result);

/**
 * Reduce them: sums and means of the values that they are the sums of, in host byte order.
 *
 * @param totals totals[r]: a rank's, with nothing left to carry; all of the same lanes
 * @return enum netfc_flag, of all results
 */
uint8_t reducer_reduce_totals(struct reducer *reducer, unsigned int op, uint32_t divisor,
	const struct aggregate_totals *totals, unsigned int ranks, uint8_t *result);

#endif /* ALLREDUCE_REDUCER_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_REDUCER_H
#define NETFC_MPI_REDUCER_H

/**
 * @file
 * Reductions of floats by the switch's own functions, in memory: the same bits, of any number of
 * ranks.
 */

#include <stddef.h>
#include <stdint.h>

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
	unsigned int ranks;   /**< 2 or more */
	size_t count;         /**< values of a rank */
};

/**
 * Reduce them.
 *
 * @param format AGGREGATE_FP32 or AGGREGATE_FP64
 * @param op AGGREGATE_SUM, AGGREGATE_MIN or AGGREGATE_MAX
 * @param result in host byte order, at any address
 */
void reducer_reduce(struct reducer *reducer, unsigned int format, unsigned int op,
	const struct reducer_values *values, uint8_t *result);

#endif /* NETFC_MPI_REDUCER_H */

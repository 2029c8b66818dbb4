/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_CONVERSION_H
#define NETFC_MPI_CONVERSION_H

/**
 * @file
 * How values of MPI's types go through the switch: in which of its formats, by which operation.
 *
 * Sums of integers wrap in MPI libraries, and saturate in the switch. So an integer is cut into
 * pieces of 16 bits, an int32 for each, whose sums over 64 ranks neither saturate nor wrap; put
 * together they give the sum of any integers, with a sign or without, modulo 2^32 or 2^64. One of
 * 8 or 16 bits is one piece, with its sign, for the least and greatest as well.
 *
 * A complex number is two floats, which are added each for itself.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

/** Integers of 8 bits are four times as long on their way, all others less. */
#define CONVERSION_GROWTH 4

struct conversion {
	unsigned int format;      /**< enum netfc_allreduce_format */
	unsigned int op;          /**< enum netfc_allreduce_op */
	unsigned int value_bytes; /**< of MPI's type, or of a part of it */
	unsigned int parts;       /**< of MPI's type: 2 of a complex number, else 1 */
	unsigned int pieces;      /**< values of the format for each; 0: the value as it is */
	uint64_t flip;            /**< bits to invert on the way there and back */
};

enum conversion_status {
	CONVERSION_OK,
	CONVERSION_NO_TYPE,
	CONVERSION_WIDE, /**< a float that is wider than the switch's */
	CONVERSION_NO_OPERATION
};

enum conversion_status conversion_find(struct conversion *conversion, MPI_Datatype type, MPI_Op op);

/** Whether values go as they are: no other array is needed. */
bool conversion_is_direct(const struct conversion *conversion);

/** Bytes of what goes to the switch for `count` values. */
size_t conversion_bytes(const struct conversion *conversion, size_t count);

/** How many values of the format go to the switch. */
uint64_t conversion_count(const struct conversion *conversion, size_t count);

/** Make what goes to the switch, unless it is direct. */
void
conversion_split(const struct conversion *conversion, void *to, const void *values, size_t count);

/** Make values of what came back. */
void
conversion_join(const struct conversion *conversion, void *values, const void *from, size_t count);

/** Whether sums are rounded, so that values may only be added where nothing is lost. */
bool conversion_rounds(const struct conversion *conversion);

/** Reduce values with others in place: what the switch would make of both, if nothing is rounded.
 */
void conversion_reduce(
	const struct conversion *conversion, void *values, const void *others, size_t count);

#endif /* NETFC_MPI_CONVERSION_H */

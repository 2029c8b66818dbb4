/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_SUMS_H
#define AGGREGATE_SUMS_H

/**
 * @file
 * A sum of fp16 values in two integers of 32 bits, as switches with such registers keep it and send
 * it to be rounded (docs/protocol.md).
 *
 * A finite value is m * 2^(e - 25), e its exponent field, 1 where that is 0, m its significand. e
 * up to 15: `low` is its m << (e - 1), negated with its sign, and `high` 0; e from 16: `high` is m
 * << (e - 16), `low` 0. Integers are added by themselves: the sum is low * 2^-24 + high * 2^-9. The
 * sums of 32 workers stay below 2^30, so that what is above tells of values that are no numbers.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Workers whose sums fit. */
#define AGGREGATE_SUMS_WORKERS 32

/** On the wire: `low`, then `high`, big-endian. */
#define AGGREGATE_SUMS_BYTES 8

/** `high` of a lane that has +infinity, `low` of one that has -infinity: this, and it stays. */
#define AGGREGATE_SUMS_INF INT32_C(0x40000000)
/** `high` of a lane that has a NaN. */
#define AGGREGATE_SUMS_NAN INT32_C(0x60000000)
/** `low` of a lane all of whose values are -0. */
#define AGGREGATE_SUMS_MINUS_ZERO INT32_MIN

/**
 * Round sums, once, to nearest, ties to even: the bits and flags of the kernels
 * (aggregate_lanes.h).
 *
 * @param op AGGREGATE_SUM or AGGREGATE_MEAN
 * @param workers how many values each sum has, 1 .. AGGREGATE_SUMS_WORKERS
 * @param sums count times AGGREGATE_SUMS_BYTES, at any address
 * @param result count fp16 encodings in host order, at any address; does not overlap `sums`
 * @return enum netfc_flag, of all lanes
 */
uint8_t aggregate_sums_round(
	unsigned int op, unsigned int workers, const uint8_t *sums, size_t count, uint8_t *result);

#ifdef __cplusplus
}
#endif

#endif /* AGGREGATE_SUMS_H */

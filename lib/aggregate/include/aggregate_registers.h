/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_REGISTERS_H
#define AGGREGATE_REGISTERS_H

/**
 * @file
 * A sum in one or two 32-bit integers, `low` and `high`: what switches with such registers keep and
 * send for the worker to round (docs/protocol.md). Each integer is added separately.
 *
 * fp16: a finite value is m * 2^(e - 25), e its exponent field, 1 where that is 0, m its
 * significand. e up to 15: `low` is its m << (e - 1), negated with its sign, and `high` 0; e from
 * 16: `high` is m << (e - 16), `low` 0. The sum is low * 2^-24 + high * 2^-9. The sums of 32
 * workers stay below 2^30, so larger ones mark infinities and NaN.
 *
 * int32: `low` is a value's lower 16 bits, 0 .. 65535, and `high` the others, with the sign. The
 * sum is low + high * 2^16.
 *
 * fp8_e4m3: `low` alone, with multiples of 2^-9: m << (e - 1).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <aggregate_format.h>

/** Maximum workers whose sums fit. */
#define AGGREGATE_SUMS_WORKERS 32

/** Maximum bytes on the wire: `low`, then `high`, big-endian. */
#define AGGREGATE_SUMS_BYTES 8

/** fp16: `high` of a lane that has +infinity, `low` of one that has -infinity: this; further values
 * do not change it.
 */
#define AGGREGATE_SUMS_INF INT32_C(0x40000000)
/** fp16: `high` of a lane that has a NaN, fp8_e4m3: `low`. */
#define AGGREGATE_SUMS_NAN INT32_C(0x60000000)
/** fp16, fp8_e4m3: `low` of a lane all of whose values are -0. */
#define AGGREGATE_SUMS_MINUS_ZERO INT32_MIN

/** Whether there are sums of a format: fp16, int32 and fp8_e4m3. */
static inline bool
aggregate_registers_has(enum aggregate_format format)
{
	return format == AGGREGATE_FP16 || format == AGGREGATE_INT32 ||
		format == AGGREGATE_FP8_E4M3;
}

/** Bytes of a sum on the wire. */
static inline size_t
aggregate_registers_bytes(enum aggregate_format format)
{
	return format == AGGREGATE_FP8_E4M3 ? AGGREGATE_SUMS_BYTES / 2 : AGGREGATE_SUMS_BYTES;
}

/**
 * Round sums, once, to nearest, ties to even; those of int32 saturate. The bits and flags of the
 * kernels (aggregate_lanes.h).
 *
 * @param format that aggregate_registers_has()
 * @param op AGGREGATE_SUM or AGGREGATE_MEAN
 * @param workers how many values each sum has, 1 .. AGGREGATE_SUMS_WORKERS
 * @param sums count times aggregate_registers_bytes(), at any address
 * @param result count values in host order, at any address; does not overlap `sums`
 * @return enum netfc_flag, of all lanes
 */
uint8_t aggregate_registers_round(enum aggregate_format format, unsigned int op,
	unsigned int workers, const uint8_t *sums, size_t count, uint8_t *result);

#endif /* AGGREGATE_REGISTERS_H */

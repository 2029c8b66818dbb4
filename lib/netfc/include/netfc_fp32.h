/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_FP32_H
#define NETFC_FP32_H

/**
 * @file
 * IEEE 754 binary32: operands and results of 32 bits.
 *
 * binary32 has one table set, `fp32_exact`, whose results are correctly rounded. It is built,
 * stored and described as all sets are (netfc_set.h, netfc_file.h); functions that compute take
 * encodings of 32 bits and are declared here. What netfc_arith.h and netfc_lanes.h declare for
 * encodings of 16 bits is not for that set, nor is what netfc_format.h says of encodings for its
 * format.
 */

#include <stdint.h>

#include "netfc_arith.h"
#include "netfc_format.h"
#include "netfc_lanes.h"
#include "netfc_set.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The encoding of infinity, which is also the greatest magnitude that is no NaN. */
#define NETFC_FP32_INF 0x7f800000u

/** The quiet NaN of all results that are NaN: only the top fraction bit is set. */
#define NETFC_FP32_NAN 0x7fc00000u

/** The sign bit. */
#define NETFC_FP32_SIGN 0x80000000u

/** A result. */
struct netfc_fp32_result {
	uint32_t z;
	uint8_t flags; /**< of enum netfc_flag */
};

/** The format: number 5, named "fp32". netfc_format_by_id() and _by_name() know those of 16 bits.
 */
NETFC_API const struct netfc_format *netfc_fp32_format(void);

/**
 * The correctly rounded result in integers, without tables: IEEE 754-2019, to nearest, ties to
 * even.
 *
 * @param op one of enum netfc_op
 * @param x, y encodings
 */
NETFC_API struct netfc_fp32_result netfc_fp32_exact(enum netfc_op op, uint32_t x, uint32_t y);

/**
 * The correctly rounded results of many lanes, one by one as netfc_fp32_exact() computes them.
 *
 * @param op the operation of all lanes
 * @param x, y operands, `count` each
 * @param z results, `count`; may be x or y
 * @param flags exception flags, `count`, or NULL
 * @param count how many lanes; any number
 * @return the exception flags of all lanes, or-ed
 */
NETFC_API uint8_t netfc_fp32_exact_lanes(enum netfc_op op, const uint32_t *x, const uint32_t *y,
	uint32_t *z, uint8_t *flags, uint32_t count);

/**
 * Compute lanes through the tables in plain C, as netfc_compute() does for encodings of 16 bits.
 *
 * @param set `fp32_exact`
 * @param op the operation of all lanes
 * @param x, y operands, `count` each
 * @param z results, `count`; may be x or y
 * @param flags exception flags, `count`, or NULL
 * @param count how many lanes; any number
 * @return the exception flags of all lanes, or-ed
 */
NETFC_API uint8_t netfc_fp32_compute(const struct netfc_set *set, enum netfc_op op,
	const uint32_t *x, const uint32_t *y, uint32_t *z, uint8_t *flags, uint32_t count);

/**
 * Walk one operation through the stages.
 *
 * @param set `fp32_exact`
 * @param fn called after each step; the lane's fields are lanes->field[f][0]
 * @param arg handed to fn
 * @return the result
 */
NETFC_API struct netfc_fp32_result netfc_fp32_walk(const struct netfc_set *set, enum netfc_op op,
	uint32_t x, uint32_t y, netfc_walk_fn fn, void *arg);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_FP32_H */

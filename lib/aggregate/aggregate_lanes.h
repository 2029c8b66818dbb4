/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_LANES_H
#define AGGREGATE_LANES_H

/**
 * @file
 * Exact accumulators: many lanes, one value from each worker, the result rounded once.
 *
 * Values come as they stand in packets: big-endian, at any address; results are written so. The
 * order of the workers makes no difference to a single bit, nor does the instruction set. The sum
 * of a lane is kept in integers: fp8_e4m3 in one of 32 bits, fp16, fp8_e5m2, posit16 and int32 in
 * one of 64, posit16_es2 in one of 128 (the posit standard's quire), bf16 and fp32 in eight bins,
 * each for 32 exponents.
 *
 * One vector of values is one *packet* here; a *state* is the memory that keeps the sums of its
 * lanes. No function allocates.
 */

#include <stddef.h>
#include <stdint.h>

#include "aggregate_digits.h"
#include "aggregate_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A state's memory has to be aligned to this. */
#define AGGREGATE_ALIGN 64

/** The accumulators of a vector of values; where things lie in it is the kernels' business. */
struct aggregate_lanes;

/** How one operation is done in one format with one instruction set. */
struct aggregate_kernel {
	/** The first worker's values: whatever the state held is forgotten. */
	void (*begin)(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count);
	/** Another worker's values. */
	void (*add)(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count);
	/**
	 * The last worker's values, and the result.
	 *
	 * @param values NULL: there are no more than have been added
	 * @param workers how many there were with this one, 1 .. AGGREGATE_MAX_WORKERS
	 * @param result count results, big-endian, at any address; may be `values`
	 * @return enum netfc_flag, of all lanes
	 */
	uint8_t (*finish)(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count,
		unsigned int workers, uint8_t *result);
	/** Add the sums to totals of their format; NULL: least and greatest have none. */
	void (*lift)(const struct aggregate_lanes *lanes, struct aggregate_totals *totals);
};

/**
 * Bytes of a state.
 *
 * @param formats the formats that it has to be able to keep, a set of bits 1 << format
 * @param bytes of values at the most, 1 .. 65535
 */
size_t aggregate_lanes_bytes(unsigned int formats, uint32_t bytes);

/**
 * Prepare a state.
 *
 * @param memory aggregate_lanes_bytes(formats, bytes), aligned to AGGREGATE_ALIGN
 * @param bytes of values at the most
 */
struct aggregate_lanes *aggregate_lanes_init(void *memory, uint32_t bytes);

/**
 * Find a kernel.
 *
 * @param isa up to aggregate_isa_best()
 * @param op a reduction
 * @param format that aggregate_has_format() with it
 * @return never NULL for what is asked for within these bounds; else NULL
 */
const struct aggregate_kernel *
aggregate_kernel(enum aggregate_isa isa, unsigned int op, unsigned int format);

/**
 * Reduce the values of all workers at once.
 *
 * @param values values[w]: `count` values of worker w
 * @param workers 1 .. AGGREGATE_MAX_WORKERS
 * @param result as in struct aggregate_kernel
 * @return enum netfc_flag, of all lanes
 */
uint8_t aggregate_reduce(const struct aggregate_kernel *kernel, struct aggregate_lanes *lanes,
	const uint8_t *const *values, unsigned int workers, uint32_t count, uint8_t *result);

#ifdef __cplusplus
}
#endif

#endif /* AGGREGATE_LANES_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_LANES_H
#define AGGREGATE_LANES_H

/**
 * @file
 * Exact accumulators: many lanes, one value from each worker, the result rounded once.
 *
 * Values are read as packets carry them: big-endian, at any address; results are written likewise.
 * Neither the order of the workers nor the instruction set changes a single bit. The sum of a lane
 * is kept in integers: fp8_e4m3 in one of 32 bits, fp16, fp8_e5m2, posit16 and int32 in one of 64,
 * posit16_es2 in one of 128 (the posit standard's quire), bf16 and fp32 in eight bins, each for 32
 * exponents, or in binary64 as long as nothing is rounded away.
 *
 * A *packet* here is one vector of values; a *state* is the memory with the sums of its lanes. No
 * function allocates.
 */

#include <stddef.h>
#include <stdint.h>

#include "aggregate_digits.h"
#include "aggregate_format.h"

/** Alignment of a state's memory. */
#define AGGREGATE_ALIGN 64

/** The accumulators of a vector of values; their layout is private to the kernels. */
struct aggregate_lanes;

/** The kernel of an operation in a format, for one instruction set. */
struct aggregate_kernel {
	/** The first worker's values: replaces what the state held. */
	void (*begin)(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count);
	/** Another worker's values. */
	void (*add)(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count);
	/**
	 * The last worker's values, and the result.
	 *
	 * @param values NULL: all have been added already
	 * @param workers how many there were with this one, 1 .. AGGREGATE_MAX_WORKERS
	 * @param result count results, big-endian, at any address; may be `values`
	 * @return enum netfc_flag, of all lanes
	 */
	uint8_t (*finish)(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count,
		unsigned int workers, uint8_t *result);
	/** Add the sums to totals of their format; NULL for min and max. */
	void (*lanes_to_totals)(struct aggregate_lanes *lanes, struct aggregate_totals *totals);
};

/**
 * Bytes of a state.
 *
 * @param formats a set of bits 1 << format that it must have room for
 * @param bytes maximum bytes of values, 1 .. 65535
 */
size_t aggregate_lanes_bytes(unsigned int formats, uint32_t bytes);

/**
 * Prepare a state.
 *
 * @param memory aggregate_lanes_bytes(formats, bytes), aligned to AGGREGATE_ALIGN
 * @param bytes of values at most
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
 * Reduce the values of all workers in one call.
 *
 * @param values values[w]: `count` values of worker w
 * @param workers 1 .. AGGREGATE_MAX_WORKERS
 * @param result as in struct aggregate_kernel
 * @return enum netfc_flag, of all lanes
 */
uint8_t aggregate_reduce(const struct aggregate_kernel *kernel, struct aggregate_lanes *lanes,
	const uint8_t *const *values, unsigned int workers, uint32_t count, uint8_t *result);

#endif /* AGGREGATE_LANES_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef KERNELS_H
#define KERNELS_H

/**
 * @file
 * The kernels of each instruction set, by operation from AGGREGATE_SUM on and by format, or two.
 */

#include "aggregate_lanes.h"

#define REDUCTIONS (AGGREGATE_MAX - AGGREGATE_SUM + 1)

typedef struct aggregate_kernel kernel_table[REDUCTIONS][AGGREGATE_PAIR_END];

extern const kernel_table aggregate_kernels_plain;
extern const kernel_table aggregate_kernels_avx2;
extern const kernel_table aggregate_kernels_avx512;
extern const kernel_table aggregate_kernels_neon;

/* Of short totals (digits.h), or-ed: all bits, and those that are more than sign. */
struct total_bits {
	unsigned __int128 any, span;
};

/* Totals of an instruction set. Those of bits() and write() are short, none is special. */
struct totals_kernel {
	/* The digits of a part; its marks are others' business. */
	void (*add)(struct aggregate_totals *totals, const struct aggregate_part *part);
	struct total_bits (*bits)(
		const struct aggregate_totals *totals, uint32_t first, uint32_t end);
	/* Their digits from one on, a multiple of 32 places; width 1 .. SHORT_BINS. */
	void (*write)(const struct aggregate_totals *totals, uint32_t first, uint32_t lanes,
		uint32_t places, uint32_t width, uint8_t *digits);
	/* As aggregate_totals_round(). */
	uint8_t (*round)(const struct aggregate_totals *totals, unsigned int op,
		unsigned int workers, uint8_t *result);
};

extern const struct totals_kernel aggregate_totals_plain;
extern const struct totals_kernel aggregate_totals_avx2;
extern const struct totals_kernel aggregate_totals_avx512;
extern const struct totals_kernel aggregate_totals_neon;

#endif /* KERNELS_H */

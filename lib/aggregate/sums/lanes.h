/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LANES_H
#define LANES_H

/**
 * @file
 * Where things lie in the accumulators of a vector of values.
 */

#include "aggregate_lanes.h"

/* bf16 and fp32: 32 exponents each. */
#define BINS 8

/* fp64: 32 places each, see fp64_lanes.h. */
#define FP64_BINS 68
#define BIN_PLACES 32

/* Lanes that are worked on together: a vector of AVX-512, or as many words of NEON. */
#define GROUP 8

/* What says of a group that any of its bins may be in use, rather than which single one. */
#define ALL_BINS 0xff

/* Arrays are made for whole vectors of any kernel. */
#define MAX_LANES_AT_ONCE 32

/* What a lane has seen besides numbers. */
enum special {
	SPECIAL_NAN = 1,
	SPECIAL_PLUS_INF = 2,
	SPECIAL_MINUS_INF = 4,
};

struct aggregate_lanes {
	uint32_t capacity; /* of `sums`: lanes of two bytes, whole vectors */
	uint32_t wide;     /* likewise, lanes of four bytes */
	uint32_t widest;   /* likewise, lanes of eight bytes */
	bool has_specials; /* whether `specials` holds anything */
	/*
	 * Whether all workers' values are negative: their first bits, and-ed. In plain C the values
	 * themselves are and-ed, with AVX-512 there is a bit for each lane.
	 */
	uint8_t *common;
	uint8_t *specials; /* enum special, by lane */
	bool narrow;       /* with AVX-512, fp16: the sums have 32 bits */
	/* With AVX2, bf16, fp32: binary64 numbers of a lane, see doubles_lanes.h; 0: bins */
	uint8_t doubles;
	bool kept;       /* they, or fp64's, are in `common` as the first worker sent them */
	bool windowed;   /* fp64: the sums are in the window, and not in bins */
	uint32_t window; /* fp64: the place where it begins; not known before the first number */
	/* With NEON, by group: the bin that is in use, others not even being zero; or ALL_BINS. */
	uint8_t *single_bins;
	/*
	 * fp16, posit16, int32, fp8_e5m2: one integer a lane. posit16_es2: `capacity` low halves,
	 * then as many high ones. bf16, fp32: bin by bin, `capacity` or `wide` times an integer a
	 * lane, so that values of similar size have theirs in one piece; doubles, likewise. int64:
	 * `widest` lower words, then as many upper ones. fp64: the same for the window, `widest`
	 * sets of bins in use, FP64_BINS for each lane, then what the sums in `common` have lost.
	 */
	int64_t *sums;
	/* The same memory, for min and max: numbers that order as the values do; of fp64 and
	 * int64, in 64 bits. */
	int32_t *keys;
	/* The same memory: the sums of fp8_e4m3. */
	int32_t *short_sums;
};

/*
 * The kernels of each instruction set, by operation from AGGREGATE_SUM on and by format, or two.
 */

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

#endif /* LANES_H */

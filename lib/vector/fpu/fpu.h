/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_FPU_H
#define VECTOR_FPU_H

/**
 * @file
 * Kernels without tables: operands to binary32, one operation of the processor's FPU, the result
 * to the format. Correctly rounded, as netfc_exact(). Where the processor computes in binary16, its
 * operation is the whole of it.
 *
 * Rounding twice does no harm: binary32 has 24 bits of significand, two more than twice those of
 * binary16 (11) and bfloat16 (8) (Figueroa, "When is double rounding innocuous?", 1995). Results of
 * bfloat16 that are subnormal are so in binary32, too, with 16 places more: sums are exact then,
 * products from half of the least bfloat16 on as well, and quotients of 8-bit significands stay
 * 2^-143 away from halves of 2^-133, far more than binary32's 2^-150. Tests compare all pairs.
 */

#include <stdbool.h>

#include <rte_common.h>

#include "lanes/drive.h"
#include "vector.h"

struct fpu_kernel {
	struct vector_kernel kernel;
	const struct netfc_format *format;
	const char *how; /* instruction set and format, human-readable */
	uint16_t inf;    /* of formats of 16 bits, as nan */
	uint16_t nan;
};

/* fpu_lanes.c: set the functions for the kernel's format; false if there are none. */
bool fpu_use_avx2(struct fpu_kernel *kernel);
bool fpu_use_avx512(struct fpu_kernel *kernel);
bool fpu_use_neon(struct fpu_kernel *kernel);
bool fpu_use_neon_fp16(struct fpu_kernel *kernel);

/* fp32_lanes.c */
vector_packets_fn fp32_run_plain, fp32_run_avx2, fp32_run_avx512;

/* ---- formats of 8 bits ---- */

/*
 * Kernels of formats of 8 bits: all results of an operation fit an array, which a lane of few looks
 * up. With AVX-512 many lanes are computed in binary32, rounded to binary16 and from there to 8
 * bits. That harms no result: binary16 has 11 bits of significand, at least two more than twice
 * those of the formats, and where its subnormal numbers are coarse, it is finer than half
 * of theirs still. Tests compare all pairs.
 */

#define FP8_OPS 4
#define FP8_RESULTS 0x10000u
/* Above z in a result. */
#define FP8_FLAGS_SHIFT 8

/* Magnitudes in which formats differ. */
struct fp8_limits {
	uint8_t top;       /* of what is too large */
	uint8_t over;      /* what it becomes */
	uint8_t over_sign; /* 0x80, if with its sign */
	uint8_t last;      /* the greatest that is no NaN */
	uint8_t nan;
};

static inline struct fp8_limits
fp8_limits_of(const struct netfc_format *format)
{
	const uint32_t over = netfc_overflowed(format, true), top = netfc_inf_magnitude(format);

	return (struct fp8_limits){
		.top = (uint8_t)top,
		.over = (uint8_t)(over & INT8_MAX),
		.over_sign = (uint8_t)(over & ~(uint32_t)INT8_MAX),
		.last = (uint8_t)(top - (netfc_classify(format, top) == NETFC_NAN)),
		.nan = (uint8_t)netfc_nan(format),
	};
}

struct fp8_kernel {
	struct fpu_kernel fpu;
	struct fp8_limits limits;
	uint16_t result[FP8_OPS][FP8_RESULTS] __rte_cache_aligned; /* by x, y */
};

INLINE struct lane
fp8_result(const void *results, uint32_t x, uint32_t y, uint32_t z)
{
	const uint32_t entry = ((const uint16_t *)results)[x << 8 | y];

	(void)z;
	return (struct lane){entry, entry};
}

/* A packet's lanes, looked up. */
INLINE void
fp8_look_up(const struct fp8_kernel *kernel, unsigned int op, struct vector_packet *packet)
{
	drive_packet(packet, (struct drive){8, true, FP8_FLAGS_SHIFT}, fp8_result,
		kernel->result[op - NETFC_ADD]);
}

/* fp8_avx512.c */
vector_packets_fn fp8_e4m3_run_avx512, fp8_e5m2_run_avx512;

#endif /* VECTOR_FPU_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXTENDED_KERNELS_H
#define EXTENDED_KERNELS_H

/**
 * @file
 * Kernels of min, max, compare and fma, and of conversions.
 *
 * fma computes in binary arithmetic that is wider than any format: x * y + z, rounded to odd, that
 * is, cut off, with the last bit set if that lost anything. Whatever is then rounded to a few bits
 * less comes out as if the exact sum had been (Boldo and Melquiond, "Emulation of FMA and correctly
 * rounded sums: proved algorithms using rounding to odd", 2008). Binary32 is wide enough: a
 * rounding boundary of fp16 has 12 bits, of bf16 9, of a posit 14, binary32 has 24. Products of
 * posits reach from 2^-112 to 2^112, and where numbers of bf16 are subnormal, binary32 has 16
 * places more.
 */

#include <stdbool.h>

#include <rte_common.h>

#include "fpu/fpu.h"
#include "vector.h"

struct extended_kernel {
	struct vector_kernel kernel;
	const struct netfc_format *format;
	vector_packets_fn *run[NETFC_EXTRA_END - NETFC_MIN]; /* by operation less NETFC_MIN */
	uint16_t inf;
	struct order_limits {
		uint16_t last, nan, one, minus_one; /* `last`: the greatest that is no NaN */
	} limits;
};

/*
 * order.c, fma.c, fma_avx512.c and fma_fp8.c, one for each instruction set: set the functions of
 * a kernel that they have for its format. Others stay as they are.
 */
typedef void extended_use_fn(struct extended_kernel *kernel);
extended_use_fn order_use_plain, order_use_avx2, order_use_avx512;
extended_use_fn fma_use_plain, fma_use_avx2, fma_use_avx512;
extended_use_fn fma_fp8_use_plain, fma_fp8_use_avx2, fma_fp8_use_avx512;

/* Such a function: run_packet(kernel, packet, ...), the other arguments of which are constants. */
#define EXTENDED_PACKETS(name, run_packet, ...)                                       \
	static void name(const struct vector_kernel *kernel, unsigned int op,         \
		struct vector_packet *packets, unsigned int count)                    \
	{                                                                             \
		(void)op;                                                             \
		for (unsigned int p = 0; p < count; p++)                              \
			run_packet((const void *)kernel, &packets[p], ##__VA_ARGS__); \
	}

/* What fma.c and fma_avx512.c define, by FMA(name, format) a function each. */
#define FMA_USE(FMA)                                                            \
	FMA(fma_fp16, NETFC_FP16)                                               \
	FMA(fma_posit16, NETFC_POSIT16)                                         \
	FMA(fma_bf16, NETFC_BF16)                                               \
	FMA(fma_posit16_es2, NETFC_POSIT16_ES2)                                 \
	void VECTOR_NAME(fma_use)(struct extended_kernel * kernel)              \
	{                                                                       \
		static vector_packets_fn *const functions[] = {                 \
			[NETFC_FP16] = fma_fp16,                                \
			[NETFC_POSIT16] = fma_posit16,                          \
			[NETFC_BF16] = fma_bf16,                                \
			[NETFC_POSIT16_ES2] = fma_posit16_es2,                  \
		};                                                              \
		const unsigned int format = netfc_format_id(kernel->format);    \
                                                                                \
		if (format < RTE_DIM(functions) && functions[format] != NULL)   \
			kernel->run[NETFC_FMA - NETFC_MIN] = functions[format]; \
	}

/*
 * Of formats of 8 bits. Double precision holds x * y + z whole: of fp8_e5m2 it is a multiple of
 * 2^-32, and one that is greater than 2^17 is a multiple of 2^-16 and less than 2^33.
 */
struct extended_fp8 {
	struct extended_kernel base;
	double value[UINT8_MAX + 1];
	double least_normal;
	double anchor; /* its last place is that of the least number */
	struct fp8_limits limits;
	uint8_t fraction_bits;
	uint8_t least_exponent; /* of a normal number: so much less than 0 */
};

/* ---- conversions ---- */

/*
 * Conversions between binary32 and formats of 8 and 16 bits, in slots of 32 bits.
 *
 * An array has what narrow formats are in binary32, and what binary32 is in formats of 8 bits: for
 * the latter, the upper 16 bits of a number, bfloat16, are rounded to odd.
 * They have at least two more bits of fraction than the format, so that the array's result is that
 * of the number itself.
 */

/* What is done with a lane. */
enum conversion {
	CONVERSION_WIDEN_8,
	CONVERSION_WIDEN_16,
	CONVERSION_FP8,
	CONVERSION_LOOKED_UP = CONVERSION_FP8, /* these by the array */
	CONVERSION_FP32,
	CONVERSION_FP16,
	CONVERSION_BF16,
	CONVERSION_POSIT16,
	CONVERSION_POSIT16_ES2,
	CONVERSION_ANY, /* in integers, lane by lane */
};

/* Above z of 8 bits in an entry. */
#define CONVERSION_FLAGS_SHIFT 8

struct conversion_kernel {
	struct vector_kernel kernel;
	enum conversion conversion;
	const struct netfc_function *function;
	const struct netfc_format *format; /* of x */
	uint32_t entries[NETFC_FUNCTION_ENTRIES] __rte_cache_aligned;
};

/* conversion_lanes.c, one for each instruction set: set the function; all but CONVERSION_ANY. */
typedef void conversion_use_fn(struct conversion_kernel *kernel);
conversion_use_fn conversion_use_plain, conversion_use_avx2, conversion_use_avx512;

#endif /* EXTENDED_KERNELS_H */

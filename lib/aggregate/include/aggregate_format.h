/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATE_FORMAT_H
#define AGGREGATE_FORMAT_H

/**
 * @file
 * What can be aggregated: formats and operations; and the instruction sets that kernels use.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Formats of values, numbered as on the wire. */
enum aggregate_format {
	AGGREGATE_FP16 = 1,        /**< IEEE 754 binary16 */
	AGGREGATE_POSIT16 = 2,     /**< posit<16,1> */
	AGGREGATE_BF16 = 3,        /**< bfloat16 */
	AGGREGATE_POSIT16_ES2 = 4, /**< posit<16,2>, the 2022 standard's */
	AGGREGATE_FP32 = 5,        /**< IEEE 754 binary32 */
	AGGREGATE_INT32 = 6,       /**< two's complement; sums saturate */
	AGGREGATE_FP64 = 7,        /**< IEEE 754 binary64 */
	AGGREGATE_FP8_E4M3 = 8, /**< OCP OFP8 E4M3: no infinity, sums that are too large are NaN */
	AGGREGATE_FP8_E5M2 = 9, /**< OCP OFP8 E5M2 */
	AGGREGATE_INT64 = 10,   /**< two's complement; sums saturate */
};

/** One more than the greatest format number. */
#define AGGREGATE_FORMAT_END 11

/**
 * A pair of formats, values and results, where these differ: functions here take it in place of a
 * format, and the wire has it. Sums and means exist for the pairs that have a name.
 */
#define AGGREGATE_INTO(values, results) ((values) | (results) << 4)

/** One more than the greatest number of a format or a pair. */
#define AGGREGATE_PAIR_END (AGGREGATE_INTO(AGGREGATE_FORMAT_END - 1, AGGREGATE_FP32) + 1)

/** Every format, as a set of bits: bit 1 << format. */
#define AGGREGATE_ALL_FORMATS 0x7feu

/** Operations, numbered as on the wire. */
enum aggregate_op {
	AGGREGATE_JOIN = 32,
	AGGREGATE_SUM = 33,  /**< the exact sum, rounded once */
	AGGREGATE_MEAN = 34, /**< the exact sum over the number of workers, rounded once */
	AGGREGATE_MIN = 35,  /**< IEEE 754-2019 minimum: NaN prevails, -0 is less than +0 */
	AGGREGATE_MAX = 36,  /**< IEEE 754-2019 maximum */
	AGGREGATE_COPY = 37, /**< the owner's values, unchanged */
	AGGREGATE_LEAVE = 40,
};

/** Maximum workers of a job. */
#define AGGREGATE_MAX_WORKERS 64

/** Instruction sets with kernels of their own; each includes those before it. */
enum aggregate_isa {
	AGGREGATE_PLAIN, /**< what the rest of the program is compiled for */
#if defined(__x86_64__)
	AGGREGATE_AVX2,   /**< AVX2, F16C, BMI 1 and 2 */
	AGGREGATE_AVX512, /**< AVX-512 F, BW, CD, DQ and VL */
#elif defined(__aarch64__)
	AGGREGATE_NEON, /**< Advanced SIMD of 128 bits */
#endif
	AGGREGATE_ISAS,
};

/** The format of the values. */
static inline unsigned int
aggregate_values_format(unsigned int format)
{
	return format & 0xf;
}

/** The format of the results. */
static inline unsigned int
aggregate_results_format(unsigned int format)
{
	return format >> 4 != 0 ? format >> 4 : format;
}

/** Whether that number is a format of both values and results. */
bool aggregate_is_format(unsigned int format);

/** Whether the operation supports the format; pairs of formats are for sum and mean only. */
bool aggregate_has_format(unsigned int op, unsigned int format);

/** Whether the operation reduces values: sum, mean, min or max. */
bool aggregate_is_reduction(unsigned int op);

/** Whether the operation is one of chunks: a reduction, or copy. */
bool aggregate_is_chunk(unsigned int op);

/** Bytes of a value: 1, 2, 4 or 8; 0: no such format. */
unsigned int aggregate_value_bytes(unsigned int format);

/** Bytes of a result, likewise. */
unsigned int aggregate_result_value_bytes(unsigned int format);

/** Bytes of a lane's value or result, whichever is larger. */
unsigned int aggregate_lane_bytes(unsigned int format);

/** Copy values from host to network byte order, or back; neither side has to be aligned. */
void
aggregate_swap_values(uint8_t *to, const uint8_t *from, size_t count, unsigned int value_bytes);

/** "fp16", "posit16", "bf16", "posit16_es2", "fp32", "int32", "fp64", "fp8_e4m3", "fp8_e5m2" or
 * "int64"; "fp8_e4m3:fp32" if results have another format; NULL for anything else. */
const char *aggregate_format_name(unsigned int format);

/** The format of that name, or 0. */
unsigned int aggregate_format_by_name(const char *name);

/** "join", "sum", "mean", "min", "max", "copy" or "leave"; NULL for anything else. */
const char *aggregate_op_name(unsigned int op);

/** "plain C", "AVX2" or "AVX-512". */
const char *aggregate_isa_name(enum aggregate_isa isa);

/** The best instruction set that the processor and its operating system have. */
enum aggregate_isa aggregate_isa_best(void);

/*
 * Chunks with an owner: which packets carry values, and which results.
 *
 * |                       | values in requests of | values in results for |
 * |-----------------------|-----------------------|-----------------------|
 * | reduction, no owner   | all                   | all                   |
 * | reduction, owner w    | all                   | w                     |
 * | copy, owner w         | w                     | all but w             |
 * | copy, count 0         | nobody                | nobody                |
 *
 * A packet without values is the header alone. A result without them is an acknowledgement, of kind
 * AGGREGATE_ACKNOWLEDGED.
 */

/** A chunk's owner on the wire: this + worker; 0: no owner. */
#define AGGREGATE_OWNER 64

/** Whether that can be an owner, in a job of the maximum of workers. */
static inline bool
aggregate_is_owner(unsigned int owner)
{
	return owner == 0 ||
		(owner >= AGGREGATE_OWNER && owner < AGGREGATE_OWNER + AGGREGATE_MAX_WORKERS);
}

/** Whether a worker's packet of a chunk has its values. */
static inline bool
aggregate_sends_values(unsigned int op, unsigned int owner, unsigned int worker)
{
	return op != AGGREGATE_COPY || owner == AGGREGATE_OWNER + worker;
}

/** Whether a worker's result of a chunk has values. */
static inline bool
aggregate_receives_values(unsigned int op, unsigned int owner, unsigned int worker)
{
	return owner == 0 ? op != AGGREGATE_COPY
			  : (op == AGGREGATE_COPY) != (owner == AGGREGATE_OWNER + worker);
}

#endif /* AGGREGATE_FORMAT_H */

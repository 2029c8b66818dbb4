/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "aggregate_format.h"

static const struct {
	const char *name;
	unsigned int bytes;
} formats[AGGREGATE_PAIR_END] = {
	[AGGREGATE_FP16] = {"fp16", 2},
	[AGGREGATE_POSIT16] = {"posit16", 2},
	[AGGREGATE_BF16] = {"bf16", 2},
	[AGGREGATE_POSIT16_ES2] = {"posit16_es2", 2},
	[AGGREGATE_FP32] = {"fp32", 4},
	[AGGREGATE_INT32] = {"int32", 4},
	[AGGREGATE_FP64] = {"fp64", 8},
	[AGGREGATE_FP8_E4M3] = {"fp8_e4m3", 1},
	[AGGREGATE_FP8_E5M2] = {"fp8_e5m2", 1},
	[AGGREGATE_INT64] = {"int64", 8},
	[AGGREGATE_INTO(AGGREGATE_FP16, AGGREGATE_FP32)] = {"fp16:fp32", 2},
	[AGGREGATE_INTO(AGGREGATE_BF16, AGGREGATE_FP32)] = {"bf16:fp32", 2},
	[AGGREGATE_INTO(AGGREGATE_FP8_E4M3, AGGREGATE_FP16)] = {"fp8_e4m3:fp16", 1},
	[AGGREGATE_INTO(AGGREGATE_FP8_E4M3, AGGREGATE_BF16)] = {"fp8_e4m3:bf16", 1},
	[AGGREGATE_INTO(AGGREGATE_FP8_E4M3, AGGREGATE_FP32)] = {"fp8_e4m3:fp32", 1},
	[AGGREGATE_INTO(AGGREGATE_FP8_E5M2, AGGREGATE_FP16)] = {"fp8_e5m2:fp16", 1},
	[AGGREGATE_INTO(AGGREGATE_FP8_E5M2, AGGREGATE_BF16)] = {"fp8_e5m2:bf16", 1},
	[AGGREGATE_INTO(AGGREGATE_FP8_E5M2, AGGREGATE_FP32)] = {"fp8_e5m2:fp32", 1},
};

static const char *const ops[AGGREGATE_LEAVE + 1] = {
	[AGGREGATE_JOIN] = "join",
	[AGGREGATE_SUM] = "sum",
	[AGGREGATE_MEAN] = "mean",
	[AGGREGATE_MIN] = "min",
	[AGGREGATE_MAX] = "max",
	[AGGREGATE_COPY] = "copy",
	[AGGREGATE_LEAVE] = "leave",
};

bool
aggregate_is_format(unsigned int format)
{
	return format < AGGREGATE_FORMAT_END && formats[format].name != NULL;
}

bool
aggregate_has_format(unsigned int op, unsigned int format)
{
	if (op == AGGREGATE_SUM || op == AGGREGATE_MEAN)
		return aggregate_format_name(format) != NULL;
	return aggregate_is_chunk(op) && aggregate_is_format(format);
}

bool
aggregate_is_reduction(unsigned int op)
{
	return op >= AGGREGATE_SUM && op <= AGGREGATE_MAX;
}

bool
aggregate_is_chunk(unsigned int op)
{
	return aggregate_is_reduction(op) || op == AGGREGATE_COPY;
}

unsigned int
aggregate_value_bytes(unsigned int format)
{
	return format < AGGREGATE_PAIR_END ? formats[format].bytes : 0;
}

unsigned int
aggregate_result_value_bytes(unsigned int format)
{
	return aggregate_value_bytes(format) == 0
		? 0
		: aggregate_value_bytes(aggregate_results_format(format));
}

unsigned int
aggregate_lane_bytes(unsigned int format)
{
	const unsigned int value = aggregate_value_bytes(format);
	const unsigned int result = aggregate_result_value_bytes(format);

	return value > result ? value : result;
}

const char *
aggregate_format_name(unsigned int format)
{
	return format < AGGREGATE_PAIR_END ? formats[format].name : NULL;
}

unsigned int
aggregate_format_by_name(const char *name)
{
	for (unsigned int format = 1; format < AGGREGATE_PAIR_END; format++)
		if (formats[format].name != NULL && strcmp(formats[format].name, name) == 0)
			return format;
	return 0;
}

const char *
aggregate_op_name(unsigned int op)
{
	return op <= AGGREGATE_LEAVE ? ops[op] : NULL;
}

const char *
aggregate_isa_name(enum aggregate_isa isa)
{
	static const char *const names[AGGREGATE_ISAS] = {
		[AGGREGATE_PLAIN] = "plain C",
#if defined(__x86_64__)
		[AGGREGATE_AVX2] = "AVX2",
		[AGGREGATE_AVX512] = "AVX-512",
#elif defined(__aarch64__)
		[AGGREGATE_NEON] = "NEON",
#endif
	};

	return names[isa];
}

#ifdef __x86_64__
static bool
has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		__builtin_cpu_supports("bmi2");
}

static bool
has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
		__builtin_cpu_supports("avx512vl");
}
#endif

enum aggregate_isa
aggregate_isa_best(void)
{
#if defined(__x86_64__)
	if (has_avx2())
		return has_avx512() ? AGGREGATE_AVX512 : AGGREGATE_AVX2;
	return AGGREGATE_PLAIN;
#elif defined(__aarch64__)
	return AGGREGATE_NEON;
#else
	return AGGREGATE_PLAIN;
#endif
}

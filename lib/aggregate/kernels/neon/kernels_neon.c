/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of fp16, bf16, fp32 and posit16 in NEON; what else there is, the compiler makes of plain C.
 */
#include "kernels/neon/fp16_neon.h"
#include "kernels/neon/posit16_neon.h"
#include "kernels/neon/bins_neon.h"
#include "kernels/round_totals.h"

INLINE void
put_neon(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	if (format == AGGREGATE_FP16)
		put_fp16_neon(lanes, values, count, first);
	else if (format == AGGREGATE_POSIT16)
		put_posit16_neon(lanes, values, count, first);
	else
		put_bins_neon(format, lanes, values, count, first);
}

INLINE uint8_t
round_neon(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, uint32_t count, unsigned int workers, uint8_t *result)
{
	if (format == AGGREGATE_FP16 && to != format)
		return mean ? round_lanes(format, to, mean, lanes, count, workers, result)
			    : round_unit_sums(format, to, lanes, count, result);
	if (format == AGGREGATE_FP16)
		return round_fp16_neon(mean, lanes, count, workers, result);
	if (format != AGGREGATE_POSIT16)
		return round_bins_neon(format, to, mean, lanes, count, workers, result);
	round_posit16_neon(mean, lanes, count, workers, result);
	return 0;
}

INLINE uint8_t
finish_neon(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, unsigned int workers,
	uint8_t *result)
{
	uint64_t arithmetic;
	uint8_t flags;

	if (values != NULL)
		put_neon(format, lanes, values, count, false);
	if (lanes->has_specials)
		clear_specials(format, lanes, count);
	/* What puts values in is exact. */
	arithmetic = begin_arithmetic();
	flags = round_neon(format, to, mean, lanes, count, workers, result);
	end_arithmetic(arithmetic);
	if (lanes->has_specials)
		flags |= write_specials(to, lanes, count, result);
	return flags;
}

SUM_FUNCTIONS_BY(put_neon, finish_neon, PLAIN_LAY_OUT, AGGREGATE_FP16, fp16)
SUM_FUNCTIONS_BY(put_neon, finish_neon, PLAIN_LAY_OUT, AGGREGATE_POSIT16, posit16)
SUM_FUNCTIONS_BY(put_neon, finish_neon, SINGLE_BINS, AGGREGATE_BF16, bf16)
SUM_FUNCTIONS(AGGREGATE_POSIT16_ES2, posit16_es2)
SUM_FUNCTIONS_BY(put_neon, finish_neon, SINGLE_BINS, AGGREGATE_FP32, fp32)
SUM_FUNCTIONS(AGGREGATE_INT32, int32)
SUM_FUNCTIONS_BY(put_fp64, finish_fp64, PLAIN_LAY_OUT, AGGREGATE_FP64, fp64)
SUM_FUNCTIONS(AGGREGATE_FP8_E4M3, fp8_e4m3)
SUM_FUNCTIONS(AGGREGATE_FP8_E5M2, fp8_e5m2)
SUM_FUNCTIONS_BY(put_int64, finish_int64, PLAIN_LAY_OUT, AGGREGATE_INT64, int64)
PAIR_FUNCTIONS_BY(finish_neon, AGGREGATE_FP16, fp16, AGGREGATE_FP32, fp32)
PAIR_FUNCTIONS_BY(finish_neon, AGGREGATE_BF16, bf16, AGGREGATE_FP32, fp32)

const kernel_table aggregate_kernels_neon = KERNEL_TABLE;

const struct totals_kernel aggregate_totals_neon = TOTALS_KERNEL(round_any_totals);

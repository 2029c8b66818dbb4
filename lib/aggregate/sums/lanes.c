/* SPDX-License-Identifier: BSD-3-Clause */
#include "sums/lanes.h"

/* Bytes of sums that a lane needs. */
static const uint16_t sum_bytes[AGGREGATE_FORMAT_END] = {
	[AGGREGATE_FP16] = 8,
	[AGGREGATE_POSIT16] = 8,
	[AGGREGATE_BF16] = 8 * BINS,
	[AGGREGATE_POSIT16_ES2] = 16,
	[AGGREGATE_FP32] = 8 * BINS,
	[AGGREGATE_INT32] = 8,
	[AGGREGATE_FP64] = 8 * (4 + FP64_BINS),
	[AGGREGATE_FP8_E4M3] = 4,
	[AGGREGATE_FP8_E5M2] = 8,
	[AGGREGATE_INT64] = 16,
};

static size_t
round_up(size_t number, size_t multiple)
{
	return (number + multiple - 1) / multiple * multiple;
}

static size_t
lanes_of(uint32_t bytes, unsigned int value_bytes)
{
	return round_up(bytes / value_bytes, MAX_LANES_AT_ONCE);
}

static size_t
sums_bytes(unsigned int formats, uint32_t bytes)
{
	size_t most = 0;

	for (unsigned int format = 1; format < AGGREGATE_FORMAT_END; format++) {
		size_t lanes;

		if ((formats >> format & 1) == 0 || !aggregate_is_format(format))
			continue;
		lanes = lanes_of(bytes, aggregate_value_bytes(format));
		if (lanes * sum_bytes[format] > most)
			most = lanes * sum_bytes[format];
	}
	return most;
}

static size_t
common_bytes(uint32_t bytes)
{
	return round_up(bytes, 4 * MAX_LANES_AT_ONCE);
}

static size_t
specials_bytes(uint32_t bytes)
{
	return round_up(lanes_of(bytes, 1), AGGREGATE_ALIGN);
}

static size_t
single_bins_bytes(uint32_t bytes)
{
	return round_up(lanes_of(bytes, 2) / GROUP, AGGREGATE_ALIGN);
}

size_t
aggregate_lanes_bytes(unsigned int formats, uint32_t bytes)
{
	return round_up(sizeof(struct aggregate_lanes), AGGREGATE_ALIGN) + common_bytes(bytes) +
		specials_bytes(bytes) + single_bins_bytes(bytes) + sums_bytes(formats, bytes);
}

struct aggregate_lanes *
aggregate_lanes_init(void *memory, uint32_t bytes)
{
	struct aggregate_lanes *lanes = memory;

	lanes->capacity = (uint32_t)lanes_of(bytes, 2);
	lanes->wide = (uint32_t)lanes_of(bytes, 4);
	lanes->widest = (uint32_t)lanes_of(bytes, 8);
	lanes->has_specials = false;
	lanes->common = (uint8_t *)memory + round_up(sizeof(*lanes), AGGREGATE_ALIGN);
	lanes->specials = lanes->common + common_bytes(bytes);
	lanes->single_bins = lanes->specials + specials_bytes(bytes);
	lanes->sums = (int64_t *)(void *)(lanes->single_bins + single_bins_bytes(bytes));
	lanes->keys = (int32_t *)(void *)lanes->sums;
	lanes->short_sums = lanes->keys;
	return lanes;
}

const struct aggregate_kernel *
aggregate_kernel(enum aggregate_isa isa, unsigned int op, unsigned int format)
{
	static const kernel_table *const tables[AGGREGATE_ISAS] = {
		[AGGREGATE_PLAIN] = &aggregate_kernels_plain,
#if defined(__x86_64__)
		[AGGREGATE_AVX2] = &aggregate_kernels_avx2,
		[AGGREGATE_AVX512] = &aggregate_kernels_avx512,
#elif defined(__aarch64__)
		[AGGREGATE_NEON] = &aggregate_kernels_neon,
#endif
	};

	if (isa >= AGGREGATE_ISAS || tables[isa] == NULL || !aggregate_is_reduction(op) ||
		!aggregate_has_format(op, format))
		return NULL;
	return &(*tables[isa])[op - AGGREGATE_SUM][format];
}

void
aggregate_totals_choose(struct aggregate_totals *totals, enum aggregate_isa isa)
{
	static const struct totals_kernel *const kernels[AGGREGATE_ISAS] = {
		[AGGREGATE_PLAIN] = &aggregate_totals_plain,
#if defined(__x86_64__)
		[AGGREGATE_AVX2] = &aggregate_totals_avx2,
		[AGGREGATE_AVX512] = &aggregate_totals_avx512,
#elif defined(__aarch64__)
		[AGGREGATE_NEON] = &aggregate_totals_neon,
#endif
	};

	totals->kernel = kernels[isa];
}

uint8_t
aggregate_reduce(const struct aggregate_kernel *kernel, struct aggregate_lanes *lanes,
	const uint8_t *const *values, unsigned int workers, uint32_t count, uint8_t *result)
{
	kernel->begin(lanes, values[0], count);
	for (unsigned int w = 1; w + 1 < workers; w++)
		kernel->add(lanes, values[w], count);
	return kernel->finish(
		lanes, workers > 1 ? values[workers - 1] : NULL, count, workers, result);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of the IEEE 754 formats in AVX-512; what else there is, the compiler makes of plain C. The
 * last worker's values are added on their way to being rounded.
 */
#include "kernels/avx512/round_totals_avx512.h"
#include "kernels/avx512/similar_avx512.h"

/* fp16: one integer a lane. */

/* Returns whether there are special values; what they add means nothing. */
INLINE bool
put_wide(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	__mmask16 special = 0;

	for (uint32_t i = 0; i < count; i += STEP) {
		__m512i bits = load_step(AGGREGATE_FP16, values, i, lanes_in_step(count - i));
		struct step step = unpack_step(AGGREGATE_FP16, bits);
		__m512i places = _mm512_sub_epi32(step.exponent, all32(1));

		for (int half = 0; half < 2; half++) {
			int64_t *sums = lanes->sums + i + GROUP * half;
			__m512i sum = shifted_half(step.significand, places, half);

			fetch_ahead(sums);
			if (!first)
				sum = _mm512_add_epi64(sum, _mm512_load_si512(sums));
			_mm512_store_si512(sums, sum);
		}
		keep_signs(lanes, i, negative_of(AGGREGATE_FP16, bits), first);
		special |= find_specials(AGGREGATE_FP16, bits);
	}
	return special != 0;
}

/* Whatever size the values have; returns as put_wide(). */
INLINE bool
put_fp16(struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, bool first)
{
	if (!stays_narrow(lanes, values, count, first))
		return put_wide(lanes, values, count, first);
	put_narrow(lanes, values, count, first);
	return false;
}

INLINE struct sums
fp16_sums(const struct aggregate_lanes *lanes, uint32_t i)
{
	__m512i sum =
		lanes->narrow ? fp16_sums_group(lanes, i) : _mm512_load_si512(lanes->sums + i);

	return sums_of(
		_mm512_abs_epi64(sum), all64((uint64_t)FP16_UNIT), _mm512_movepi64_mask(sum));
}

/*
 * bf16 and fp32: bins. Values of similar size have one bin: as long as that is so in a group, its
 * other bins are neither cleared nor rounded, nor is their memory touched.
 */

INLINE __m512i
only_in_bin(__m256i bin, int b, __m512i sum)
{
	return _mm512_maskz_mov_epi64(_mm256_cmpeq_epi32_mask(bin, _mm256_set1_epi32(b)), sum);
}

/* The bin of the first lane; whether it is that of all. */
INLINE bool
is_one_bin(__m256i bin, int *first)
{
	*first = _mm_cvtsi128_si32(_mm256_castsi256_si128(bin));
	return _mm256_cmpneq_epi32_mask(bin, _mm256_set1_epi32(*first)) == 0;
}

INLINE void
begin_group(int64_t *bins, size_t stride, uint8_t *single, __m256i bin, __m512i sum)
{
	int first;

	if (is_one_bin(bin, &first)) {
		*single = (uint8_t)first;
		fetch_ahead(bins + (size_t)first * stride);
		_mm512_store_si512(bins + (size_t)first * stride, sum);
		return;
	}
	*single = ALL_BINS;
	for (int b = 0; b < BINS; b++)
		_mm512_store_si512(bins + (size_t)b * stride, only_in_bin(bin, b, sum));
}

INLINE void
use_all_bins(int64_t *bins, size_t stride, uint8_t *single)
{
	for (int b = 0; b < BINS; b++)
		if (b != *single)
			_mm512_store_si512(bins + (size_t)b * stride, _mm512_setzero_si512());
	*single = ALL_BINS;
}

/* Each bin is added to, most lanes nothing: less work than a gather and a scatter. */
INLINE void
add_to_bins(int64_t *bins, size_t stride, __m256i bin, __m512i sum)
{
	for (int b = 0; b < BINS; b++) {
		int64_t *sums = bins + (size_t)b * stride;
		__m512i before = _mm512_load_si512(sums);

		_mm512_store_si512(sums,
			_mm512_mask_add_epi64(before,
				_mm256_cmpeq_epi32_mask(bin, _mm256_set1_epi32(b)), before, sum));
	}
}

/* Once all bins are in use, it does not matter any more what the values are: nothing to mispredict.
 */
INLINE void
add_group(int64_t *bins, size_t stride, uint8_t *single, __m256i bin, __m512i sum)
{
	int first;

	if (*single != ALL_BINS) {
		if (is_one_bin(bin, &first) && first == *single) {
			int64_t *sums = bins + (size_t)first * stride;

			fetch_ahead(sums);
			_mm512_store_si512(sums, _mm512_add_epi64(sum, _mm512_load_si512(sums)));
			return;
		}
		use_all_bins(bins, stride, single);
	}
	add_to_bins(bins, stride, bin, sum);
}

/* Returns whether there are special values; what they add means nothing. */
INLINE bool
put_bins_fast(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	const size_t stride = bin_stride(format, lanes);
	__mmask16 special = 0;

	for (uint32_t i = 0; i < count; i += STEP) {
		__m512i bits = load_step(format, values, i, lanes_in_step(count - i));
		struct step step = unpack_step(format, bits);
		__m512i bin = _mm512_srli_epi32(step.exponent, 5);
		__m512i places = _mm512_and_si512(step.exponent, all32(31));

		for (int half = 0; half < 2; half++) {
			uint32_t lane = i + (uint32_t)(GROUP * half);
			int64_t *bins = lanes->sums + lane;
			uint8_t *single = &lanes->single_bins[lane / GROUP];
			__m512i sum = shifted_half(step.significand, places, half);

			if (first)
				begin_group(bins, stride, single, half_of(bin, half), sum);
			else
				add_group(bins, stride, single, half_of(bin, half), sum);
		}
		keep_signs(lanes, i, negative_of(format, bits), first);
		special |= find_specials(format, bits);
	}
	return special != 0;
}

/* Whether all values, and those before, have one bin. */
INLINE bool
has_one_bin(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	unsigned int bin;

	if (!first && lanes->one_bin == NO_BIN)
		return false;
	bin = find_bin(format, values, count * (format == AGGREGATE_FP32 ? 4u : 2u));
	if (first)
		lanes->one_bin = (uint8_t)(bin == ANY_BIN ? NO_BIN : bin);
	else if (bin != lanes->one_bin && bin != ANY_BIN)
		leave_one_bin(lanes, count);
	return lanes->one_bin != NO_BIN;
}

/* Whatever bins the values have; returns as put_bins_fast(). */
INLINE bool
put_any_bins(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	if (!has_one_bin(format, lanes, values, count, first))
		return put_bins_fast(format, lanes, values, count, first);
	put_one_bin(format, lanes, values, count, first);
	return false;
}

/* As sum_of_bins(): digits, of which the highest two that are not just sign are kept. */
struct digits {
	__m512i upper, lower, rest, place;
};

INLINE struct digits
select_digits(const __m512i *digits, __m512i sign)
{
	struct digits result = {_mm512_setzero_si512(), _mm512_setzero_si512(),
		_mm512_setzero_si512(), _mm512_setzero_si512()};
	__m512i before = _mm512_setzero_si512(), rest = _mm512_setzero_si512();

	for (int b = 0; b < BINS + 1; b++) {
		__mmask8 differs = _mm512_cmpneq_epi64_mask(digits[b], sign);

		if (b == 0) {
			result.upper = digits[b];
		} else {
			result.upper = _mm512_mask_mov_epi64(result.upper, differs, digits[b]);
			result.lower = _mm512_mask_mov_epi64(result.lower, differs, before);
			result.rest = _mm512_mask_mov_epi64(result.rest, differs, rest);
			result.place =
				_mm512_mask_mov_epi64(result.place, differs, all64((uint64_t)b));
			rest = _mm512_or_si512(rest, before);
		}
		before = digits[b];
	}
	return result;
}

INLINE struct sums
all_bins_sums(const int64_t *bins, size_t stride)
{
	__m512i low = all64(UINT32_MAX), digits[BINS + 1], carry = _mm512_setzero_si512();
	__m512i window, sign, unit;
	struct digits kept;
	struct sums sums;
	__mmask8 negative, more;

	for (int b = 0; b < BINS; b++) {
		__m512i sum = _mm512_add_epi64(carry, _mm512_load_si512(bins + (size_t)b * stride));

		digits[b] = _mm512_and_si512(sum, low);
		carry = _mm512_srai_epi64(sum, 32);
	}
	digits[BINS] = _mm512_and_si512(carry, low);
	sign = _mm512_srai_epi64(carry, 63);
	negative = _mm512_movepi64_mask(carry);
	kept = select_digits(digits, _mm512_and_si512(sign, low));
	more = _mm512_test_epi64_mask(
		_mm512_or_si512(_mm512_and_si512(kept.lower, all64(3)), kept.rest), low);
	window = _mm512_or_si512(_mm512_slli_epi64(sign, 62),
		_mm512_or_si512(
			_mm512_slli_epi64(kept.upper, 30), _mm512_srli_epi64(kept.lower, 2)));
	window = _mm512_xor_si512(window, sign);
	window = _mm512_mask_add_epi64(window, negative & (__mmask8)~more, window, all64(1));
	unit = _mm512_add_epi64(
		_mm512_slli_epi64(kept.place, 5), all64((uint64_t)(BINS_UNIT - 30)));
	sums = sums_of(window, unit, negative);
	sums.significand = _mm512_mask_or_epi64(sums.significand, more, sums.significand, all64(1));
	return sums;
}

INLINE struct sums
bins_sums(enum aggregate_format format, const struct aggregate_lanes *lanes, uint32_t i)
{
	const size_t stride = bin_stride(format, lanes);
	const int64_t *bins = lanes->sums + i;
	int single = lanes->one_bin != NO_BIN ? lanes->one_bin : lanes->single_bins[i / GROUP];
	__m512i sum;

	if (single == ALL_BINS)
		return all_bins_sums(bins, stride);
	sum = _mm512_load_si512(bins + (size_t)single * stride);
	return sums_of(_mm512_abs_epi64(sum), all64((uint64_t)(32 * single + BINS_UNIT)),
		_mm512_movepi64_mask(sum));
}

/* All of it. */

INLINE void
put_fast(enum aggregate_format format, struct aggregate_lanes *lanes, const uint8_t *values,
	uint32_t count, bool first)
{
	bool special;

	if (first)
		lanes->has_specials = false;
	special = format == AGGREGATE_FP16 ? put_fp16(lanes, values, count, first)
					   : put_any_bins(format, lanes, values, count, first);
	if (special)
		note_specials_fast(format, lanes, values, count);
}

/* specials: whether there are any, known when compiled. */
INLINE uint8_t
round_groups(enum aggregate_format format, enum aggregate_format to, bool mean, bool specials,
	const struct aggregate_lanes *lanes, uint32_t count, unsigned int workers, uint8_t *result)
{
	const struct divisor divisor = divisor_of(workers);
	struct exceptions exceptions = {0, 0, 0};

	for (uint32_t i = 0; i < count; i += GROUP) {
		struct extras extras = load_extras(lanes, i, specials);
		struct sums sums = format == AGGREGATE_FP16 ? fp16_sums(lanes, i)
							    : bins_sums(format, lanes, i);
		__m512i bits;

		if (mean)
			sums = divide_fast(sums, divisor);
		bits = encode_group(to, sums, extras, &exceptions);
		if (specials)
			bits = put_specials(to, bits, extras, &exceptions);
		store_group(to, result, i, (__mmask8)lanes_in_step(count - i), bits);
	}
	return flags_of(&exceptions);
}

INLINE uint8_t
round_lanes_fast(enum aggregate_format format, enum aggregate_format to, bool mean,
	const struct aggregate_lanes *lanes, uint32_t count, unsigned int workers, uint8_t *result)
{
	if (!mean && to == AGGREGATE_FP16 && lanes->narrow) {
		round_narrow(lanes, count, result);
		return 0;
	}
	if (!mean && format != AGGREGATE_FP16 && lanes->one_bin != NO_BIN) {
		round_one_bin(format, to, lanes, count, result);
		return 0;
	}
	if (lanes->has_specials)
		return round_groups(format, to, mean, true, lanes, count, workers, result);
	return round_groups(format, to, mean, false, lanes, count, workers, result);
}

INLINE uint8_t
finish_fast(enum aggregate_format format, enum aggregate_format to, bool mean,
	struct aggregate_lanes *lanes, const uint8_t *values, uint32_t count, unsigned int workers,
	uint8_t *result)
{
	if (values != NULL)
		put_fast(format, lanes, values, count, false);
	return round_lanes_fast(format, to, mean, lanes, count, workers, result);
}

/* Where bins are. */
#define AVX512_BINS (ONE_BIN | SINGLE_BINS | SIGNS_AS_BITS)

SUM_FUNCTIONS_BY(put_fast, finish_fast, NARROW_SUMS | SIGNS_AS_BITS, AGGREGATE_FP16, fp16)
SUM_FUNCTIONS(AGGREGATE_POSIT16, posit16)
SUM_FUNCTIONS_BY(put_fast, finish_fast, AVX512_BINS, AGGREGATE_BF16, bf16)
SUM_FUNCTIONS(AGGREGATE_POSIT16_ES2, posit16_es2)
SUM_FUNCTIONS_BY(put_fast, finish_fast, AVX512_BINS, AGGREGATE_FP32, fp32)
SUM_FUNCTIONS(AGGREGATE_INT32, int32)
SUM_FUNCTIONS_BY(put_fp64, finish_fp64_fast, PLAIN_LAY_OUT, AGGREGATE_FP64, fp64)
SUM_FUNCTIONS(AGGREGATE_FP8_E4M3, fp8_e4m3)
SUM_FUNCTIONS(AGGREGATE_FP8_E5M2, fp8_e5m2)
SUM_FUNCTIONS_BY(put_int64, finish_int64, PLAIN_LAY_OUT, AGGREGATE_INT64, int64)
PAIR_FUNCTIONS_BY(finish_fast, AGGREGATE_FP16, fp16, AGGREGATE_FP32, fp32)
PAIR_FUNCTIONS_BY(finish_fast, AGGREGATE_BF16, bf16, AGGREGATE_FP32, fp32)

const kernel_table aggregate_kernels_avx512 = KERNEL_TABLE;

const struct totals_kernel aggregate_totals_avx512 = TOTALS_KERNEL(round_totals_fast);

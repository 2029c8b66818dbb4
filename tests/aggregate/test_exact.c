/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of many numbers, and of products, against MPFR; in any order, divided among any number. */
#include <math.h>
#include <string.h>

#include <mpfr.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include <aggregate_exact.h>
#include <netfc_arith.h>

#include "cases.h"
#include "exact.h"

#define MOST 3000
#define MAX_PARTS 64
#define WORDS (sizeof(struct aggregate_exact) / sizeof(int64_t))

static double x64[MOST], y64[MOST];
static float x32[MOST], y32[MOST];

static void
fill(enum data_kind kind, unsigned int format, void *values, uint32_t count, uint64_t *seed)
{
	uint64_t lane[AGGREGATE_MAX_WORKERS];

	for (uint32_t i = 0; i < count; i += AGGREGATE_MAX_WORKERS) {
		data_fill(kind, format, lane, AGGREGATE_MAX_WORKERS, seed);
		for (uint32_t j = 0; j < AGGREGATE_MAX_WORKERS && i + j < count; j++) {
			const uint32_t narrow = (uint32_t)lane[j];

			if (format == AGGREGATE_FP64)
				memcpy((double *)values + i + j, &lane[j], sizeof(double));
			else
				memcpy((float *)values + i + j, &narrow, sizeof(float));
		}
	}
}

/* What a sum of `count` numbers, or products, comes to by parts; in place of a switch, a loop. */
static uint8_t
add_up(unsigned int format, const uint8_t *x, const uint8_t *y, uint32_t count, unsigned int parts,
	void *result)
{
	const size_t bytes = aggregate_value_bytes(format);
	struct aggregate_exact sum = {0};
	int64_t *words = (int64_t *)&sum;

	for (unsigned int p = 0; p < parts; p++) {
		const uint32_t first = (uint32_t)((uint64_t)count * p / parts);
		const uint32_t end = (uint32_t)((uint64_t)count * (p + 1) / parts);
		struct aggregate_exact part = {0};
		const int64_t *more = (const int64_t *)&part;

		if (y == NULL)
			aggregate_exact_add(&part, format, x + first * bytes, end - first);
		else
			aggregate_exact_add_products(
				&part, format, x + first * bytes, y + first * bytes, end - first);
		for (size_t w = 0; w < WORDS; w++)
			words[w] += more[w];
	}
	return aggregate_exact_round(&sum, format, result);
}

static double
value_at(unsigned int format, const void *values, uint32_t i)
{
	return format == AGGREGATE_FP64 ? ((const double *)values)[i]
					: (double)((const float *)values)[i];
}

static bool
is_finite(unsigned int format, const void *x, const void *y, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!isfinite(value_at(format, x, i)) ||
			(y != NULL && !isfinite(value_at(format, y, i))))
			return false;
	return true;
}

static uint64_t
expect(unsigned int format, const void *x, const void *y, uint32_t count)
{
	uint64_t bits;
	mpfr_t sum, one;

	mpfr_init2(sum, 4500);
	mpfr_init2(one, 110);
	mpfr_set_zero(sum, 1);
	for (uint32_t i = 0; i < count; i++) {
		mpfr_set_d(one, value_at(format, x, i), MPFR_RNDN);
		if (y != NULL)
			mpfr_mul_d(one, one, value_at(format, y, i), MPFR_RNDN);
		mpfr_add(sum, sum, one, MPFR_RNDN);
	}
	bits = oracle_round(format, sum);
	mpfr_clear(sum);
	mpfr_clear(one);
	return bits;
}

static uint64_t
bits_of(unsigned int format, const void *value)
{
	uint64_t bits = 0;

	memcpy(&bits, value, aggregate_value_bytes(format));
	return bits;
}

static void
check(unsigned int format, const void *x, const void *y, uint32_t count)
{
	static const unsigned int parts[] = {1, 2, 3, MAX_PARTS};
	uint64_t result = 0, first = 0;
	uint8_t flags, first_flags = 0;

	for (unsigned int p = 0; p < 4; p++) {
		flags = add_up(format, x, y, count, parts[p], &result);
		if (p == 0) {
			first = bits_of(format, &result);
			first_flags = flags;
		}
		assert_true(bits_of(format, &result) == first);
		assert_int_equal(flags, first_flags);
	}
	if (!is_finite(format, x, y, count))
		return;
	if (value_at(format, &result, 0) == 0) /* the sign is another test's */
		assert_true(
			expect(format, x, y, count) << (format == AGGREGATE_FP64 ? 1 : 33) == 0);
	else
		assert_true(expect(format, x, y, count) == first);
}

static void
check_kinds(unsigned int format, void *x, void *y, bool products)
{
	uint64_t seed = 1;

	for (enum data_kind kind = 0; kind < DATA_KINDS; kind++)
		for (uint32_t count = 1; count < MOST; count = 3 * count + 1) {
			fill(kind, format, x, count, &seed);
			fill((kind + (seed & 1)) % DATA_KINDS, format, y, count, &seed);
			check(format, x, products ? y : NULL, count);
		}
}

TEST(sums_of_numbers)
{
	check_kinds(AGGREGATE_FP64, x64, y64, false);
	check_kinds(AGGREGATE_FP32, x32, y32, false);
}

TEST(sums_of_products)
{
	check_kinds(AGGREGATE_FP64, x64, y64, true);
	check_kinds(AGGREGATE_FP32, x32, y32, true);
}

/* Values, or products of x and y where there is a y. */
static void
check_special(const double *x, const double *y, uint32_t count, double expected, uint8_t flags)
{
	float a[4], b[4], narrow;
	double result;

	for (uint32_t i = 0; i < count; i++) {
		a[i] = (float)x[i];
		b[i] = y != NULL ? (float)y[i] : 0;
	}
	assert_int_equal(
		add_up(AGGREGATE_FP64, (const uint8_t *)x, (const uint8_t *)y, count, 2, &result),
		flags);
	assert_true(isnan(expected) ? isnan(result) : memcmp(&result, &expected, 8) == 0);
	assert_int_equal(add_up(AGGREGATE_FP32, (const uint8_t *)a,
				 y != NULL ? (const uint8_t *)b : NULL, count, 2, &narrow),
		flags);
	result = (double)narrow;
	assert_true(isnan(expected) ? isnan(narrow) : memcmp(&result, &expected, 8) == 0);
}

TEST(infinities_nan_and_zeros)
{
	static const double infinities[] = {INFINITY, 1, -INFINITY},
			    nan[] = {NAN, INFINITY, -INFINITY};
	static const double zeros[] = {-0.0, -0.0, 0.0}, ones[] = {1, 1, 1}, minus[] = {1, -1, 1};

	check_special(infinities, NULL, 2, INFINITY, 0);
	check_special(infinities + 1, NULL, 2, -INFINITY, 0);
	check_special(infinities, NULL, 3, NAN, NETFC_INVALID);
	check_special(nan, NULL, 1, NAN, 0);
	check_special(nan, NULL, 3, NAN, 0);
	check_special(zeros, NULL, 2, -0.0, 0);
	check_special(zeros, NULL, 3, 0.0, 0);
	check_special(minus, NULL, 2, 0.0, 0);
	check_special(zeros, NULL, 0, 0.0, 0);
	check_special(infinities, ones, 2, INFINITY, 0);
	check_special(infinities, minus, 2, INFINITY, 0);
	check_special(infinities, zeros, 1, NAN, NETFC_INVALID);
	check_special(nan, zeros, 1, NAN, 0);
	check_special(zeros, ones, 2, -0.0, 0);
	check_special(zeros, minus, 2, 0.0, 0);
}

/* The exponent after that of the greatest numbers is no number's. */
TEST(infinities_and_nan_beside_the_greatest)
{
	static const double infinity[] = {INFINITY, -0x1.fp1023, -0x1.fp1023},
			    nan[] = {0x1.fp1023, NAN}, both[] = {INFINITY, -INFINITY, 0x1p1020};
	double result;

	assert_int_equal(add_up(AGGREGATE_FP64, (const uint8_t *)infinity, NULL, 3, 1, &result), 0);
	assert_true(isinf(result) && result > 0);
	assert_int_equal(add_up(AGGREGATE_FP64, (const uint8_t *)nan, NULL, 2, 1, &result), 0);
	assert_true(isnan(result));
	assert_int_equal(
		add_up(AGGREGATE_FP64, (const uint8_t *)both, NULL, 3, 1, &result), NETFC_INVALID);
	assert_true(isnan(result));
}

#ifdef __SSE2__
/* As torch.set_flush_denormal() and programs compiled with -ffast-math have it. */
TEST(threads_may_take_subnormals_for_zeros)
{
	const unsigned int flush = _MM_FLUSH_ZERO_ON | 0x40 /* denormals are zeros */;
	const uint32_t bits[] = {0x00400000, 0x00000001, 0x007fffff};
	const float factors[] = {0x1p24f, 0x1p24f, 0x1p24f};
	float small[3], sums[2], flushed[2];

	memcpy(small, bits, sizeof(bits));
	for (unsigned int way = 0; way < 2; way++) {
		const uint8_t *x = (const uint8_t *)small, *y = (const uint8_t *)factors;

		add_up(AGGREGATE_FP32, x, way == 0 ? NULL : y, 3, 1, &sums[way]);
		_mm_setcsr(_mm_getcsr() | flush);
		add_up(AGGREGATE_FP32, x, way == 0 ? NULL : y, 3, 1, &flushed[way]);
		_mm_setcsr(_mm_getcsr() & ~flush);
	}
	assert_memory_equal(flushed, sums, sizeof(sums));
	assert_true(sums[0] == 0x1.8p-126f && sums[1] == 0x1.8p-102f);
}
#endif

TEST(overflow_and_underflow)
{
	const double large[] = {0x1.fffffffffffffp1023, 0x1p970, -0x1p900};
	const double small[] = {0x1p-1074, 0x1p-1}, half[] = {0x1p-2, 0};
	double result;

	assert_int_equal(add_up(AGGREGATE_FP64, (const uint8_t *)large, NULL, 2, 2, &result),
		NETFC_OVERFLOW);
	assert_true(isinf(result));
	assert_int_equal(add_up(AGGREGATE_FP64, (const uint8_t *)large, NULL, 3, 2, &result), 0);
	assert_true(result == large[0]);
	assert_int_equal(add_up(AGGREGATE_FP64, (const uint8_t *)small, (const uint8_t *)half, 2, 1,
				 &result),
		NETFC_UNDERFLOW);
	assert_true(result == 0);
}

TEST(sums_of_integers)
{
	static const int64_t wide[] = {INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, -5};
	static const int32_t narrow[] = {INT32_MIN, -1, 1, 7};
	int64_t sum;
	int32_t small;

	assert_int_equal(add_up(AGGREGATE_INT64, (const uint8_t *)wide, NULL, 5, 2, &sum), 0);
	assert_true(sum == -7);
	assert_int_equal(
		add_up(AGGREGATE_INT64, (const uint8_t *)wide, NULL, 2, 2, &sum), NETFC_OVERFLOW);
	assert_true(sum == INT64_MAX);
	assert_int_equal(add_up(AGGREGATE_INT32, (const uint8_t *)narrow, NULL, 2, 1, &small),
		NETFC_OVERFLOW);
	assert_int_equal(small, INT32_MIN);
	assert_int_equal(add_up(AGGREGATE_INT32, (const uint8_t *)narrow, NULL, 4, 3, &small), 0);
	assert_int_equal(small, INT32_MIN + 7);
}

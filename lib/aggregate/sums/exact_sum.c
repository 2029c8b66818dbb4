/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "aggregate_exact.h"
#include "sums/number.h"
#include "sums/wide_lanes.h"

#define PLACES 64 /* of a window, see below */
#define BLOCK 512 /* numbers that fit it: 53 bits, 63 places, and 9 for these */
#define FRACTION ((UINT64_C(1) << FP64_FRACTION_BITS) - 1)
#define EXPONENTS 0x7ff
#define EXACT_UNIT (2 * FP64_UNIT)

bool
aggregate_exact_has(unsigned int format)
{
	return format == AGGREGATE_FP32 || format == AGGREGATE_FP64 || format == AGGREGATE_INT32 ||
		format == AGGREGATE_INT64;
}

/* Carries between digits: each has 32 bits then, and the last one is signed. */
static void
propagate(struct aggregate_exact *sum)
{
	int64_t carry = 0;

	for (unsigned int d = 0; d + 1 < AGGREGATE_EXACT_DIGITS; d++) {
		carry += sum->digits[d];
		sum->digits[d] = (int64_t)((uint64_t)carry & UINT32_MAX);
		carry >>= DIGIT_BITS;
	}
	sum->digits[AGGREGATE_EXACT_DIGITS - 1] += carry;
}

/* integer * 2^place units; |integer| < 2^127. A digit takes 2^30 of these before it overflows. */
static void
add_at(struct aggregate_exact *sum, __int128 integer, uint32_t place)
{
	int64_t *digits = sum->digits + place / DIGIT_BITS;
	const uint32_t shift = place % DIGIT_BITS;

	digits[0] += (int64_t)((uint64_t)integer << shift & UINT32_MAX);
	integer >>= DIGIT_BITS - shift;
	for (unsigned int d = 1; d < 4; d++, integer >>= DIGIT_BITS)
		digits[d] += (int64_t)((uint64_t)integer & UINT32_MAX);
	digits[4] += (int64_t)integer;
}

/* A double; `special` ones apart. */
struct number {
	int64_t significand; /* signed */
	uint32_t place;      /* of its last bit, in units of the least double */
};

static struct number
unpack(uint64_t bits)
{
	const uint64_t exponent = bits >> FP64_FRACTION_BITS & EXPONENTS;
	const uint64_t normal = exponent != 0, sign = -(bits >> 63);
	const uint64_t magnitude = (bits & FRACTION) | normal << FP64_FRACTION_BITS;

	return (struct number){(int64_t)((magnitude ^ sign) - sign), (uint32_t)(exponent - normal)};
}

static bool
is_special(uint64_t bits)
{
	return (bits & (FP64_SIGN - 1)) >= FP64_INF;
}

static void
note(struct aggregate_exact *sum, uint64_t bits)
{
	switch (special_of_wide(bits)) {
	case SPECIAL_NAN:
		sum->kinds[AGGREGATE_EXACT_NAN]++;
		break;
	case SPECIAL_PLUS_INF:
		sum->kinds[AGGREGATE_EXACT_PLUS_INF]++;
		break;
	default:
		sum->kinds[AGGREGATE_EXACT_MINUS_INF]++;
	}
}

static void
add_double(struct aggregate_exact *sum, uint64_t bits)
{
	const struct number number = unpack(bits);

	if (is_special(bits))
		note(sum, bits);
	else
		add_at(sum, number.significand, number.place - FP64_UNIT);
	sum->kinds[AGGREGATE_EXACT_MINUS_ZERO] += bits == FP64_SIGN;
}

/* Many words at once: the compiler vectorizes this for each instruction set. */
#define WORDS 8
typedef uint64_t words __attribute__((vector_size(8 * WORDS)));
typedef int64_t signed_words __attribute__((vector_size(8 * WORDS)));

#ifdef HAVE_TARGET_CLONES
#define VECTORIZED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTORIZED
#endif

/* Sums of numbers by lane, in 128 bits. */
struct window {
	uint64_t low[WORDS], high[WORDS];
	uint64_t outside[WORDS]; /* not 0: a number does not fit the window */
	uint64_t minus_zeros[WORDS];
};

VECTORIZED static void
sum_window(const uint64_t *bits, uint32_t count, uint64_t start, struct window *window)
{
	words low_sum = {0}, high_sum = {0}, outside = {0}, minus_zeros = {0};

	for (uint32_t i = 0; i < count; i += WORDS) {
		const uint32_t left = count - i;
		words number = {0};

		if (left >= WORDS)
			memcpy(&number, bits + i, sizeof(number));
		else
			memcpy(&number, bits + i, left * sizeof(*bits));
		const words exponent = number >> FP64_FRACTION_BITS & EXPONENTS;
		const words subnormal = (words)(exponent == 0);
		const words magnitude = (number & FRACTION) | (~subnormal & (FRACTION + 1));
		const words shift = exponent - 1 - subnormal - start;
		const words places = shift & (PLACES - 1);
		const words sign = (words)((signed_words)number < 0);
		words low = magnitude << places, high = magnitude >> 1 >> (PLACES - 1 - places);

		outside |= (words)(shift >= PLACES) & magnitude;
		minus_zeros -= (words)(number == FP64_SIGN);
		high = (high ^ sign) - ((words)(low == 0) & sign);
		low = (low ^ sign) - sign;
		low_sum += low;
		high_sum += high - (words)(low_sum < low);
	}
	memcpy(window->low, &low_sum, sizeof(low_sum));
	memcpy(window->high, &high_sum, sizeof(high_sum));
	memcpy(window->outside, &outside, sizeof(outside));
	memcpy(window->minus_zeros, &minus_zeros, sizeof(minus_zeros));
}

/* Numbers of similar magnitude: a block's in one integer. Returns whether all fit.
 */
static bool
add_block(struct aggregate_exact *sum, const uint64_t *bits, uint32_t count, uint32_t start)
{
	int64_t minus_zeros = 0;
	__int128 total = 0;
	struct window window;

	sum_window(bits, count, start, &window);
	for (unsigned int w = 0; w < WORDS; w++) {
		if (window.outside[w] != 0)
			return false;
		total += (__int128)((unsigned __int128)window.high[w] << 64 | window.low[w]);
		minus_zeros += (int64_t)window.minus_zeros[w];
	}
	add_at(sum, total, start - FP64_UNIT);
	sum->kinds[AGGREGATE_EXACT_MINUS_ZERO] += minus_zeros;
	return true;
}

/*
 * Where a block's window begins: its greatest number is near the top, with some headroom; and what
 * is no number is outside.
 */
static uint32_t
window_of(const uint64_t *bits, uint32_t count)
{
	const uint32_t room = 4;
	uint32_t end = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t place = unpack(bits[i]).place;

		end = !is_special(bits[i]) && place > end ? place : end;
	}
	end += 1 + room;
	end = end < EXPONENTS - 1 ? end : EXPONENTS - 1;
	return end > PLACES ? end - PLACES : 0;
}

/* The window of the block before is tried first. */
static void
add_doubles(struct aggregate_exact *sum, const uint64_t *bits, uint32_t count, uint32_t *start)
{
	if (add_block(sum, bits, count, *start))
		return;
	*start = window_of(bits, count);
	if (add_block(sum, bits, count, *start))
		return;
	for (uint32_t i = 0; i < count; i++)
		add_double(sum, bits[i]);
}

static uint64_t
bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* As a double: without a conversion of subnormal numbers, which the thread may take for zeros. */
static uint64_t
bits_of_single(float value)
{
	uint32_t bits;
	uint64_t sign;

	memcpy(&bits, &value, sizeof(bits));
	sign = (uint64_t)(bits & fp32.sign) << 32;
	bits &= fp32.sign - 1;
	return sign |
		bits_of(bits < UINT32_C(1) << fp32.fraction_bits ? (int32_t)bits * 0x1p-149
								 : (double)value) %
		FP64_SIGN;
}

static double
double_of_single(float value)
{
	const uint64_t bits = bits_of_single(value);
	double result;

	memcpy(&result, &bits, sizeof(result));
	return result;
}

static void
add_integers(struct aggregate_exact *sum, unsigned int format, const void *values, uint64_t count)
{
	const int32_t *narrow = values;
	const int64_t *wide = values;
	__int128 total = 0;

	for (uint64_t i = 0; i < count; i++)
		total += format == AGGREGATE_INT32 ? narrow[i] : wide[i];
	add_at(sum, total, 0);
}

/* Digits overflow after 2^30 numbers. */
#define CARRY_BLOCKS (1u << 20)

void
aggregate_exact_add(
	struct aggregate_exact *sum, unsigned int format, const void *values, uint64_t count)
{
	uint64_t block[BLOCK];
	uint32_t start = 0, n;

	sum->kinds[AGGREGATE_EXACT_COUNT] += (int64_t)count;
	if (format == AGGREGATE_INT32 || format == AGGREGATE_INT64) {
		add_integers(sum, format, values, count);
		return;
	}
	for (uint64_t done = 0; done < count; done += n) {
		n = count - done < BLOCK ? (uint32_t)(count - done) : BLOCK;
		if (format == AGGREGATE_FP64) {
			add_doubles(sum, (const uint64_t *)values + done, n, &start);
		} else {
			for (uint32_t i = 0; i < n; i++)
				block[i] = bits_of_single(((const float *)values)[done + i]);
			add_doubles(sum, block, n, &start);
		}
		if (done / BLOCK % CARRY_BLOCKS == CARRY_BLOCKS - 1)
			propagate(sum);
	}
	propagate(sum);
}

/* What is no number in a product: NaN, or an infinity with its sign. */
static void
note_product(struct aggregate_exact *sum, uint64_t x, uint64_t y)
{
	const bool zero = (x & (FP64_SIGN - 1)) == 0 || (y & (FP64_SIGN - 1)) == 0;
	const bool nan = special_of_wide(x) == SPECIAL_NAN || special_of_wide(y) == SPECIAL_NAN;

	sum->kinds[AGGREGATE_EXACT_INVALID] += zero && !nan;
	note(sum, nan || zero ? FP64_NAN : FP64_INF | ((x ^ y) & FP64_SIGN));
}

static void
add_product(struct aggregate_exact *sum, uint64_t x, uint64_t y)
{
	const struct number a = unpack(x), b = unpack(y);
	const __int128 product = (__int128)a.significand * b.significand;

	if (is_special(x) || is_special(y)) {
		note_product(sum, x, y);
		return;
	}
	add_at(sum, product, a.place + b.place);
	sum->kinds[AGGREGATE_EXACT_MINUS_ZERO] += product == 0 && ((x ^ y) & FP64_SIGN) != 0;
}

/* Products of fp32 are doubles; those that are none of infinities and NaN. */
static void
add_single_products(struct aggregate_exact *sum, const float *x, const float *y, uint64_t count)
{
	uint64_t block[BLOCK], finite;
	uint32_t start = 0, n;

	for (uint64_t done = 0; done < count; done += n) {
		n = count - done < BLOCK ? (uint32_t)(count - done) : BLOCK;
		finite = 0;
		for (uint32_t i = 0; i < n; i++) {
			block[i] = bits_of(
				double_of_single(x[done + i]) * double_of_single(y[done + i]));
			finite += !is_special(block[i]);
		}
		if (finite == n)
			add_doubles(sum, block, n, &start);
		else
			for (uint32_t i = 0; i < n; i++)
				add_product(sum, bits_of_single(x[done + i]),
					bits_of_single(y[done + i]));
		if (done / BLOCK % CARRY_BLOCKS == CARRY_BLOCKS - 1)
			propagate(sum);
	}
}

void
aggregate_exact_add_products(struct aggregate_exact *sum, unsigned int format, const void *x,
	const void *y, uint64_t count)
{
	const uint64_t *a = x, *b = y;

	sum->kinds[AGGREGATE_EXACT_COUNT] += (int64_t)count;
	if (format == AGGREGATE_FP32)
		add_single_products(sum, x, y, count);
	for (uint64_t i = 0; format == AGGREGATE_FP64 && i < count; i++) {
		add_product(sum, a[i], b[i]);
		if (i % (BLOCK * CARRY_BLOCKS) == BLOCK * CARRY_BLOCKS - 1)
			propagate(sum);
	}
	propagate(sum);
}

static void
store(unsigned int format, uint64_t bits, void *result)
{
	const uint32_t narrow = (uint32_t)bits;

	if (format == AGGREGATE_FP32 || format == AGGREGATE_INT32)
		memcpy(result, &narrow, sizeof(narrow));
	else
		memcpy(result, &bits, sizeof(bits));
}

/* As a double. */
static uint64_t
special_sum(const struct aggregate_exact *sum, uint8_t *flags)
{
	const bool plus = sum->kinds[AGGREGATE_EXACT_PLUS_INF] != 0;
	const bool minus = sum->kinds[AGGREGATE_EXACT_MINUS_INF] != 0;
	const int64_t nans = sum->kinds[AGGREGATE_EXACT_NAN];

	/* NaN of no NaN. */
	if (nans == sum->kinds[AGGREGATE_EXACT_INVALID] && (nans != 0 || (plus && minus)))
		*flags |= NETFC_INVALID;
	if (nans != 0 || (plus && minus))
		return FP64_NAN;
	return minus ? FP64_SIGN | FP64_INF : FP64_INF;
}

static uint64_t
round_sum(const struct aggregate_exact *sum, unsigned int format, uint8_t *flags)
{
	const struct magnitude magnitude = magnitude_of(sum->digits, AGGREGATE_EXACT_DIGITS);
	const bool minus_zero = sum->kinds[AGGREGATE_EXACT_MINUS_ZERO] != 0 &&
		sum->kinds[AGGREGATE_EXACT_MINUS_ZERO] == sum->kinds[AGGREGATE_EXACT_COUNT];
	const bool narrow = format == AGGREGATE_FP32;
	const uint64_t sign = narrow ? fp32.sign : FP64_SIGN;
	struct exact exact;
	uint64_t bits;

	if (magnitude.upper == 0)
		return minus_zero ? sign : 0;
	exact = exact_of_quire(magnitude.upper, EXACT_UNIT + DIGIT_BITS * (int)magnitude.digit);
	exact.significand |= magnitude.more;
	bits = narrow ? round_ieee(fp32, exact)
		      : round_binary(FP64_FRACTION_BITS, FP64_BIAS, FP64_INF, exact);
	*flags |= bits == (narrow ? fp32.inf : FP64_INF) ? NETFC_OVERFLOW : 0;
	*flags |= bits == 0 ? NETFC_UNDERFLOW : 0;
	return bits | (magnitude.negative ? sign : 0);
}

static uint64_t
narrowed(unsigned int format, uint64_t special)
{
	if (format != AGGREGATE_FP32)
		return special;
	return special == FP64_NAN ? fp32.nan : fp32.inf | (special == FP64_INF ? 0 : fp32.sign);
}

uint8_t
aggregate_exact_round(const struct aggregate_exact *sum, unsigned int format, void *result)
{
	const bool special = sum->kinds[AGGREGATE_EXACT_NAN] != 0 ||
		sum->kinds[AGGREGATE_EXACT_PLUS_INF] != 0 ||
		sum->kinds[AGGREGATE_EXACT_MINUS_INF] != 0;
	uint8_t flags = 0;

	if (format == AGGREGATE_INT32 || format == AGGREGATE_INT64)
		store(format,
			round_integer(format, magnitude_of(sum->digits, AGGREGATE_EXACT_DIGITS), 1,
				&flags),
			result);
	else if (special)
		store(format, narrowed(format, special_sum(sum, &flags)), result);
	else
		store(format, round_sum(sum, format, &flags), result);
	return flags;
}

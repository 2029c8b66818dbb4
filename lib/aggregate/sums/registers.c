/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <netfc_arith.h>

#include "aggregate_format.h"
#include "aggregate_registers.h"
#include "sums/number.h"

/* From the unit of `low` to that of `high`. */
#define HIGH_SHIFT 15

static int32_t
load_signed(const uint8_t *at)
{
	uint32_t bits;

	memcpy(&bits, at, sizeof(bits));
	return (int32_t)__builtin_bswap32(bits);
}

/* The sum of a lane with an infinity or a NaN, of which NaN takes precedence. */
static uint32_t
special(int32_t low, int32_t high, uint8_t *flags)
{
	if (high >= AGGREGATE_SUMS_NAN)
		return fp16.nan;
	if (high < AGGREGATE_SUMS_INF)
		return fp16.sign | fp16.inf;
	if (low < AGGREGATE_SUMS_INF)
		return fp16.inf;
	*flags |= NETFC_INVALID;
	return fp16.nan;
}

static uint32_t
round_sum(struct ieee format, int unit, int64_t sum, unsigned int op, struct divisor divisor,
	uint8_t *flags)
{
	uint64_t sign = -(uint64_t)(sum < 0);
	struct exact number = exact_of(((uint64_t)sum ^ sign) - sign, unit);
	uint32_t magnitude;

	if (sum == 0)
		return 0;
	if (op == AGGREGATE_MEAN)
		number = divide(number, divisor);
	magnitude = round_ieee(format, number);
	*flags |= magnitude == format.inf ? NETFC_OVERFLOW : 0;
	*flags |= magnitude == 0 ? NETFC_UNDERFLOW : 0;
	return with_sign(format, magnitude, sum < 0);
}

static uint32_t
round_lane(int32_t low, int32_t high, unsigned int op, struct divisor divisor, uint8_t *flags)
{
	if (low >= AGGREGATE_SUMS_INF || high >= AGGREGATE_SUMS_INF)
		return special(low, high, flags);
	if (low == AGGREGATE_SUMS_MINUS_ZERO)
		return fp16.sign;
	return round_sum(
		fp16, FP16_UNIT, low + high * (INT64_C(1) << HIGH_SHIFT), op, divisor, flags);
}

static uint8_t
round_fp16(
	unsigned int op, unsigned int workers, const uint8_t *sums, size_t count, uint8_t *result)
{
	const struct divisor divisor = divisor_of(workers);
	uint8_t flags = 0;

	for (size_t i = 0; i < count; i++) {
		const uint8_t *lane = sums + i * AGGREGATE_SUMS_BYTES;
		uint16_t bits = (uint16_t)round_lane(
			load_signed(lane), load_signed(lane + 4), op, divisor, &flags);

		memcpy(result + sizeof(bits) * i, &bits, sizeof(bits));
	}
	return flags;
}

static uint8_t
round_fp8_e4m3(
	unsigned int op, unsigned int workers, const uint8_t *sums, size_t count, uint8_t *result)
{
	const struct divisor divisor = divisor_of(workers);
	uint8_t flags = 0;

	for (size_t i = 0; i < count; i++) {
		const int32_t sum = load_signed(sums + i * sizeof(sum));

		if (sum >= AGGREGATE_SUMS_INF)
			result[i] = (uint8_t)fp8_e4m3.nan;
		else if (sum == AGGREGATE_SUMS_MINUS_ZERO)
			result[i] = (uint8_t)fp8_e4m3.sign;
		else
			result[i] = (uint8_t)round_sum(
				fp8_e4m3, FP8_E4M3_UNIT, sum, op, divisor, &flags);
	}
	return flags;
}

static uint8_t
round_int32(
	unsigned int op, unsigned int workers, const uint8_t *sums, size_t count, uint8_t *result)
{
	uint8_t flags = 0;

	for (size_t i = 0; i < count; i++) {
		const uint8_t *lane = sums + i * AGGREGATE_SUMS_BYTES;
		int64_t sum = load_signed(lane) + load_signed(lane + 4) * (INT64_C(1) << 16);
		int64_t exact = op == AGGREGATE_MEAN ? mean_of(sum, workers) : sum;
		int32_t value = (int32_t)saturated(exact);

		flags |= value != exact ? NETFC_OVERFLOW : 0;
		memcpy(result + sizeof(value) * i, &value, sizeof(value));
	}
	return flags;
}

uint8_t
aggregate_registers_round(enum aggregate_format format, unsigned int op, unsigned int workers,
	const uint8_t *sums, size_t count, uint8_t *result)
{
	switch (format) {
	case AGGREGATE_INT32:
		return round_int32(op, workers, sums, count, result);
	case AGGREGATE_FP8_E4M3:
		return round_fp8_e4m3(op, workers, sums, count, result);
	default:
		return round_fp16(op, workers, sums, count, result);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include <netfc.h>

#include "exact.h"

const char *const data_kind_words[DATA_KINDS] = {
	[DATA_ANY] = "any",
	[DATA_GRADIENTS] = "gradients",
	[DATA_CANCEL] = "cancel",
	[DATA_SUBNORMAL] = "subnormal",
	[DATA_OVERFLOW] = "overflow",
	[DATA_ZEROS] = "zeros",
	[DATA_SPARSE] = "sparse",
	[DATA_SPECIAL] = "special",
	[DATA_FINITE] = "finite",
};

/* splitmix64 (Steele, Lea and Flood, 2014). */
uint64_t
next_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned int
fraction_bits(unsigned int format)
{
	static const uint8_t bits[AGGREGATE_FORMAT_END] = {
		[AGGREGATE_FP16] = 10,
		[AGGREGATE_BF16] = 7,
		[AGGREGATE_FP32] = 23,
		[AGGREGATE_FP64] = 52,
		[AGGREGATE_FP8_E4M3] = 3,
		[AGGREGATE_FP8_E5M2] = 2,
	};

	return bits[format];
}

static uint64_t
sign_bit(unsigned int format)
{
	return UINT64_C(1) << (8 * aggregate_value_bytes(format) - 1);
}

static bool
is_ieee(unsigned int format)
{
	return fraction_bits(format) != 0;
}

/* The least that is no number: NaN in fp8_e4m3. */
static uint64_t
infinity(unsigned int format)
{
	if (format == AGGREGATE_FP8_E4M3)
		return 0x7f;
	return sign_bit(format) - (UINT64_C(1) << fraction_bits(format));
}

static uint64_t
greatest(unsigned int format)
{
	return is_ieee(format) ? infinity(format) - 1 : sign_bit(format) - 1;
}

static uint64_t
negate(unsigned int format, uint64_t bits)
{
	if (is_ieee(format))
		return bits ^ sign_bit(format);
	return -bits & (2 * sign_bit(format) - 1);
}

static uint64_t
with_random_sign(unsigned int format, uint64_t magnitude, uint64_t *seed)
{
	return next_random(seed) & 1 ? negate(format, magnitude) : magnitude;
}

static uint64_t
encode(unsigned int format, double value)
{
	float single = (float)value;
	uint32_t narrow;
	uint64_t bits;

	switch (format) {
	case AGGREGATE_INT32:
		return (uint32_t)(int32_t)(value * 1e6);
	case AGGREGATE_INT64:
		return (uint64_t)(int64_t)(value * 1e15);
	case AGGREGATE_FP32:
		memcpy(&narrow, &single, sizeof(narrow));
		return narrow;
	case AGGREGATE_FP64:
		memcpy(&bits, &value, sizeof(bits));
		return bits;
	default:
		return netfc_encode(netfc_format_by_id(format), value);
	}
}

static uint64_t
any_encoding(unsigned int format, uint64_t *seed)
{
	return next_random(seed) & (2 * sign_bit(format) - 1);
}

static uint64_t
any_finite(unsigned int format, uint64_t *seed)
{
	return with_random_sign(format, next_random(seed) % (greatest(format) + 1), seed);
}

/* The sum of four is bell-shaped enough. */
static uint64_t
gradient(unsigned int format, uint64_t *seed)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += (double)(int64_t)next_random(seed) * 0x1p-63;
	return encode(format, sum * 0.01);
}

static uint64_t
subnormal(unsigned int format, uint64_t *seed)
{
	uint64_t most = is_ieee(format) ? (UINT64_C(1) << fraction_bits(format)) - 1 : 63;

	return with_random_sign(format, next_random(seed) % (most + 1), seed);
}

/* What is left of pairs that cancel, but for their last bits, is up to a few small values. */
static void
fill_cancel(unsigned int format, uint64_t *values, unsigned int workers, uint64_t *seed)
{
	uint64_t most = greatest(format);

	for (unsigned int w = 0; w + 1 < workers; w += 2) {
		uint64_t magnitude = next_random(seed) % (most + 1);
		uint64_t other = magnitude + next_random(seed) % 3 - 1;

		if (other > most || next_random(seed) % 2 == 0)
			other = magnitude;
		values[w] = with_random_sign(format, magnitude, seed);
		values[w + 1] = values[w] == magnitude ? negate(format, other) : other;
	}
	if (workers % 2 != 0)
		values[workers - 1] = next_random(seed) % 2 == 0 ? subnormal(format, seed)
								 : any_finite(format, seed);
}

/* What is added to the greatest number of an IEEE format overflows from half its last bit on. */
static void
fill_overflow(unsigned int format, uint64_t *values, unsigned int workers, uint64_t *seed)
{
	uint64_t most = greatest(format);
	uint64_t sign = with_random_sign(format, 0, seed);
	uint64_t last = most - ((fraction_bits(format) + UINT64_C(1)) << fraction_bits(format));

	for (unsigned int w = 0; w < workers; w++)
		values[w] = with_random_sign(format, next_random(seed) % 3, seed);
	if (!is_ieee(format)) {
		for (unsigned int w = 0; w < workers; w += 1 + next_random(seed) % 2)
			values[w] = with_random_sign(format, most - next_random(seed) % 3, seed);
		return;
	}
	values[0] = sign | most;
	if (workers > 1)
		values[1] = sign |
			((last & ~((UINT64_C(1) << fraction_bits(format)) - 1)) +
				next_random(seed) % 3 - 1);
	/* Or most of it in two halves. */
	if (workers > 2 && next_random(seed) % 2 == 0) {
		values[0] = sign | (most - (UINT64_C(1) << fraction_bits(format)));
		values[2] = sign |
			(most - (UINT64_C(1) << fraction_bits(format)) - next_random(seed) % 2);
	}
}

static uint64_t
zero(unsigned int format, uint64_t *seed)
{
	uint64_t random = next_random(seed);

	if (random % 16 == 0)
		return with_random_sign(format, 1, seed);
	return is_ieee(format) && random % 4 != 0 ? sign_bit(format) : 0;
}

static uint64_t
special(unsigned int format, uint64_t *seed)
{
	const uint64_t values[] = {0, 1, greatest(format),
		is_ieee(format) ? infinity(format) : sign_bit(format),
		is_ieee(format) ? infinity(format) + 1 : 2, is_ieee(format) ? greatest(format) : 3};
	uint64_t random = next_random(seed);

	if (random % 2 == 0)
		return any_finite(format, seed);
	return with_random_sign(format, values[random / 2 % 6], seed);
}

static uint64_t
sparse(unsigned int format, uint64_t *seed)
{
	uint64_t random = next_random(seed);

	if (random % 4 == 0)
		return is_ieee(format) && random % 8 == 0 ? sign_bit(format) : 0;
	return random % 2048 == 1 ? any_finite(format, seed) : gradient(format, seed);
}

void
data_shuffle(uint64_t *values, unsigned int workers, uint64_t *seed)
{
	for (unsigned int w = workers; w > 1; w--) {
		unsigned int other = (unsigned int)(next_random(seed) % w);
		uint64_t value = values[other];

		values[other] = values[w - 1];
		values[w - 1] = value;
	}
}

static uint64_t
one_value(enum data_kind kind, unsigned int format, uint64_t *seed)
{
	switch (kind) {
	case DATA_GRADIENTS:
		return gradient(format, seed);
	case DATA_SUBNORMAL:
		return subnormal(format, seed);
	case DATA_ZEROS:
		return zero(format, seed);
	case DATA_SPARSE:
		return sparse(format, seed);
	case DATA_SPECIAL:
		return special(format, seed);
	case DATA_FINITE:
		return any_finite(format, seed);
	default:
		return any_encoding(format, seed);
	}
}

void
data_fill(enum data_kind kind, unsigned int format, uint64_t *values, unsigned int workers,
	uint64_t *seed)
{
	format = aggregate_values_format(format);
	if (kind == DATA_CANCEL)
		fill_cancel(format, values, workers, seed);
	else if (kind == DATA_OVERFLOW)
		fill_overflow(format, values, workers, seed);
	else
		for (unsigned int w = 0; w < workers; w++)
			values[w] = one_value(kind, format, seed);
	data_shuffle(values, workers, seed);
}

void
data_put(unsigned int format, uint8_t *packet, uint32_t lane, uint64_t bits)
{
	unsigned int bytes = aggregate_value_bytes(format);

	for (unsigned int b = 0; b < bytes; b++)
		packet[lane * bytes + b] = (uint8_t)(bits >> (8 * (bytes - 1 - b)));
}

uint64_t
data_get(unsigned int format, const uint8_t *packet, uint32_t lane)
{
	unsigned int bytes = aggregate_value_bytes(format);
	uint64_t bits = 0;

	for (unsigned int b = 0; b < bytes; b++)
		bits = bits << 8 | packet[lane * bytes + b];
	return bits;
}

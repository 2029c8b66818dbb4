/* SPDX-License-Identifier: BSD-3-Clause */
/* The correctly rounded result, in integers: unpack, compute, round (IEEE 754-2019, section 4.3).
 */
#include "exact/magnitudes.h"

/* The magnitudes of results, up to format->inf. */

static uint32_t
exact_sum(const struct netfc_format *format, uint32_t x, uint32_t y)
{
	uint32_t magnitude_x = bits_magnitude(format, x), magnitude_y = bits_magnitude(format, y);
	bool difference = is_negative(format, x) != is_negative(format, y);

	if (magnitude_x < magnitude_y)
		return exact_sum(format, y, x);
	return netfc_round_nearest(format,
		sum_of_magnitudes(netfc_unpack(format, magnitude_x),
			netfc_unpack(format, magnitude_y), difference));
}

static uint32_t
exact_product(const struct netfc_format *format, uint32_t x, uint32_t y)
{
	struct number a = netfc_unpack(format, bits_magnitude(format, x));
	struct number b = netfc_unpack(format, bits_magnitude(format, y));

	return netfc_round_nearest(format, product_of_magnitudes(a, b));
}

static uint32_t
exact_quotient(const struct netfc_format *format, uint32_t x, uint32_t y)
{
	struct number a = netfc_unpack(format, bits_magnitude(format, x));
	struct number b = netfc_unpack(format, bits_magnitude(format, y));
	uint64_t divisor = b.significand >> (64 - SIG_BITS);
	uint64_t quotient = a.significand / divisor;
	bool sticky = quotient * divisor != a.significand;

	return netfc_round_nearest(
		format, normalise(quotient, a.exponent - b.exponent - (64 - SIG_BITS), sticky));
}

static uint32_t
exact_finite(const struct netfc_format *format, enum netfc_op op, uint32_t x, uint32_t y)
{
	switch (op) {
	case NETFC_MUL:
		return exact_product(format, x, y);
	case NETFC_DIV:
		return exact_quotient(format, x, y);
	case NETFC_SUB:
	case NETFC_ADD:
	default:
		return exact_sum(format, x, y);
	}
}

struct netfc_result
netfc_exact(const struct netfc_format *format, enum netfc_op op, uint32_t x, uint32_t y)
{
	uint32_t y_signed = op == NETFC_SUB ? negated(format, y) : y;
	uint32_t mx = bits_magnitude(format, x), my = bits_magnitude(format, y_signed);
	uint32_t word = netfc_decide(format,
		netfc_decide_key(op - NETFC_ADD, operand_class(format, x),
			operand_class(format, y_signed), is_negative(format, x),
			is_negative(format, y_signed),
			mx > my            ? NETFC_GREATER
				: mx == my ? NETFC_EQUAL
					   : NETFC_LESS));
	struct netfc_result result = {0, (uint8_t)netfc_decide_flags(word)};
	uint32_t magnitude;

	switch (netfc_decide_source(word)) {
	case NETFC_FROM_X:
		result.z = x;
		return result;
	case NETFC_FROM_Y:
		result.z = y_signed;
		return result;
	case NETFC_FROM_CONSTANT:
		result.z = decided_constant(format, word);
		return result;
	default:
		break;
	}
	magnitude = exact_finite(format, op, x, y_signed);
	result.z = rounded_bits(format, magnitude, netfc_decide_sign(word));
	result.flags = rounding_flags(format, magnitude);
	return result;
}

uint8_t
netfc_exact_lanes(const struct netfc_format *format, enum netfc_op op, const void *x, const void *y,
	void *z, uint8_t *flags, uint32_t count)
{
	uint8_t all = 0;

	for (uint32_t lane = 0; lane < count; lane++) {
		struct netfc_result result = netfc_exact(
			format, op, encoding_at(format, x, lane), encoding_at(format, y, lane));

		put_encoding(format, z, lane, result.z);
		if (flags != NULL)
			flags[lane] = result.flags;
		all |= result.flags;
	}
	return all;
}

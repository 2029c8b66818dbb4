/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats: what every encoding means, and where rounding goes at every boundary. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <netfc_wire.h>

#include "naive.h"
#include "unit.h"

static bool
same_number(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static enum netfc_class
class_of(double value)
{
	return isnan(value)    ? NETFC_NAN
		: isinf(value) ? NETFC_INF
		: value == 0   ? NETFC_ZERO
			       : NETFC_FINITE;
}

static void
expect_encoding(const struct netfc_format *format, double value, uint32_t expected)
{
	uint16_t bits = netfc_encode(format, value);

	if (bits != expected)
		fail_msg("%s: %a is encoded as %#x, not %#x", netfc_format_name(format), value,
			bits, expected);
}

TEST(formats_are_those_of_the_specification)
{
	static const struct {
		unsigned id;
		const char *name;
		bool posit;
		unsigned max_scale;
		int guard;
		uint16_t nan, inf;
	} expected[] = {
		{1, "fp16", false, 1024, 15, 0x7e00, 0x7c00},
		{2, "posit16", true, 512, 64, 0x8000, 0x8000},
		{3, "bf16", false, 128, 15, 0x7fc0, 0x7f80},
		{4, "posit16_es2", true, 256, 64, 0x8000, 0x8000},
	};
	const struct netfc_format *format;
	unsigned count = 0;

	NETFC_FOREACH_FORMAT (format) {
		if (netfc_format_width(format) != 16)
			continue;
		assert_true(count < sizeof(expected) / sizeof(expected[0]));
		assert_int_equal(netfc_format_id(format), expected[count].id);
		assert_string_equal(netfc_format_name(format), expected[count].name);
		assert_ptr_equal(netfc_format_by_name(expected[count].name), format);
		assert_int_equal(netfc_format_is_posit(format), expected[count].posit);
		assert_int_equal(netfc_format_max_scale(format), expected[count].max_scale);
		assert_int_equal(netfc_format_guard(format), expected[count].guard);
		assert_int_equal(netfc_nan(format), expected[count].nan);
		assert_int_equal(netfc_inf_magnitude(format), expected[count].inf);
		assert_true(strlen(netfc_format_title(format)) > 0);
		count++;
	}
	assert_int_equal(count, sizeof(expected) / sizeof(expected[0]));
	assert_null(netfc_format_by_id(0));
	assert_null(netfc_format_by_id(NETFC_FORMAT_END));
	assert_null(netfc_format_by_id(NETFC_SET_FORMAT_END));
	assert_null(netfc_format_by_id(UINT32_MAX));
	assert_null(netfc_format_by_name("fp32"));
	assert_null(netfc_format_by_name(""));
}

FORMAT_16_TEST(every_encoding_means_what_its_standard_says)
{
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		double value = naive_value(format, (uint16_t)bits);

		if (!same_number(netfc_decode(format, (uint16_t)bits), value))
			fail_msg("%s: %#x is %a, not %a", netfc_format_name(format), bits,
				netfc_decode(format, (uint16_t)bits), value);
		if (netfc_classify(format, (uint16_t)bits) != class_of(value))
			fail_msg("%s: %#x has the wrong class", netfc_format_name(format), bits);
	}
}

TEST(bf16_is_the_upper_half_of_a_float)
{
	const struct netfc_format *format = netfc_format_by_id(NETFC_BF16);

	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		uint32_t word = bits << 16;
		float value;

		memcpy(&value, &word, sizeof(value));
		assert_true(same_number(netfc_decode(format, (uint16_t)bits), (double)value));
	}
}

FORMAT_16_TEST(every_number_is_encoded_as_itself)
{
	for (uint32_t bits = 0; bits < 0x10000; bits++) {
		double value = netfc_decode(format, (uint16_t)bits);

		expect_encoding(format, value, isnan(value) ? netfc_nan(format) : bits);
	}
}

FORMAT_16_TEST(magnitudes_order_like_their_values)
{
	for (uint32_t u = 1; u < naive_end(format); u++)
		assert_true(netfc_decode(format, (uint16_t)u) >
			netfc_decode(format, (uint16_t)(u - 1)));
}

FORMAT_16_TEST(signs_and_magnitudes_fit_together)
{
	for (uint32_t b = 0; b < 0x10000; b++) {
		uint16_t bits = (uint16_t)b, negated = netfc_negate(format, bits);
		uint16_t magnitude = netfc_magnitude(format, bits);

		assert_int_equal(netfc_is_negative(format, bits), b >= 0x8000);
		assert_int_equal(netfc_negate(format, negated), bits);
		assert_int_equal(netfc_magnitude(format, negated), magnitude);
		if (netfc_classify(format, bits) == NETFC_NAN)
			continue;
		assert_true(naive_value(format, negated) == -naive_value(format, bits));
		assert_true(naive_value(format, magnitude) == fabs(naive_value(format, bits)));
		assert_int_equal(
			netfc_with_sign(format, magnitude, netfc_is_negative(format, bits)), bits);
	}
}

/* The midpoint goes to the even encoding; a hair to either side decides. */
static void
expect_boundary(const struct netfc_format *format, uint32_t u)
{
	double boundary = naive_boundary(format, u);
	uint16_t down = (uint16_t)u, up = (uint16_t)(u + 1), even = u % 2 == 0 ? down : up;

	expect_encoding(format, boundary, even);
	expect_encoding(format, -boundary, netfc_negate(format, even));
	expect_encoding(format, nextafter(boundary, 0), down);
	expect_encoding(format, -nextafter(boundary, 0), netfc_negate(format, down));
	expect_encoding(format, nextafter(boundary, INFINITY), up);
	expect_encoding(format, -nextafter(boundary, INFINITY), netfc_negate(format, up));
}

FORMAT_16_TEST(every_boundary_rounds_as_specified)
{
	for (uint32_t u = naive_least(format); u < naive_greatest(format); u++)
		expect_boundary(format, u);
}

FORMAT_16_TEST(the_ends_saturate_or_overflow)
{
	bool posit = netfc_format_is_posit(format);
	uint32_t nan = netfc_nan(format), most = posit ? 0x7fff : naive_end(format);
	uint16_t least = posit ? 1 : 0;

	expect_encoding(format, DBL_MAX, most);
	expect_encoding(format, -DBL_MAX, netfc_negate(format, (uint16_t)most));
	expect_encoding(format, DBL_MIN, least);
	expect_encoding(format, DBL_TRUE_MIN, least);
	expect_encoding(format, -DBL_TRUE_MIN, netfc_negate(format, least));
	expect_encoding(format, INFINITY, posit ? nan : most);
	expect_encoding(format, -INFINITY, posit ? nan : most | 0x8000);
	expect_encoding(format, NAN, nan);
	expect_encoding(format, -NAN, nan);
	expect_encoding(format, 0.0, 0);
	expect_encoding(format, -0.0, posit ? 0 : 0x8000);
}

static struct number
number_from(double value)
{
	struct number number = {.exponent = 0};

	number.significand = (uint64_t)ldexp(frexp(value, &number.exponent), 64);
	number.exponent--;
	return number;
}

FORMAT_16_TEST(a_sticky_bit_breaks_every_tie_upwards)
{
	for (uint32_t u = naive_least(format); u < naive_greatest(format); u++) {
		struct number number = number_from(naive_boundary(format, u));

		assert_int_equal(netfc_round_down(format, number), u);
		number.sticky = true;
		assert_int_equal(netfc_round_nearest(format, number), u + 1);
		assert_int_equal(netfc_round_down(format, number), u);
	}
}

FORMAT_16_TEST(rounding_down_keeps_numbers_and_lowers_the_rest)
{
	for (uint32_t u = 1; u < naive_end(format); u++) {
		double value = naive_value(format, (uint16_t)u);
		uint32_t below = u > naive_least(format) ? u - 1 : u;

		assert_int_equal(netfc_round_down(format, number_from(value)), u);
		assert_int_equal(netfc_round_down(format, number_from(nextafter(value, 0))), below);
	}
}

/* Whether the words are in a text, and do not go on there. */
static bool
says(const char *text, const char *words)
{
	for (const char *at = text; (at = strstr(at, words)) != NULL; at++) {
		const char behind = at[strlen(words)];

		if (behind != '_' && (behind < '0' || behind > '9'))
			return true;
	}
	return false;
}

FORMAT_TEST(error_messages_list_every_format)
{
	const char *name = netfc_format_name(format);
	char scale[64];

	snprintf(scale, sizeof(scale), "%u for %s", netfc_format_max_scale(format), name);
	if (!says(netfc_strerror(NETFC_ERR_FORMAT), name))
		fail_msg("%s is not among the known formats", name);
	if (netfc_format_width(format) == 16 && !says(netfc_strerror(NETFC_ERR_SCALE), scale))
		fail_msg("%s is not among the scales", name);
}

FORMAT_TEST(every_format_has_its_conversion)
{
	const struct netfc_function *function;
	char name[64];

	snprintf(name, sizeof(name), "to_%s", netfc_format_name(format));
	function = netfc_function_by_name(name);
	if (function == NULL)
		fail_msg("there is no %s", name);
	assert_ptr_equal(netfc_function_result(function, netfc_fp32_format()).format, format);
	assert_ptr_equal(netfc_function_by_number(netfc_function_number(function)), function);
}

FORMAT_TEST(slots_of_requests_are_as_wide_as_their_format)
{
	const unsigned id = netfc_format_id(format);
	const struct netfc_function *function;

	assert_int_equal(8 * netfc_wire_slot_bytes(NETFC_ADD, id), netfc_format_width(format));
	for (unsigned f = 0; (function = netfc_function_known(f)) != NULL; f++)
		assert_int_equal(8 * netfc_wire_slot_bytes(netfc_function_number(function), id),
			netfc_function_slot_bits(function, format));
}

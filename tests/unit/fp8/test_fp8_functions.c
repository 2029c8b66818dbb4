/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of a format of 8 bits, the argument being its table set, at all arguments; conversions
 * of formats of 16 bits to it. Values are the C library's in double precision, whose errors are far
 * smaller than the distance of any value that is not exact from a boundary of so few bits.
 */
#include <math.h>
#include <string.h>

#include "fp8_values.h"
#include "unit.h"

static const struct netfc_format *format;
static struct fp8 fp8;

static double
negated_value(double x)
{
	return -x;
}

static double
rsqrt_of(double x)
{
	return 1 / sqrt(x);
}

static double
reciprocal_of(double x)
{
	return 1 / x;
}

static double
sigmoid_of(double x)
{
	return 1 / (1 + exp(-x));
}

static double
gelu_of(double x)
{
	return x == -INFINITY ? -0.0 : x * erfc(-x * M_SQRT1_2) / 2;
}

static double
silu_of(double x)
{
	return x == -INFINITY ? -0.0 : x / (1 + exp(-x));
}

static const struct {
	const char *name;
	double (*value)(double x);
} functions[] = {
	{"abs", fabs},
	{"neg", negated_value},
	{"floor", floor},
	{"ceil", ceil},
	{"trunc", trunc},
	{"round", rint},
	{"sqrt", sqrt},
	{"rsqrt", rsqrt_of},
	{"reciprocal", reciprocal_of},
	{"exp", exp},
	{"exp2", exp2},
	{"ln", log},
	{"log2", log2},
	{"sin", sin},
	{"cos", cos},
	{"tanh", tanh},
	{"sigmoid", sigmoid_of},
	{"erf", erf},
	{"gelu", gelu_of},
	{"silu", silu_of},
};

static bool
has_pole(const char *name, double x)
{
	return x == 0 &&
		(strcmp(name, "rsqrt") == 0 || strcmp(name, "reciprocal") == 0 ||
			strcmp(name, "ln") == 0 || strcmp(name, "log2") == 0);
}

/* Nowhere zero but at zero, so that a zero of double precision stands for less than it has. */
static bool
has_no_zero(const char *name, double x)
{
	return isfinite(x) && x != 0 &&
		(strncmp(name, "exp", 3) == 0 || strcmp(name, "sigmoid") == 0 ||
			strcmp(name, "gelu") == 0 || strcmp(name, "silu") == 0);
}

TEST(every_function_is_rounded_to_nearest)
{
	for (unsigned f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
		const struct netfc_function *function = netfc_function_by_name(functions[f].name);

		for (unsigned x = 0; x < 256; x++) {
			const double argument = fp8.value[x];
			const double exact = functions[f].value(argument);
			struct netfc_result result;
			unsigned z;
			uint8_t flags;
			bool over;

			z = fp8_round(&fp8, exact, &over);
			flags = has_pole(functions[f].name, argument) ? NETFC_DIVBYZERO
				: isnan(exact) && !isnan(argument)    ? NETFC_INVALID
				: over                                ? NETFC_OVERFLOW
				: isinf(exact) && isfinite(argument)  ? NETFC_OVERFLOW
				: (z & 0x7f) == 0 &&
					(exact != 0 || has_no_zero(functions[f].name, argument))
				? NETFC_UNDERFLOW
				: 0;
			assert_int_equal(
				netfc_function_value(function, format, (uint16_t)x, &result), 0);
			if (result.z != z || result.flags != flags)
				fail_msg("%s(0x%02x = %g) is 0x%02x, flags %u, not 0x%02x, %u",
					functions[f].name, x, argument, result.z, result.flags, z,
					flags);
		}
	}
}

/* From a format of 16 bits to this one; infinities and NaN are no finite numbers here. */
static void
check_conversion(const struct netfc_function *function, const struct netfc_format *from)
{
	for (unsigned x = 0; x < 0x10000; x++) {
		const double exact = netfc_decode(from, x);
		struct netfc_result result;
		bool over;
		const unsigned z = fp8_round(&fp8, exact, &over);

		assert_int_equal(netfc_function_value(function, from, (uint16_t)x, &result), 0);
		if (result.z != z)
			fail_msg("%s(%s 0x%04x = %g) is 0x%02x, not 0x%02x",
				netfc_function_name(function), netfc_format_name(from), x, exact,
				result.z, z);
		assert_int_equal(result.flags,
			over                                         ? NETFC_OVERFLOW
				: isinf(exact) && z == fp8_nan(&fp8) ? NETFC_INVALID
				: exact != 0 && (z & 0x7f) == 0      ? NETFC_UNDERFLOW
								     : 0);
	}
}

TEST(conversions_from_16_bits_are_rounded_to_nearest)
{
	const struct netfc_function *function;
	const struct netfc_format *from;
	char name[NETFC_SET_NAME_SIZE];

	snprintf(name, sizeof(name), "to_%s%s", netfc_format_name(format),
		fp8.saturates ? "_sat" : "");
	function = netfc_function_by_name(name);
	assert_non_null(function);
	NETFC_FOREACH_FORMAT (from) {
		if (netfc_format_width(from) == 16)
			check_conversion(function, from);
		assert_int_equal(
			netfc_function_slot_bits(function, from), netfc_format_width(from));
	}
}

TEST(conversions_to_16_bits_are_those_of_the_values)
{
	const struct netfc_format *to;

	NETFC_FOREACH_FORMAT (to) {
		const struct netfc_function *function;
		char name[NETFC_SET_NAME_SIZE];

		snprintf(name, sizeof(name), "to_%s", netfc_format_name(to));
		function = netfc_function_by_name(name);
		for (unsigned x = 0; x < 0x10000; x++) {
			struct netfc_result result;

			assert_int_equal(
				netfc_function_value(function, format, (uint16_t)x, &result), 0);
			assert_int_equal(result.z, netfc_encode(to, fp8.value[x & 0xff]));
		}
	}
}

/* Slots are as wide as the wider of argument and result, as on the wire. */
TEST(slots_are_those_of_the_wire)
{
	const struct netfc_function *function;

	for (unsigned f = 0; (function = netfc_function_known(f)) != NULL; f++)
		assert_int_equal(netfc_function_slot_bits(function, format),
			8 *
				netfc_wire_slot_bytes(
					netfc_function_number(function), netfc_format_id(format)));
}

int
main(int argc, char **argv)
{
	struct netfc_set_id id;

	if (argc != 2 || netfc_set_parse_name(argv[1], &id) != NETFC_OK)
		return 2;
	format = id.format;
	fp8_define(&fp8, argv[1]);
	return tests_run(NULL, NULL);
}

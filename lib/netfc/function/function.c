/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that there are. One is added by a line of this table. */
#include "netfc_function.h"

#include <string.h>

#include "function/function.h"

/* int16 with `point` bits after the point, "q<point>", to and from numbers. */
#define FIXED(point, type, what)                                                              \
	{112 + (point), "to_" type, "to " what ", to nearest, ties to even", netfc_real_same, \
		SPECIAL_SAME, SPECIAL_SAME, SPECIAL_SAME, SLOT_OWN, SLOT_POINT(point)},       \
	{                                                                                     \
		128 + (point), "from_" type, "from " what, netfc_real_same, SPECIAL_SAME,     \
			SPECIAL_SAME, SPECIAL_SAME, SLOT_POINT(point), SLOT_OWN               \
	}
#define FIXED_POINT(point) FIXED(point, "q" #point, "int16 multiples of 2^-" #point)

/* To another format. */
#define CONVERSION(id, name)                                                             \
	{96 + (id), "to_" name, "to " name, netfc_real_same, SPECIAL_SAME, SPECIAL_SAME, \
		SPECIAL_SAME, SLOT_OWN, id}

#define SATURATING(id, name)                                                                     \
	{100 + (id), "to_" name "_sat", "to " name ", what is too large to the greatest number", \
		netfc_real_same, SPECIAL_SAME, SPECIAL_SAME, SPECIAL_SAME, SLOT_OWN,             \
		SLOT_SATURATING + (id)}

/* number, name, meaning; its values; at zero, infinity and minus infinity */
#define FUNCTION(...) {__VA_ARGS__, SLOT_OWN, SLOT_OWN}

/* clang-format off */
static const struct netfc_function functions[] = {
	FUNCTION(64, "abs", "absolute value", netfc_real_absolute,
		SPECIAL_ZERO, SPECIAL_SAME, SPECIAL_OPPOSITE),
	FUNCTION(65, "neg", "-x", netfc_real_negated,
		SPECIAL_OPPOSITE, SPECIAL_OPPOSITE, SPECIAL_OPPOSITE),
	FUNCTION(66, "floor", "to an integer, down", netfc_real_floor,
		SPECIAL_SAME, SPECIAL_SAME, SPECIAL_SAME),
	FUNCTION(67, "ceil", "to an integer, up", netfc_real_ceil,
		SPECIAL_SAME, SPECIAL_SAME, SPECIAL_SAME),
	FUNCTION(68, "trunc", "to an integer, towards zero", netfc_real_trunc,
		SPECIAL_SAME, SPECIAL_SAME, SPECIAL_SAME),
	FUNCTION(69, "round", "to the nearest integer, ties to even", netfc_real_round,
		SPECIAL_SAME, SPECIAL_SAME, SPECIAL_SAME),
	FUNCTION(70, "sqrt", "square root", netfc_real_sqrt,
		SPECIAL_SAME, SPECIAL_SAME, SPECIAL_UNDEFINED),
	FUNCTION(71, "rsqrt", "1 / square root", netfc_real_rsqrt,
		SPECIAL_POLE, SPECIAL_ZERO, SPECIAL_UNDEFINED),
	FUNCTION(72, "reciprocal", "1 / x", netfc_real_reciprocal,
		SPECIAL_POLE, SPECIAL_ZERO, SPECIAL_MINUS_ZERO),
	FUNCTION(73, "exp", "e^x", netfc_real_exp,
		SPECIAL_ONE, SPECIAL_SAME, SPECIAL_ZERO),
	FUNCTION(74, "exp2", "2^x", netfc_real_exp2,
		SPECIAL_ONE, SPECIAL_SAME, SPECIAL_ZERO),
	FUNCTION(75, "ln", "natural logarithm", netfc_real_ln,
		SPECIAL_MINUS_POLE, SPECIAL_SAME, SPECIAL_UNDEFINED),
	FUNCTION(76, "log2", "logarithm to base 2", netfc_real_log2,
		SPECIAL_MINUS_POLE, SPECIAL_SAME, SPECIAL_UNDEFINED),
	FUNCTION(77, "sin", "sine of radians", netfc_real_sin,
		SPECIAL_SAME, SPECIAL_UNDEFINED, SPECIAL_UNDEFINED),
	FUNCTION(78, "cos", "cosine of radians", netfc_real_cos,
		SPECIAL_ONE, SPECIAL_UNDEFINED, SPECIAL_UNDEFINED),
	FUNCTION(79, "tanh", "hyperbolic tangent", netfc_real_tanh,
		SPECIAL_SAME, SPECIAL_ONE, SPECIAL_MINUS_ONE),
	FUNCTION(80, "sigmoid", "1 / (1 + e^-x)", netfc_real_sigmoid,
		SPECIAL_HALF, SPECIAL_ONE, SPECIAL_ZERO),
	FUNCTION(81, "erf", "error function", netfc_real_erf,
		SPECIAL_SAME, SPECIAL_ONE, SPECIAL_MINUS_ONE),
	FUNCTION(82, "gelu", "x times the normal distribution at x", netfc_real_gelu,
		SPECIAL_SAME, SPECIAL_SAME, SPECIAL_MINUS_ZERO),
	FUNCTION(83, "silu", "x / (1 + e^-x)", netfc_real_silu,
		SPECIAL_SAME, SPECIAL_SAME, SPECIAL_MINUS_ZERO),
	CONVERSION(NETFC_FP16, "fp16"),
	CONVERSION(NETFC_POSIT16, "posit16"),
	CONVERSION(NETFC_BF16, "bf16"),
	CONVERSION(NETFC_POSIT16_ES2, "posit16_es2"),
	CONVERSION(NETFC_FP32, "fp32"),
	CONVERSION(NETFC_FP8_E4M3, "fp8_e4m3"),
	CONVERSION(NETFC_FP8_E5M2, "fp8_e5m2"),
	SATURATING(NETFC_FP8_E4M3, "fp8_e4m3"),
	SATURATING(NETFC_FP8_E5M2, "fp8_e5m2"),
	FIXED(0, "int16", "int16"),
	FIXED_POINT(1), FIXED_POINT(2), FIXED_POINT(3), FIXED_POINT(4), FIXED_POINT(5),
	FIXED_POINT(6), FIXED_POINT(7), FIXED_POINT(8), FIXED_POINT(9), FIXED_POINT(10),
	FIXED_POINT(11), FIXED_POINT(12), FIXED_POINT(13), FIXED_POINT(14), FIXED_POINT(15),
};
/* clang-format on */

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

const struct netfc_function *
netfc_function_known(unsigned index)
{
	return index < FUNCTIONS ? &functions[index] : NULL;
}

const struct netfc_function *
netfc_function_by_name(const char *name)
{
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		if (strcmp(functions[f].name, name) == 0)
			return &functions[f];
	}
	return NULL;
}

const struct netfc_function *
netfc_function_by_number(unsigned number)
{
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		if (functions[f].number == number)
			return &functions[f];
	}
	return NULL;
}

unsigned
netfc_function_number(const struct netfc_function *function)
{
	return function->number;
}

const char *
netfc_function_name(const struct netfc_function *function)
{
	return function->name;
}

const char *
netfc_function_meaning(const struct netfc_function *function)
{
	return function->meaning;
}

/* Of an enum netfc_format_id. */
static const struct netfc_format *
format_of(unsigned id)
{
	return id == NETFC_FP32 ? netfc_fp32_format() : netfc_format_by_id(id);
}

static struct netfc_slot
slot_of(const struct netfc_format *format, uint8_t code)
{
	struct netfc_slot slot = {.format = format};

	if (code >= SLOT_SATURATING)
		slot.format = netfc_format_saturating(netfc_format_by_id(code - SLOT_SATURATING));
	else if (code >= SLOT_FIXED)
		slot = (struct netfc_slot){.format = NULL, .point = code - SLOT_FIXED};
	else if (code != SLOT_OWN)
		slot.format = format_of(code);
	return slot;
}

static unsigned
slot_bits(struct netfc_slot slot)
{
	return slot.format != NULL ? slot.format->width : 16;
}

unsigned
netfc_function_slot_bits(const struct netfc_function *function, const struct netfc_format *format)
{
	const unsigned from = slot_bits(netfc_function_argument(function, format));
	const unsigned to = slot_bits(netfc_function_result(function, format));

	return from > to ? from : to;
}

bool
netfc_function_has_format(const struct netfc_function *function, const struct netfc_format *format)
{
	return format->width < 32 ||
		(function->real == netfc_real_same &&
			slot_of(format, function->from).format != NULL &&
			slot_of(format, function->to).format != NULL);
}

struct netfc_slot
netfc_function_argument(const struct netfc_function *function, const struct netfc_format *format)
{
	return slot_of(format, function->from);
}

struct netfc_slot
netfc_function_result(const struct netfc_function *function, const struct netfc_format *format)
{
	return slot_of(format, function->to);
}

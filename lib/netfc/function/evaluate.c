/* SPDX-License-Identifier: BSD-3-Clause */
/* A function's value for an encoding: special values, and approximations rounded with certainty. */
#include "function/function.h"
#include "netfc_function.h"

/* NEARNESS_BITS and SIDE_BITS as parts of a significand. */
#define NEARNESS (UINT64_C(1) << (63 - NEARNESS_BITS))
#define SIDE (UINT64_C(1) << (63 - SIDE_BITS))

/* A function for the packets of one format. */
struct evaluation {
	const struct netfc_function *function;
	struct netfc_slot from, to;
	bool posit; /* the format is: then the least int16 is NaR */
};

static struct real
real_of_number(struct number number, bool negative)
{
	return (struct real){negative, number.exponent, number.significand};
}

static enum netfc_class
class_of(const struct evaluation *e, uint32_t x)
{
	if (e->from.format != NULL)
		return operand_class(e->from.format, x);
	if (x == 0)
		return NETFC_ZERO;
	return x == 0x8000 && e->posit ? NETFC_NAN : NETFC_FINITE;
}

static struct real
real_of(const struct evaluation *e, uint32_t x)
{
	const struct netfc_format *format = e->from.format;

	if (format == NULL)
		return real_scale(real_integer((int16_t)x), -(int)e->from.point);
	return real_of_number(
		netfc_unpack(format, bits_magnitude(format, x)), is_negative(format, x));
}

static struct netfc_result
nan_result(const struct evaluation *e, uint8_t flags)
{
	if (e->to.format != NULL)
		return (struct netfc_result){e->to.format->nan, flags};
	return (struct netfc_result){e->posit ? 0x8000 : 0, flags};
}

static struct netfc_result
zero_result(const struct evaluation *e, bool negative, uint8_t flags)
{
	uint32_t z = e->to.format != NULL ? signed_magnitude(e->to.format, 0, negative) : 0;

	return (struct netfc_result){z, flags};
}

/* What does not fit an int16. */
static struct netfc_result
saturated(bool negative)
{
	return (struct netfc_result){negative ? 0x8000 : 0x7fff, NETFC_INVALID};
}

/* At an infinity or a pole; `flags` if the result can tell. */
static struct netfc_result
infinite_result(const struct evaluation *e, bool negative, uint8_t flags)
{
	if (e->to.format == NULL)
		return saturated(negative);
	if (e->to.format->posit)
		return nan_result(e, flags != 0 ? flags : NETFC_INVALID);
	if (overflowed(e->to.format, negative) == e->to.format->nan && flags == 0)
		flags = NETFC_INVALID;
	return (struct netfc_result){overflowed(e->to.format, negative), flags};
}

/* A multiple of 2^-point, to nearest, ties to even; what is too large is 2^16. */
static uint32_t
round_fixed(unsigned point, struct number number)
{
	int bits = 63 - number.exponent - (int)point; /* after the point */
	uint64_t whole, half, rest;

	if (bits < 64 - 17)
		return 0x10000;
	if (bits > 64)
		return 0;
	whole = bits < 64 ? number.significand >> bits : 0;
	half = number.significand >> (bits - 1) & 1;
	rest = (number.significand & ((UINT64_C(1) << (bits - 1)) - 1)) | number.sticky;
	return (uint32_t)(whole + (half & (rest != 0 || (whole & 1))));
}

static uint32_t
round_to(const struct netfc_slot *slot, struct number number)
{
	if (slot->format != NULL)
		return netfc_round_nearest(slot->format, number);
	return round_fixed(slot->point, number);
}

static struct number
less_by(struct real value, uint64_t part, bool sticky)
{
	uint64_t significand = value.significand - part;

	if (significand >= SIG_ONE)
		return (struct number){value.exponent, significand, sticky};
	return (struct number){value.exponent - 1, significand << 1, sticky};
}

static struct number
more_by(struct real value, uint64_t part)
{
	uint64_t significand = value.significand + part;

	if (significand >= SIG_ONE)
		return (struct number){value.exponent, significand, true};
	return (struct number){value.exponent + 1, SIG_ONE | significand >> 1, true};
}

/* Bounds of the magnitude, which lies between them. */
static void
enclose(const struct approximation *a, struct number *low, struct number *high)
{
	struct real value = a->value;

	*low = *high = (struct number){value.exponent, value.significand, false};
	switch (a->certainty) {
	case CERTAIN_EXACT:
	case CERTAIN_UNDEFINED:
		break;
	case CERTAIN_NEAR:
		*low = less_by(value, NEARNESS, false);
		*high = more_by(value, NEARNESS);
		break;
	case CERTAIN_ABOVE:
		low->sticky = true;
		*high = more_by(value, SIDE);
		break;
	case CERTAIN_BELOW:
		*low = less_by(value, SIDE, false);
		*high = less_by(value, 1, true);
		break;
	}
}

static struct netfc_result
finite_result(const struct evaluation *e, uint32_t magnitude, bool negative)
{
	const struct netfc_format *format = e->to.format;

	if (format != NULL)
		return (struct netfc_result){rounded_bits(format, magnitude, negative),
			rounding_flags(format, magnitude)};
	if (magnitude > 0x7fffu + negative)
		return saturated(negative);
	return (struct netfc_result){(uint16_t)(negative ? -magnitude : magnitude), 0};
}

static int
round_approximation(const struct evaluation *e, const struct approximation *a, bool x_negative,
	struct netfc_result *result)
{
	struct number low, high;
	uint32_t magnitude;

	if (a->certainty == CERTAIN_UNDEFINED) {
		*result = nan_result(e, NETFC_INVALID);
		return NETFC_OK;
	}
	if (real_is_zero(a->value)) {
		*result = zero_result(e, x_negative, 0);
		return NETFC_OK;
	}
	enclose(a, &low, &high);
	magnitude = round_to(&e->to, low);
	if (magnitude != round_to(&e->to, high))
		return NETFC_ERR_PRECISION;
	*result = finite_result(e, magnitude, a->value.negative);
	return NETFC_OK;
}

static struct netfc_result
constant(const struct evaluation *e, int exponent, bool negative)
{
	return finite_result(
		e, round_to(&e->to, (struct number){exponent, SIG_ONE, false}), negative);
}

static struct netfc_result
special_result(const struct evaluation *e, enum special special, bool infinite, bool negative)
{
	switch (special) {
	case SPECIAL_ZERO:
		return zero_result(e, false, 0);
	case SPECIAL_MINUS_ZERO:
		return zero_result(e, true, 0);
	case SPECIAL_HALF:
		return constant(e, -1, false);
	case SPECIAL_ONE:
		return constant(e, 0, false);
	case SPECIAL_MINUS_ONE:
		return constant(e, 0, true);
	case SPECIAL_SAME:
		return infinite ? infinite_result(e, negative, 0) : zero_result(e, negative, 0);
	case SPECIAL_OPPOSITE:
		return infinite ? infinite_result(e, !negative, 0) : zero_result(e, !negative, 0);
	case SPECIAL_POLE:
		return infinite_result(e, negative, NETFC_DIVBYZERO);
	case SPECIAL_MINUS_POLE:
		return infinite_result(e, true, NETFC_DIVBYZERO);
	case SPECIAL_UNDEFINED:
	default:
		return nan_result(e, NETFC_INVALID);
	}
}

static struct netfc_result
not_a_number(const struct evaluation *e)
{
	return nan_result(e, e->to.format == NULL && !e->posit ? NETFC_INVALID : 0);
}

/* An argument that is narrower than its slot stands in the low bits. */
static int
evaluate(const struct evaluation *e, uint32_t slot, struct netfc_result *result)
{
	const struct netfc_function *function = e->function;
	const unsigned width = e->from.format != NULL ? e->from.format->width : 16;
	const uint32_t x = slot & UINT32_MAX >> (32 - width);
	bool negative = x >> (width - 1) != 0;
	struct approximation a;

	switch (class_of(e, x)) {
	case NETFC_NAN:
		*result = not_a_number(e);
		return NETFC_OK;
	case NETFC_ZERO:
		*result = special_result(e, function->at_zero, false, negative);
		return NETFC_OK;
	case NETFC_INF:
		*result = special_result(e,
			negative ? function->at_minus_infinity : function->at_infinity, true,
			negative);
		return NETFC_OK;
	case NETFC_FINITE:
	default:
		a = function->real(real_of(e, x));
		return round_approximation(e, &a, negative, result);
	}
}

static struct evaluation
evaluation_of(const struct netfc_function *function, const struct netfc_format *format)
{
	return (struct evaluation){.function = function,
		.from = netfc_function_argument(function, format),
		.to = netfc_function_result(function, format),
		.posit = format->posit};
}

int
netfc_function_value(const struct netfc_function *function, const struct netfc_format *format,
	uint16_t x, struct netfc_result *result)
{
	struct evaluation e = evaluation_of(function, format);

	return format->width <= 16 ? evaluate(&e, x, result) : NETFC_ERR_FORMAT;
}

int
netfc_function_lanes(const struct netfc_function *function, const struct netfc_format *format,
	const uint32_t *x, uint32_t *z, uint8_t *flags, uint32_t count)
{
	const struct evaluation e = evaluation_of(function, format);

	if (!netfc_function_has_format(function, format))
		return NETFC_ERR_FORMAT;
	for (uint32_t lane = 0; lane < count; lane++) {
		struct netfc_result result;
		const int error = evaluate(&e, x[lane], &result);

		if (error != NETFC_OK)
			return error;
		z[lane] = result.z;
		if (flags != NULL)
			flags[lane] = result.flags;
	}
	return NETFC_OK;
}

int
netfc_function_table(const struct netfc_function *function, const struct netfc_format *format,
	uint16_t *z, uint8_t *flags)
{
	struct evaluation e = evaluation_of(function, format);
	struct netfc_result result;
	int error = NETFC_OK;

	if (netfc_function_slot_bits(function, format) > 16)
		return NETFC_ERR_FORMAT;
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES && error == NETFC_OK; x++) {
		error = evaluate(&e, x, &result);
		if (error != NETFC_OK)
			break;
		z[x] = (uint16_t)result.z;
		if (flags != NULL)
			flags[x] = result.flags;
	}
	return error;
}

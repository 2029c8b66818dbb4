/* SPDX-License-Identifier: BSD-3-Clause */
/* binary32 by the processor: `float` rounds to the nearest, ties to even, as C programs start. */
#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "fp32_pairs.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float is computed as float");

static bool
is_nan(uint32_t bits)
{
	return (bits & ~NETFC_FP32_SIGN) > NETFC_FP32_INF;
}

static bool
is_finite(uint32_t bits)
{
	return (bits & ~NETFC_FP32_SIGN) < NETFC_FP32_INF;
}

static bool
is_zero(uint32_t bits)
{
	return (bits & ~NETFC_FP32_SIGN) == 0;
}

/* The flags by their definitions; a sum that is zero is exact. */
static uint8_t
flags_of(enum netfc_op op, uint32_t x, uint32_t y, uint32_t z)
{
	bool product = op == NETFC_MUL || op == NETFC_DIV;

	if (op == NETFC_DIV && is_zero(y) && is_finite(x) && !is_zero(x))
		return NETFC_DIVBYZERO;
	if (is_nan(z))
		return is_nan(x) || is_nan(y) ? 0 : NETFC_INVALID;
	if (!is_finite(z))
		return is_finite(x) && is_finite(y) ? NETFC_OVERFLOW : 0;
	if (!is_zero(z) || !product || is_zero(x))
		return 0;
	return is_zero(y) || !is_finite(y) ? 0 : NETFC_UNDERFLOW;
}

static float
result(enum netfc_op op, float x, float y)
{
	switch (op) {
	case NETFC_SUB:
		return x - y;
	case NETFC_MUL:
		return x * y;
	case NETFC_DIV:
		return x / y;
	case NETFC_ADD:
	default:
		return x + y;
	}
}

void
fp32_processor(enum netfc_op op, const uint32_t *x, const uint32_t *y, uint32_t *z, uint8_t *flags,
	unsigned count)
{
	for (unsigned n = 0; n < count; n++) {
		float a, b, c;

		memcpy(&a, &x[n], sizeof(a));
		memcpy(&b, &y[n], sizeof(b));
		c = result(op, a, b);
		memcpy(&z[n], &c, sizeof(c));
		if (is_nan(z[n]))
			z[n] = NETFC_FP32_NAN;
		flags[n] = flags_of(op, x[n], y[n], z[n]);
	}
}

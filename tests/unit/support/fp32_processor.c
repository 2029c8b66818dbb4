/* SPDX-License-Identifier: BSD-3-Clause */
/* binary32 by the processor: `float` rounds to the nearest, ties to even, as C programs start. */
#include <float.h>
#include <string.h>

#include "fp32_pairs.h"
#include "ieee_flags.h"

_Static_assert(FLT_EVAL_METHOD == 0, "float is computed as float");

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
		if ((z[n] & ~NETFC_FP32_SIGN) > NETFC_FP32_INF)
			z[n] = NETFC_FP32_NAN;
		flags[n] = ieee_flags(op, x[n] & ~NETFC_FP32_SIGN, y[n] & ~NETFC_FP32_SIGN,
			z[n] & ~NETFC_FP32_SIGN, NETFC_FP32_INF);
	}
}

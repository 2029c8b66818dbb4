/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IEEE_FLAGS_H
#define IEEE_FLAGS_H

/** @file Exception flags of IEEE formats by their definitions. Numbers come without their signs. */

#include <netfc.h>

/** Of x op y = z; a sum that is zero is exact. `inf` is the format's infinity. */
static inline uint8_t
ieee_flags(enum netfc_op op, uint32_t x, uint32_t y, uint32_t z, uint32_t inf)
{
	bool product = op == NETFC_MUL || op == NETFC_DIV;

	if (op == NETFC_DIV && y == 0 && x < inf && x != 0)
		return NETFC_DIVBYZERO;
	if (z > inf)
		return x > inf || y > inf ? 0 : NETFC_INVALID;
	if (z == inf)
		return x < inf && y < inf ? NETFC_OVERFLOW : 0;
	if (z != 0 || !product || x == 0)
		return 0;
	return y == 0 || y >= inf ? 0 : NETFC_UNDERFLOW;
}

#endif /* IEEE_FLAGS_H */

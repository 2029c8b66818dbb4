/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_EXTRA_H
#define NETFC_EXTRA_H

/**
 * @file
 * Operations of two and three numbers beyond the four: the lesser, the greater, a comparison, and
 * z = x * y + z with one rounding. They need no table set; all are computed on integers.
 */

#include <stdint.h>

#include "netfc_arith.h"
#include "netfc_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The operations; their numbers go on from enum netfc_op. */
enum netfc_extra_op {
	/**
	 * The lesser of x and y: IEEE 754-2019's minimum, -0 being less than +0; NaN (NaR) if x or
	 * y is.
	 */
	NETFC_MIN = 5,
	/** The greater, likewise: maximum. */
	NETFC_MAX = 6,
	/**
	 * -1, 0 or 1 as x is less than, equal to, or greater than y; NaN if they are unordered,
	 * because one is NaN. -0 equals +0. Posits are all ordered, as their encodings are as
	 * integers (Posit Standard 2022): NaR is equal to itself and less than all others.
	 */
	NETFC_COMPARE = 7,
	/** x * y + z, rounded once: IEEE 754-2019's fusedMultiplyAdd. */
	NETFC_FMA = 8,
};

/** One more than the greatest of these numbers. */
#define NETFC_EXTRA_END 9

/** How many operands it reads: x and y, or z, too. */
static inline unsigned
netfc_extra_operands(unsigned op)
{
	return op == NETFC_FMA ? 3 : 2;
}

/** The operation's name: "min", "max", "compare", "fma"; NULL for anything else. */
NETFC_API const char *netfc_extra_name(unsigned op);

/** The operation of that name, of enum netfc_extra_op; 0 where none has it. */
NETFC_API unsigned netfc_extra_by_name(const char *name);

/**
 * The result of a lane, with the exception flags of netfc_arith.h.
 *
 * @param format the format of x, y, z and the result, of 8 or 16 bits
 * @param op the operation
 * @param x, y, z operands; z is not looked at by operations of two
 */
NETFC_API struct netfc_result netfc_extra(const struct netfc_format *format, enum netfc_extra_op op,
	uint32_t x, uint32_t y, uint32_t z);

/**
 * The results of many lanes, one by one as netfc_extra() computes them.
 *
 * @param format the format of operands and results, of 8 or 16 bits; arrays are as wide
 * @param op the operation of all lanes
 * @param x, y operands, `count` each
 * @param z the third operands, if any, `count`; receives the results
 * @param flags receives the exception flags, `count`; may be NULL
 * @param count how many lanes; any number
 * @return the exception flags of all lanes, or-ed
 */
NETFC_API uint8_t netfc_extra_lanes(const struct netfc_format *format, enum netfc_extra_op op,
	const void *x, const void *y, void *z, uint8_t *flags, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_EXTRA_H */

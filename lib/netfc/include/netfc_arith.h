/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_ARITH_H
#define NETFC_ARITH_H

/**
 * @file
 * z = x (op) y, on encodings: of a lane as numbers, of many as arrays of uint8_t, uint16_t or
 * uint32_t, as wide as their format.
 */

#include <stdint.h>

#include "netfc_format.h"
#include "netfc_set.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Operations, as on the wire. */
enum netfc_op {
	NETFC_ADD = 1,
	NETFC_SUB = 2,
	NETFC_MUL = 3,
	NETFC_DIV = 4,
};

/** Exception flags of a lane, as on the wire (IEEE 754-2019, section 7). */
enum netfc_flag {
	NETFC_INVALID = 1,   /**< z is NaN or NaR, no operand is, and y is no zero divisor */
	NETFC_DIVBYZERO = 2, /**< a finite number other than zero divided by zero */
	NETFC_OVERFLOW = 4,  /**< z is too large for a finite number, the operands are finite */
	NETFC_UNDERFLOW = 8, /**< z is zero and the exact result is not */
};

/** A result. */
struct netfc_result {
	uint32_t z;
	uint8_t flags; /**< of enum netfc_flag */
};

/** The operation's name: "add", "sub", "mul", "div"; NULL for anything else. */
NETFC_API const char *netfc_op_name(unsigned op);

/** The operation's symbol: "+", "-", "x", "/"; NULL for anything else. */
NETFC_API const char *netfc_op_symbol(unsigned op);

/**
 * The reference: one lane through the tables, decision by decision (paper, algorithms 1 and 2). It
 * is slow and simple; tests compare everything faster with it.
 *
 * @param set the tables
 * @param op one of enum netfc_op
 * @param x, y operands in the set's format
 * @return the result
 */
NETFC_API struct netfc_result
netfc_calc(const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y);

/**
 * The correctly rounded result, without tables: what an FPU of that format computes.
 *
 * @param format the format of x, y and the result
 * @param op one of enum netfc_op
 */
NETFC_API struct netfc_result
netfc_exact(const struct netfc_format *format, enum netfc_op op, uint32_t x, uint32_t y);

/**
 * The correctly rounded results of many lanes, one by one as netfc_exact() computes them.
 *
 * @param format the format of operands and results
 * @param op the operation of all lanes
 * @param x, y operands, `count` each, as wide as the format
 * @param z results, `count`, likewise; may be x or y
 * @param flags exception flags, `count`, or NULL
 * @param count how many lanes; any number
 * @return the exception flags of all lanes, or-ed
 */
NETFC_API uint8_t netfc_exact_lanes(const struct netfc_format *format, enum netfc_op op,
	const void *x, const void *y, void *z, uint8_t *flags, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_ARITH_H */

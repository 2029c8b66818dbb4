/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_FUNCTION_H
#define NETFC_FUNCTION_H

/**
 * @file
 * Functions of one number, z = f(x): a table of 65,536 entries each, of 256 for slots of 8 bits,
 * and so one look-up. Conversions from and to binary32 are computed.
 *
 * All are correctly rounded: the value of f at x, rounded once as netfc_encode() rounds. Special
 * values are those of IEEE 754-2019 (section 9.2) and C23 (annex F), posits' those of the Posit
 * Standard 2022. docs/functions.md has them in a table, and says why every entry is certain.
 */

#include <stdint.h>

#include "netfc_arith.h"
#include "netfc_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Entries of a function's table. */
#define NETFC_FUNCTION_ENTRIES 0x10000u

/** A function. */
struct netfc_function;

/** What a slot holds: a number in a format, or a fixed-point number. */
struct netfc_slot {
	/** The format; NULL: an int16 (two's complement), a multiple of 2^-point. */
	const struct netfc_format *format;
	unsigned point; /**< 0..15 */
};

/**
 * The functions that there are, one after the other.
 *
 * @param index 0, 1, 2, ...
 * @return the function, or NULL if there is none of that index
 */
NETFC_API const struct netfc_function *netfc_function_known(unsigned index);

/**
 * Find a function by its name, such as "sqrt".
 *
 * @return the function, or NULL where none has that name
 */
NETFC_API const struct netfc_function *netfc_function_by_name(const char *name);

/**
 * Find a function by its number.
 *
 * @return the function, or NULL where none has that number
 */
NETFC_API const struct netfc_function *netfc_function_by_number(unsigned number);

/** The function's number, 64..143. */
NETFC_API unsigned netfc_function_number(const struct netfc_function *function);

/** The function's name: lower-case letters, digits and underscores. */
NETFC_API const char *netfc_function_name(const struct netfc_function *function);

/** What it computes, in words: "square root". */
NETFC_API const char *netfc_function_meaning(const struct netfc_function *function);

/** Whether a format has the function: binary32 has conversions to formats, and no other. */
NETFC_API bool
netfc_function_has_format(const struct netfc_function *function, const struct netfc_format *format);

/** What x is in a lane of that format: a fixed-point number for "from_q8", else of the format. */
NETFC_API struct netfc_slot
netfc_function_argument(const struct netfc_function *function, const struct netfc_format *format);

/** What z is: of another format for "to_bf16", a fixed-point number for "to_q8". */
NETFC_API struct netfc_slot
netfc_function_result(const struct netfc_function *function, const struct netfc_format *format);

/**
 * The width in bits of the slots of a function: that of the wider one of argument and result. The
 * other stands in the low bits; what is above an argument is not looked at, above a result zero.
 */
NETFC_API unsigned
netfc_function_slot_bits(const struct netfc_function *function, const struct netfc_format *format);

/**
 * A function's value.
 *
 * Exception flags: invalid if z is NaN (NaR) and x is not, or if x does not fit a fixed-point z,
 * which is then the nearest that there is (0 for NaN); division by zero if f has a pole at x, which
 * is finite; overflow if z is infinite otherwise, and x is finite; underflow if z is zero, of a
 * format, and f(x) is not.
 *
 * @param format the format of the lane
 * @param x the argument, as netfc_function_argument() says
 * @param result the value, as netfc_function_result() says
 * @return 0; NETFC_ERR_FORMAT for binary32, whose arguments only netfc_function_lanes() takes; or
 *   NETFC_ERR_PRECISION if f(x) is too close to a rounding boundary (no function there is, and no
 * x)
 */
NETFC_API int netfc_function_value(const struct netfc_function *function,
	const struct netfc_format *format, uint16_t x, struct netfc_result *result);

/**
 * Values of a function, lane by lane.
 *
 * @param x arguments, `count`
 * @param z receives as many values
 * @param flags receives the exception flags of every lane, as many; may be NULL
 * @return 0; NETFC_ERR_FORMAT if the format does not have the function; or NETFC_ERR_PRECISION as
 *   above
 */
NETFC_API int
netfc_function_lanes(const struct netfc_function *function, const struct netfc_format *format,
	const uint32_t *x, uint32_t *z, uint8_t *flags, uint32_t count);

/**
 * All values of a function whose slots have 8 or 16 bits. Those of 8 bits are repeated.
 *
 * @param format the format of the lanes
 * @param z receives the value of every x, NETFC_FUNCTION_ENTRIES
 * @param flags receives the exception flags of every x, as many; may be NULL
 * @return as of netfc_function_lanes(); NETFC_ERR_FORMAT also for slots of 32 bits
 */
NETFC_API int netfc_function_table(const struct netfc_function *function,
	const struct netfc_format *format, uint16_t *z, uint8_t *flags);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_FUNCTION_H */

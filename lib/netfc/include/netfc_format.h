/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_FORMAT_H
#define NETFC_FORMAT_H

/**
 * @file
 * The number formats: how a slot of 8, 16 or 32 bits encodes a number.
 *
 * IEEE formats are sign, exponent and fraction (IEEE 754-2019, section 3.4); so are the formats of
 * 8 bits (OCP 8-bit Floating Point Specification, revision 1.0), of which fp8_e4m3 has no infinity
 * and a single magnitude that is NaN. Posits are sign,
 * regime, exponent and fraction, negative ones in two's complement (Posit Standard 2022,
 * section 3; the NetFC paper, section II.B, uses one exponent bit where the standard has two).
 *
 * The **magnitude** of a number is the encoding of its absolute value without the sign bit, 7, 15
 * or 31 bits. Magnitudes have the order of the values that they encode.
 */

#include <stdbool.h>
#include <stdint.h>

#include "netfc_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Format numbers, as on the wire. */
enum netfc_format_id {
	NETFC_FP16 = 1,        /**< IEEE 754 binary16 */
	NETFC_POSIT16 = 2,     /**< posit<16,1>, the paper's */
	NETFC_BF16 = 3,        /**< bfloat16 */
	NETFC_POSIT16_ES2 = 4, /**< posit<16,2>, the 2022 standard's */
	NETFC_FP32 = 5,        /**< IEEE 754 binary32: netfc_fp32.h */
	NETFC_FP8_E4M3 = 8,    /**< OCP OFP8, 4 bits of exponent and 3 of fraction */
	NETFC_FP8_E5M2 = 9,    /**< OCP OFP8, 5 bits of exponent and 2 of fraction */
};

/** One more than the greatest number of a format of 16 bits. */
#define NETFC_FORMAT_END 5

/** One more than the greatest number of a format that has table sets; not all below it have one. */
#define NETFC_SET_FORMAT_END 10

/** Classes of encodings; posits and fp8_e4m3 have no infinities. */
enum netfc_class {
	NETFC_ZERO = 0,   /**< +0 or -0 */
	NETFC_FINITE = 1, /**< a finite number other than zero */
	NETFC_INF = 2,    /**< an infinity */
	NETFC_NAN = 3,    /**< NaN, or a posit's NaR */
};

/** A number format. */
struct netfc_format;

/** Go through all formats of 8 and 16 bits, in the order of their numbers. */
#define NETFC_FOREACH_FORMAT(format)                                                         \
	for (unsigned netfc_id_ = NETFC_FP16; netfc_id_ < NETFC_SET_FORMAT_END; netfc_id_++) \
		if (((format) = netfc_format_by_id(netfc_id_)) == NULL) {                    \
		} else

/**
 * Find a format of 8 or 16 bits by its number.
 *
 * @return the format, or NULL where no such format has that number
 */
NETFC_API const struct netfc_format *netfc_format_by_id(unsigned id);

/**
 * Find a format of 8 or 16 bits by its name: "fp16", "posit16", "bf16", "posit16_es2", "fp8_e4m3"
 * or "fp8_e5m2".
 *
 * @return the format, or NULL where no such format has that name
 */
NETFC_API const struct netfc_format *netfc_format_by_name(const char *name);

/** The format's number, see enum netfc_format_id. */
NETFC_API enum netfc_format_id netfc_format_id(const struct netfc_format *format);

/** The format's name, as in the names of table sets. */
NETFC_API const char *netfc_format_name(const struct netfc_format *format);

/** The format's full name, e.g. "IEEE 754 binary16". */
NETFC_API const char *netfc_format_title(const struct netfc_format *format);

/**
 * The same encodings, but results that are too large, or infinite, become the greatest finite
 * number with their sign (OCP's saturating conversions): the format of a table set `<format>_sat`.
 *
 * @param format of any kind
 * @return the format; NULL for one that is not of 8 bits
 */
NETFC_API const struct netfc_format *netfc_format_saturating(const struct netfc_format *format);

/** Whether results that are too large become the greatest finite number. */
NETFC_API bool netfc_format_saturates(const struct netfc_format *format);

/** The width of an encoding in bits: 8, 16, or 32 of the format of netfc_fp32_format(). */
NETFC_API unsigned netfc_format_width(const struct netfc_format *format);

/** Whether the format is a posit. */
NETFC_API bool netfc_format_is_posit(const struct netfc_format *format);

/** The largest scale k of the format's table sets, a power of two. */
NETFC_API unsigned netfc_format_max_scale(const struct netfc_format *format);

/**
 * The guard g: if the logarithms of two operands differ by more than g, their sum is the
 * larger operand (paper, section III.B.1).
 */
NETFC_API int netfc_format_guard(const struct netfc_format *format);

/** The class of `bits`. */
NETFC_API enum netfc_class netfc_classify(const struct netfc_format *format, uint32_t bits);

/** The magnitude of `bits`. The magnitude of zero and of NaR is 0. */
NETFC_API uint32_t netfc_magnitude(const struct netfc_format *format, uint32_t bits);

/** Whether the sign bit of `bits` is set. */
NETFC_API bool netfc_is_negative(const struct netfc_format *format, uint32_t bits);

/** The encoding of the number with that magnitude and sign. */
NETFC_API uint32_t netfc_with_sign(
	const struct netfc_format *format, uint32_t magnitude, bool negative);

/** The encoding of -value: the sign bit flipped, or a posit's two's complement. */
NETFC_API uint32_t netfc_negate(const struct netfc_format *format, uint32_t bits);

/**
 * The format's NaN: the quiet one with only the top fraction bit set, fp8_e4m3's positive one, or
 * NaR.
 */
NETFC_API uint32_t netfc_nan(const struct netfc_format *format);

/**
 * The magnitude after the greatest finite one: that of infinity, but of NaN for fp8_e4m3, which
 * has no infinity; for posits 0x8000, which is greater than any magnitude.
 */
NETFC_API uint32_t netfc_inf_magnitude(const struct netfc_format *format);

/**
 * What a result becomes that is too large, or infinite: infinity; fp8_e4m3's NaN, whatever the
 * sign; or the greatest finite number, where the format saturates. No posit is too large: NaR.
 */
NETFC_API uint32_t netfc_overflowed(const struct netfc_format *format, bool negative);

/**
 * The value of an encoding. Every value of every format is a double.
 *
 * @return the value, which may be infinite or NaN; NaN for NaR
 */
NETFC_API double netfc_decode(const struct netfc_format *format, uint32_t bits);

/**
 * Encode a value: IEEE formats round to nearest, ties to even, and what is too large becomes
 * netfc_overflowed(); posits round to nearest on the
 * encoding, never to zero or NaR, and saturate.
 *
 * @param value any double; posits encode infinities and NaN as NaR
 * @return the encoding
 */
NETFC_API uint32_t netfc_encode(const struct netfc_format *format, double value);

#ifdef __cplusplus
}
#endif

#endif /* NETFC_FORMAT_H */

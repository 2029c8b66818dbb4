/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUMBER_TABLE_H
#define NUMBER_TABLE_H

/** @file A look-up table of the properties of every encoding of a format. */

#include <stdbool.h>
#include <stdint.h>

#include <netfc.h>

/** Encodings of a 16-bit format. */
#define ENCODINGS 0x10000u

/** Greater than the distance of any two ordinals. */
#define NO_ORDINAL (INT32_C(1) << 20)

/** The encodings of a format. */
struct number_table {
	const struct netfc_format *format;
	double value[ENCODINGS];     /**< NaN for NaN and NaR */
	int32_t ordinal[ENCODINGS];  /**< rank by value; neighbours differ by 1 */
	int16_t exponent[ENCODINGS]; /**< floor(log2 |value|) of finite numbers except zero */
	uint8_t class[ENCODINGS];    /**< enum netfc_class */
	bool decimal[ENCODINGS];     /**< |value| < 1 */
};

/** Fill in the table. */
void number_table_fill(struct number_table *table, const struct netfc_format *format);

#endif /* NUMBER_TABLE_H */

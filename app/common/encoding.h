/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENCODING_H
#define ENCODING_H

/** @file Encodings of 16 or of 32 bits: read, written, computed with in numbers of 32. */

#include <stdbool.h>
#include <stdint.h>

#include "netfc.h"

/** Hex digits of an encoding. */
int encoding_digits(const struct netfc_format *format);

/** An encoding's value, in `text`, which has NUMBER_SIZE characters. */
const char *encoding_text(const struct netfc_format *format, uint32_t bits, char *text);

/** The constant that a word of the decision table gives as z. */
uint32_t decided_encoding(const struct netfc_format *format, uint32_t word);

/** Read an operand: as parse_operand(), or if `hex` as parse_hex_operand(), of either width. */
bool parse_encoding(const struct netfc_format *format, const char *text, bool hex, uint32_t *bits);

/** What parse_encoding() accepts, for error messages. */
const char *encoding_syntax(const struct netfc_format *format, bool hex);

/** x (op) y by the tables, as many as NETFC_BATCH at the most, of either width. */
void compute_lanes(const struct netfc_set *set, enum netfc_op op, const uint32_t *x,
	const uint32_t *y, struct netfc_result *results, unsigned count);

#endif /* ENCODING_H */

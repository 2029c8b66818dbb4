/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENCODING_H
#define ENCODING_H

/** @file Encodings of 16 or of 32 bits: read, written, computed with. */

#include <stdbool.h>
#include <stdint.h>

#include "netfc.h"

/** What a table set, or correct rounding, gives. */
struct answer {
	uint32_t z;
	uint8_t flags; /**< of enum netfc_flag */
};

/** Hex digits of an encoding. */
int encoding_digits(const struct netfc_format *format);

/** An encoding's value; NaN for NaR. */
double encoding_value(const struct netfc_format *format, uint32_t bits);

/** The encoding nearest to a value. */
uint32_t encoding_of(const struct netfc_format *format, double value);

/** An encoding's value, in `text`, which has NUMBER_SIZE characters. */
const char *encoding_text(const struct netfc_format *format, uint32_t bits, char *text);

/** The constant that a word of the decision table gives as z. */
uint32_t decided_encoding(const struct netfc_format *format, uint32_t word);

/** Read an operand: as parse_operand(), or if `hex` as parse_hex_operand(), of either width. */
bool parse_encoding(const struct netfc_format *format, const char *text, bool hex, uint32_t *bits);

/** What parse_encoding() accepts, for error messages. */
const char *encoding_syntax(const struct netfc_format *format, bool hex);

/** x (op) y by the tables, as many as NETFC_BATCH at the most. */
void answer_lanes(const struct netfc_set *set, enum netfc_op op, const uint32_t *x,
	const uint32_t *y, struct answer *answers, unsigned count);

/** The correctly rounded x (op) y. */
struct answer
answer_exact(const struct netfc_format *format, enum netfc_op op, uint32_t x, uint32_t y);

/** netfc_walk() or netfc_fp32_walk(). */
struct answer answer_walk(const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y,
	netfc_walk_fn fn, void *arg);

#endif /* ENCODING_H */

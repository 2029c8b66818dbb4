/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENCODING_H
#define ENCODING_H

/** @file Encodings and decimal numbers as text. */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "netfc.h"

/* Decimal numbers from text, so that they can still be rounded into any format. */

/**
 * Read a decimal number, inf or infinity, with or without a sign; nothing may follow it.
 *
 * @param value receives the number rounded to odd: itself if a double can be it, otherwise that of
 *   the two doubles around it whose last bit is set (so never zero, never infinity). Rounded to
 *   nearest into a format of up to 51 bits, that gives what rounding the number itself would give
 *   (Boldo and Melquiond, 2008).
 * @return whether the text is one
 */
bool decimal_read(const char *text, double *value);

/**
 * Round to odd: of the two doubles around any other number, the one whose last bit is set.
 *
 * @param nearest one of the two, infinity and zero among them
 * @param order less than 0, 0, or more than 0 as the number is less than, equal to or greater than
 * it
 */
double round_to_odd(double nearest, int order);

/* Encodings of any width, operations and flags: read, written, computed with. */

/** Bytes for a number as text. */
#define NUMBER_SIZE 32

/** Bytes for exception flags as text. */
#define FLAGS_SIZE 64

/** Read an operation: its name, or + - x * /. */
bool parse_op(const char *text, enum netfc_op *op);

/** Hex digits of an encoding. */
int encoding_digits(const struct netfc_format *format);

/** An encoding's value, in `text`, which has NUMBER_SIZE characters. */
const char *encoding_text(const struct netfc_format *format, uint32_t bits, char *text);

/** An encoding's value: a number, or one of the strings inf, -inf, nan, nar. */
json_t *encoding_json(const struct netfc_format *format, uint32_t bits);

/** The constant that a word of the decision table gives as z. */
uint32_t decided_encoding(const struct netfc_format *format, uint32_t word);

/** Read so many hex digits or fewer, and nothing else. */
bool parse_hex(const char *text, unsigned digits, uint32_t *bits);

/**
 * Read an operand: a decimal number, inf, nan, nar, or the encoding as 0x and hex digits.
 *
 * @param hex it is nothing but the encoding's digits
 */
bool parse_encoding(const struct netfc_format *format, const char *text, bool hex, uint32_t *bits);

/** What parse_encoding() accepts, for error messages. */
const char *encoding_syntax(const struct netfc_format *format, bool hex);

/** A flag's name. */
const char *flag_name(enum netfc_flag flag);

/** Exception flags by name, in `text`, which has FLAGS_SIZE characters; "none" for none. */
const char *flags_text(uint8_t flags, char *text);

/** Exception flags as an array of names. */
json_t *flags_json(uint8_t flags);

/** x (op) y by the tables, as many as NETFC_BATCH at most. */
void compute_lanes(const struct netfc_set *set, enum netfc_op op, const uint32_t *x,
	const uint32_t *y, struct netfc_result *results, unsigned count);

#endif /* ENCODING_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUMBER_H
#define NUMBER_H

/** @file Numbers, operations and flags: parsed from text, written as text. */

#include <stdbool.h>
#include <stdint.h>

#include "netfc.h"

/** Bytes for a number as text. */
#define NUMBER_SIZE 32

/** Bytes for exception flags as text. */
#define FLAGS_SIZE 64

/** Read an operation: its name, or + - x * /. */
bool parse_op(const char *text, enum netfc_op *op);

/** Whether a text is nan or nar, with or without a sign. */
bool is_nan_name(const char *text);

/** Read an operand: a decimal number, inf, nan, nar, or the encoding as 0x and hex digits. */
bool parse_operand(const struct netfc_format *format, const char *text, uint16_t *bits);

/** Read an operand that is nothing but one to four hex digits. */
bool parse_hex_operand(const char *text, uint16_t *bits);

/** What parse_operand() or parse_hex_operand() accepts, for error messages. */
const char *operand_syntax(bool hex);

/** An encoding's value, in `text`, which has NUMBER_SIZE characters. */
const char *number_text(const struct netfc_format *format, uint16_t bits, char *text);

/** A flag's name. */
const char *flag_name(enum netfc_flag flag);

/** Exception flags by name, in `text`, which has FLAGS_SIZE characters; "none" for none. */
const char *flags_text(uint8_t flags, char *text);

#endif /* NUMBER_H */

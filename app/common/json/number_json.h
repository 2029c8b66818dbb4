/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUMBER_JSON_H
#define NUMBER_JSON_H

/** @file Numbers and flags as JSON. */

#include <jansson.h>
#include <stdint.h>

#include "netfc.h"

/** An encoding's value: a number, or one of the strings inf, -inf, nan, nar. */
json_t *number_json(const struct netfc_format *format, uint16_t bits);

/** Bits as a JSON string: 0x and `digits` hex digits. */
json_t *bits_json(uint32_t bits, int digits);

/** Exception flags as an array of names. */
json_t *flags_json(uint8_t flags);

#endif /* NUMBER_JSON_H */

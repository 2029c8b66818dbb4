/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOT_H
#define SLOT_H

/** @file What slots hold, numbers of a format or fixed-point numbers, as text and as JSON. */

#include <stdbool.h>

#include <jansson.h>

#include "encoding.h"
#include "netfc.h"

/** Bytes for what kind of number a slot holds, as text. */
#define SLOT_KIND_SIZE 48

/** A slot of that format. */
struct netfc_slot format_slot(const struct netfc_format *format);

/** Read a slot, as parse_encoding() or a fixed-point number. */
bool parse_slot(struct netfc_slot slot, const char *text, bool hex, uint32_t *bits);

/** A slot's value, in `text`, which has NUMBER_SIZE characters. */
const char *slot_text(struct netfc_slot slot, uint32_t bits, char *text);

/** Hex digits of a slot. */
int slot_digits(struct netfc_slot slot);

/** What a slot holds, such as "fp16" or "int16 / 2^8", in `text` of SLOT_KIND_SIZE characters. */
const char *slot_kind(struct netfc_slot slot, char *text);

/** A slot's value as JSON. */
json_t *slot_value_json(struct netfc_slot slot, uint32_t bits);

/** A slot's bits and value as an object. */
json_t *slot_json(struct netfc_slot slot, uint32_t bits);

#endif /* SLOT_H */

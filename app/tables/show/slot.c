/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "encoding.h"
#include "json.h"
#include "show/show.h"

#define FIXED_DIGITS 4

struct netfc_slot
format_slot(const struct netfc_format *format)
{
	return (struct netfc_slot){.format = format};
}

/* A decimal number to the nearest multiple, ties to even; it must fit. */
static bool
parse_fixed(unsigned point, const char *text, bool hex, uint32_t *bits)
{
	double number, multiple;

	if (hex || strncasecmp(text, "0x", 2) == 0)
		return parse_hex(hex ? text : text + 2, FIXED_DIGITS, bits);
	if (!decimal_read(text, &number))
		return false;
	multiple = rint(ldexp(number, (int)point));
	if (!(multiple >= INT16_MIN && multiple <= INT16_MAX))
		return false;
	*bits = (uint16_t)(int16_t)multiple;
	return true;
}

bool
parse_slot(struct netfc_slot slot, const char *text, bool hex, uint32_t *bits)
{
	if (slot.format != NULL)
		return parse_encoding(slot.format, text, hex, bits);
	return parse_fixed(slot.point, text, hex, bits);
}

int
slot_digits(struct netfc_slot slot)
{
	return slot.format != NULL ? encoding_digits(slot.format) : FIXED_DIGITS;
}

static double
fixed_value(struct netfc_slot slot, uint32_t bits)
{
	return ldexp((int16_t)bits, -(int)slot.point);
}

const char *
slot_text(struct netfc_slot slot, uint32_t bits, char *text)
{
	if (slot.format != NULL)
		return encoding_text(slot.format, bits, text);
	snprintf(text, NUMBER_SIZE, "%.12g", fixed_value(slot, bits));
	return text;
}

const char *
slot_kind(struct netfc_slot slot, char *text)
{
	if (slot.format != NULL)
		snprintf(text, SLOT_KIND_SIZE, "%s", netfc_format_name(slot.format));
	else if (slot.point == 0)
		snprintf(text, SLOT_KIND_SIZE, "int16");
	else
		snprintf(text, SLOT_KIND_SIZE, "int16 / 2^%u", slot.point);
	return text;
}

json_t *
slot_value_json(struct netfc_slot slot, uint32_t bits)
{
	if (slot.format != NULL)
		return encoding_json(slot.format, bits);
	return json_real(fixed_value(slot, bits));
}

json_t *
slot_json(struct netfc_slot slot, uint32_t bits)
{
	return json_pack("{s:o, s:o}", "bits", json_word(bits, slot_digits(slot)), "value",
		slot_value_json(slot, bits));
}

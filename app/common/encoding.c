/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decimal.h"
#include "encoding.h"
#include "number.h"

/* Whether an encoding has no more bits than the format. */
static bool
fits(const struct netfc_format *format, uint16_t bits)
{
	return bits >> netfc_format_width(format) == 0;
}

static bool
is_wide(const struct netfc_format *format)
{
	return netfc_format_width(format) == 32;
}

int
encoding_digits(const struct netfc_format *format)
{
	return (int)netfc_format_width(format) / 4;
}

const char *
encoding_text(const struct netfc_format *format, uint32_t bits, char *text)
{
	if (!is_wide(format))
		return number_text(format, (uint16_t)bits, text);
	if (isnan(netfc_decode(format, bits)))
		return strcpy(text, "NaN");
	/* As many digits as tell all encodings apart. */
	snprintf(text, NUMBER_SIZE, "%.9g", netfc_decode(format, bits));
	return text;
}

uint32_t
decided_encoding(const struct netfc_format *format, uint32_t word)
{
	uint32_t constant = netfc_decide_constant(word);

	return is_wide(format) ? constant << 16 : constant;
}

static bool
parse_fp32_hex(const char *text, uint32_t *bits)
{
	size_t length = strlen(text);

	if (length < 1 || length > 8 || strspn(text, "0123456789abcdefABCDEF") != length)
		return false;
	*bits = (uint32_t)strtoul(text, NULL, 16);
	return true;
}

static bool
parse_fp32(const char *text, uint32_t *bits)
{
	double value;

	if (strncasecmp(text, "0x", 2) == 0)
		return parse_fp32_hex(text + 2, bits);
	if (is_nan_name(text)) {
		*bits = NETFC_FP32_NAN;
		return true;
	}
	if (!decimal_read(text, &value))
		return false;
	*bits = netfc_encode(netfc_fp32_format(), value);
	return true;
}

bool
parse_encoding(const struct netfc_format *format, const char *text, bool hex, uint32_t *bits)
{
	uint16_t narrow;

	if (is_wide(format))
		return hex ? parse_fp32_hex(text, bits) : parse_fp32(text, bits);
	if (!(hex ? parse_hex_operand(text, &narrow) : parse_operand(format, text, &narrow)))
		return false;
	*bits = narrow;
	return fits(format, narrow);
}

const char *
encoding_syntax(const struct netfc_format *format, bool hex)
{
	if (netfc_format_width(format) == 8)
		return hex ? "one or two hex digits, such as 38"
			   : "a decimal number, inf, nan, or an encoding such as 0x38";
	if (!is_wide(format))
		return operand_syntax(hex);
	return hex ? "one to eight hex digits, such as 3f800000"
		   : "a decimal number, inf, nan, or an encoding such as 0x3f800000";
}

void
compute_lanes(const struct netfc_set *set, enum netfc_op op, const uint32_t *x, const uint32_t *y,
	struct netfc_result *results, unsigned count)
{
	const unsigned width = netfc_format_width(netfc_set_format(set));
	uint8_t bytes_x[NETFC_BATCH], bytes_y[NETFC_BATCH], bytes_z[NETFC_BATCH];
	uint16_t words_x[NETFC_BATCH], words_y[NETFC_BATCH], words_z[NETFC_BATCH];
	uint32_t z[NETFC_BATCH];
	uint8_t flags[NETFC_BATCH];

	for (unsigned n = 0; n < count; n++) {
		bytes_x[n] = (uint8_t)x[n];
		bytes_y[n] = (uint8_t)y[n];
		words_x[n] = (uint16_t)x[n];
		words_y[n] = (uint16_t)y[n];
	}
	if (width == 8)
		netfc_compute(set, op, bytes_x, bytes_y, bytes_z, flags, count);
	else if (width == 16)
		netfc_compute(set, op, words_x, words_y, words_z, flags, count);
	else
		netfc_compute(set, op, x, y, z, flags, count);
	for (unsigned n = 0; n < count; n++)
		results[n] = (struct netfc_result){width == 8 ? bytes_z[n]
				: width == 16                 ? words_z[n]
							      : z[n],
			flags[n]};
}

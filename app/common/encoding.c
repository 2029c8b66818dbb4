/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "encoding.h"

bool
parse_op(const char *text, enum netfc_op *op)
{
	for (unsigned o = NETFC_ADD; o <= NETFC_DIV; o++) {
		if (strcasecmp(text, netfc_op_name(o)) == 0 ||
			strcmp(text, netfc_op_symbol(o)) == 0 ||
			(o == NETFC_MUL && strcmp(text, "*") == 0)) {
			*op = (enum netfc_op)o;
			return true;
		}
	}
	return false;
}

int
encoding_digits(const struct netfc_format *format)
{
	return (int)netfc_format_width(format) / 4;
}

const char *
encoding_text(const struct netfc_format *format, uint32_t bits, char *text)
{
	/* As many digits as tell all encodings apart. */
	const int digits = netfc_format_width(format) == 32 ? 9 : 8;
	const double value = netfc_decode(format, bits);

	if (isnan(value))
		return strcpy(text, netfc_format_is_posit(format) ? "NaR" : "NaN");
	snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
	return text;
}

json_t *
encoding_json(const struct netfc_format *format, uint32_t bits)
{
	const double value = netfc_decode(format, bits);

	if (isnan(value))
		return json_string(netfc_format_is_posit(format) ? "nar" : "nan");
	if (isinf(value))
		return json_string(value > 0 ? "inf" : "-inf");
	return json_real(value);
}

uint32_t
decided_encoding(const struct netfc_format *format, uint32_t word)
{
	const uint32_t constant = netfc_decide_constant(word);

	return netfc_format_width(format) == 32 ? constant << 16 : constant;
}

bool
parse_hex(const char *text, unsigned digits, uint32_t *bits)
{
	const size_t length = strlen(text);

	if (length < 1 || length > digits || strspn(text, "0123456789abcdefABCDEF") != length)
		return false;
	*bits = (uint32_t)strtoul(text, NULL, 16);
	return true;
}

static bool
is_nan_name(const char *text)
{
	text += *text == '+' || *text == '-';
	return strcasecmp(text, "nan") == 0 || strcasecmp(text, "nar") == 0;
}

bool
parse_encoding(const struct netfc_format *format, const char *text, bool hex, uint32_t *bits)
{
	double value = NAN;

	if (hex)
		return parse_hex(text, (unsigned)encoding_digits(format), bits);
	if (strncasecmp(text, "0x", 2) == 0)
		return parse_hex(text + 2, (unsigned)encoding_digits(format), bits);
	if (!is_nan_name(text) && !decimal_read(text, &value))
		return false;
	*bits = netfc_encode(format, value);
	return true;
}

const char *
encoding_syntax(const struct netfc_format *format, bool hex)
{
	static const char *const expected[][2] = {
		{"a decimal number, inf, nan, or an encoding such as 0x38",
			"one or two hex digits, such as 38"},
		{"a decimal number, inf, nan, or an encoding such as 0x3c00",
			"one to four hex digits, such as 3c00"},
		{"a decimal number, inf, nan, or an encoding such as 0x3f800000",
			"one to eight hex digits, such as 3f800000"},
	};

	return expected[netfc_format_width(format) / 16][hex];
}

const char *
flag_name(enum netfc_flag flag)
{
	switch (flag) {
	case NETFC_INVALID:
		return "invalid";
	case NETFC_DIVBYZERO:
		return "division by zero";
	case NETFC_OVERFLOW:
		return "overflow";
	default:
		return "underflow";
	}
}

const char *
flags_text(uint8_t flags, char *text)
{
	text[0] = '\0';
	for (unsigned flag = NETFC_INVALID; flag <= NETFC_UNDERFLOW; flag <<= 1) {
		if (!(flags & flag))
			continue;
		if (text[0] != '\0')
			strcat(text, ", ");
		strcat(text, flag_name((enum netfc_flag)flag));
	}
	return text[0] != '\0' ? text : strcpy(text, "none");
}

json_t *
flags_json(uint8_t flags)
{
	json_t *names = json_array();

	for (unsigned flag = NETFC_INVALID; flag <= NETFC_UNDERFLOW; flag <<= 1) {
		if (flags & flag)
			json_array_append_new(names, json_string(flag_name((enum netfc_flag)flag)));
	}
	return names;
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

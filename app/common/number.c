/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "number.h"

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

bool
parse_hex_operand(const char *text, uint16_t *bits)
{
	size_t length = strlen(text);

	if (length < 1 || length > 4 || strspn(text, "0123456789abcdefABCDEF") != length)
		return false;
	*bits = (uint16_t)strtoul(text, NULL, 16);
	return true;
}

/* A posit saturates where strtod() says infinity or zero but the text names a number. */
static double
undo_overflow(double value)
{
	if (errno != ERANGE)
		return value;
	if (value == 0)
		return copysign(DBL_TRUE_MIN, value);
	return isinf(value) ? copysign(DBL_MAX, value) : value;
}

static bool
is_nan_name(const char *text)
{
	text += *text == '+' || *text == '-';
	return strcasecmp(text, "nan") == 0 || strcasecmp(text, "nar") == 0;
}

bool
parse_operand(const struct netfc_format *format, const char *text, uint16_t *bits)
{
	double value;
	char *end;

	if (strncasecmp(text, "0x", 2) == 0)
		return parse_hex_operand(text + 2, bits);
	if (is_nan_name(text)) {
		*bits = netfc_nan(format);
		return true;
	}
	/* No hexadecimal floating-point numbers, no white space, no nan(...). */
	if (strpbrk(text, "xXpP \t(") != NULL)
		return false;
	errno = 0;
	value = strtod(text, &end);
	if (end == text || *end != '\0')
		return false;
	*bits = netfc_encode(format, undo_overflow(value));
	return true;
}

const char *
operand_syntax(bool hex)
{
	return hex ? "one to four hex digits, such as 3c00"
		   : "a decimal number, inf, nan, or an encoding such as 0x3c00";
}

const char *
number_text(const struct netfc_format *format, uint16_t bits, char *text)
{
	double value = netfc_decode(format, bits);

	if (isnan(value))
		snprintf(text, NUMBER_SIZE, "%s", netfc_format_is_posit(format) ? "NaR" : "NaN");
	else
		snprintf(text, NUMBER_SIZE, "%.8g", value);
	return text;
}

json_t *
number_json(const struct netfc_format *format, uint16_t bits)
{
	double value = netfc_decode(format, bits);

	if (isnan(value))
		return json_string(netfc_format_is_posit(format) ? "nar" : "nan");
	if (isinf(value))
		return json_string(value > 0 ? "inf" : "-inf");
	return json_real(value);
}

json_t *
bits_json(uint32_t bits, int digits)
{
	return json_sprintf("0x%0*x", digits, (unsigned)bits);
}

static const struct {
	uint8_t flag;
	const char *name;
} flag_names[] = {
	{NETFC_INVALID, "invalid"},
	{NETFC_DIVBYZERO, "division by zero"},
	{NETFC_OVERFLOW, "overflow"},
	{NETFC_UNDERFLOW, "underflow"},
};

#define FLAGS (sizeof(flag_names) / sizeof(flag_names[0]))

const char *
flags_text(uint8_t flags, char *text)
{
	text[0] = '\0';
	for (size_t f = 0; f < FLAGS; f++) {
		if (!(flags & flag_names[f].flag))
			continue;
		if (text[0] != '\0')
			strcat(text, ", ");
		strcat(text, flag_names[f].name);
	}
	return text[0] != '\0' ? text : strcpy(text, "none");
}

json_t *
flags_json(uint8_t flags)
{
	json_t *names = json_array();

	for (size_t f = 0; f < FLAGS; f++) {
		if (flags & flag_names[f].flag)
			json_array_append_new(names, json_string(flag_names[f].name));
	}
	return names;
}

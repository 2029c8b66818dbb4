/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decimal.h"
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

bool
is_nan_name(const char *text)
{
	text += *text == '+' || *text == '-';
	return strcasecmp(text, "nan") == 0 || strcasecmp(text, "nar") == 0;
}

bool
parse_operand(const struct netfc_format *format, const char *text, uint16_t *bits)
{
	double value;

	if (strncasecmp(text, "0x", 2) == 0)
		return parse_hex_operand(text + 2, bits);
	if (is_nan_name(text)) {
		*bits = netfc_nan(format);
		return true;
	}
	if (!decimal_read(text, &value))
		return false;
	*bits = netfc_encode(format, value);
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

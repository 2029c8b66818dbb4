/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's function in memory. */
#include <stdlib.h>
#include <string.h>

#include "function/function.h"

#define ALL_FLAGS (NETFC_INVALID | NETFC_DIVBYZERO | NETFC_OVERFLOW | NETFC_UNDERFLOW)

static bool
is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_name_char(char c)
{
	return is_lower(c) || is_digit(c) || c == '_';
}

static bool
is_taken(const char *name)
{
	if (netfc_function_by_name(name) != NULL || netfc_extra_by_name(name) != 0)
		return true;
	for (unsigned op = NETFC_ADD; op <= NETFC_DIV; op++) {
		if (strcmp(netfc_op_name(op), name) == 0)
			return true;
	}
	return strcmp(name, "query") == 0 || strcmp(name, "name") == 0;
}

/* Whether clients may take it for a conversion to or from another type: "to_q16", "from_fp32". */
static bool
is_conversion(const char *name)
{
	static const char *const types[] = {"q", "int", "uint", "fp", "bf", "posit"};
	size_t prefix = strncmp(name, "to_", 3) == 0 ? 3 : strncmp(name, "from_", 5) == 0 ? 5 : 0;

	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]) && prefix != 0; t++) {
		size_t length = strlen(types[t]);

		if (strncmp(name + prefix, types[t], length) == 0 &&
			is_digit(name[prefix + length]))
			return true;
	}
	return false;
}

bool
netfc_user_function_is_name(const char *name)
{
	size_t length = 0;

	if (!is_lower(name[0]))
		return false;
	while (is_name_char(name[length]))
		length++;
	if (name[length] != '\0' || length >= NETFC_FUNCTION_NAME_SIZE)
		return false;
	return !is_taken(name) && !is_conversion(name);
}

static bool
are_entries(const struct netfc_format *format, const uint16_t *z, const uint8_t *flags)
{
	for (uint32_t x = 0; x < function_entries(format); x++) {
		if (z[x] >= function_entries(format) || (flags != NULL && flags[x] & ~ALL_FLAGS))
			return false;
	}
	return true;
}

/* By the definitions of enum netfc_flag; what z alone cannot tell is left out. */
static uint8_t
flags_of(const struct netfc_format *format, uint32_t x, uint16_t z)
{
	enum netfc_class from = operand_class(format, x), to = operand_class(format, z);

	if (to == NETFC_NAN && from != NETFC_NAN)
		return NETFC_INVALID;
	if (to == NETFC_INF && (from == NETFC_FINITE || from == NETFC_ZERO))
		return NETFC_DIVBYZERO;
	return 0;
}

int
netfc_user_function_create(const char *name, const struct netfc_format *format, const uint16_t *z,
	const uint8_t *flags, struct netfc_user_function **result)
{
	struct netfc_user_function *function;

	if (!netfc_user_function_is_name(name))
		return NETFC_ERR_NAME;
	if (format->width > 16)
		return NETFC_ERR_FORMAT;
	if (!are_entries(format, z, flags))
		return NETFC_ERR_ARGUMENT;
	function = calloc(1, sizeof(*function));
	if (function == NULL)
		return NETFC_ERR_NOMEM;
	strcpy(function->name, name);
	function->format = format;
	for (uint32_t slot = 0; slot < NETFC_FUNCTION_ENTRIES; slot++) {
		const uint32_t x = slot % function_entries(format);

		function->z[slot] = z[x];
		function->flags[slot] = flags != NULL ? flags[x] : flags_of(format, x, z[x]);
	}
	*result = function;
	return NETFC_OK;
}

void
netfc_user_function_free(struct netfc_user_function *function)
{
	free(function);
}

const char *
netfc_user_function_name(const struct netfc_user_function *function)
{
	return function->name;
}

const struct netfc_format *
netfc_user_function_format(const struct netfc_user_function *function)
{
	return function->format;
}

const uint16_t *
netfc_user_function_z(const struct netfc_user_function *function)
{
	return function->z;
}

const uint8_t *
netfc_user_function_flags(const struct netfc_user_function *function)
{
	return function->flags;
}

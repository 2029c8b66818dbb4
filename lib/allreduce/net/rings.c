/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/rings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool
rings_read_name(const char *text, const char *key, char name[RINGS_NAME_BYTES], uint32_t *number)
{
	const char *comma = strstr(text, key);
	const char *digits = comma != NULL ? comma + strlen(key) : "0";
	size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);
	unsigned long value;
	char *end;

	value = strtoul(digits, &end, 10);
	if (length == 0 || length >= RINGS_NAME_BYTES || !isdigit((unsigned char)*digits) ||
		*end != '\0' || value > UINT32_MAX)
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	*number = (uint32_t)value;
	return true;
}

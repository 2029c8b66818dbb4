/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "options/option_value.h"

#define PROGRAM "dpdk-netfc"

int
option_refuse(FILE *errors, const char *option, const char *value, const char *expected)
{
	fprintf(errors, PROGRAM ": --%s '%s': expected %s\n", option, value, expected);
	return -1;
}

int
option_wrong_value(const char *option, const char *value, const char *expected)
{
	return option_refuse(stderr, option, value, expected);
}

static int
take_number(FILE *errors, const char *option, const char *text, unsigned long least,
	unsigned long greatest, unsigned long *number)
{
	char expected[64], *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *number >= least &&
		*number <= greatest)
		return 0;
	snprintf(expected, sizeof(expected), "a number from %lu to %lu", least, greatest);
	return option_refuse(errors, option, text, expected);
}

int
option_number(const char *option, const char *text, unsigned long least, unsigned long greatest,
	unsigned long *number)
{
	return take_number(stderr, option, text, least, greatest, number);
}

int
option_number_u32(FILE *errors, const char *option, const char *text, uint32_t least,
	uint32_t greatest, uint32_t *number)
{
	unsigned long value;

	if (take_number(errors, option, text, least, greatest, &value) != 0)
		return -1;
	*number = (uint32_t)value;
	return 0;
}

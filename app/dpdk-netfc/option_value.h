/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTION_VALUE_H
#define OPTION_VALUE_H

/** @file Values of options. Each returns 0, or -1 with the reason on stderr. */

#include <stdint.h>

/** Say what an option's value should have been. Returns -1. */
int option_wrong_value(const char *option, const char *value, const char *expected);

/** A whole decimal number of a range. */
int option_number(const char *option, const char *text, unsigned long least, unsigned long greatest,
	unsigned long *number);

/** The same, for 32 bits. */
int option_number_u32(
	const char *option, const char *text, uint32_t least, uint32_t greatest, uint32_t *number);

#endif /* OPTION_VALUE_H */

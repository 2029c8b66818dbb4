/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTION_VALUE_H
#define OPTION_VALUE_H

/** @file Values of options. Each returns 0, or -1 with the reason on stderr, or on `errors`. */

#include <stdint.h>
#include <stdio.h>

/** Say what an option's value should have been. Returns -1. */
int option_wrong_value(const char *option, const char *value, const char *expected);

/** The same, on a stream. */
int option_refuse(FILE *errors, const char *option, const char *value, const char *expected);

/** A whole decimal number of a range. */
int option_number(const char *option, const char *text, unsigned long least, unsigned long greatest,
	unsigned long *number);

/** The same, of 32 bits, on a stream. */
int option_number_u32(FILE *errors, const char *option, const char *text, uint32_t least,
	uint32_t greatest, uint32_t *number);

#endif /* OPTION_VALUE_H */

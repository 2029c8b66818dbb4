/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLES_H
#define SAMPLES_H

/** @file The values of a user function: from a text file or from an expression. */

#include <stdbool.h>

#include "netfc.h"

/** A function's values, and what is said of them. Of 8 bits only the first 256 are in use. */
struct samples {
	const struct netfc_format *format;
	uint16_t z[NETFC_FUNCTION_ENTRIES];
	uint8_t flags[NETFC_FUNCTION_ENTRIES];
	bool given[NETFC_FUNCTION_ENTRIES];
	/** The greatest relative error of a normal number z, and its x. */
	double error;
	uint16_t worst;
	bool has_error; /**< some values were given as numbers */
	/** How many arguments have each exception flag: bit 0 invalid, ... 3 underflow. */
	unsigned exceptions[4];
};

/**
 * Read values or pairs from a text file, or an expression: "f(x) = ...". Lines are values, in the
 * order of the encodings of x, from 0 on; or pairs of x and value, in any order. Blank lines
 * and what follows a # do not count. Reports what is wrong. Gives the exit status.
 */
int samples_read(const char *path, struct samples *samples);

/** Evaluate an expression at every x. Reports what is wrong. Gives the exit status. */
int samples_evaluate(const char *expression, struct samples *samples);

/** How many values there are. */
static inline uint32_t
samples_entries(const struct samples *samples)
{
	return UINT32_C(1) << netfc_format_width(samples->format);
}

/** Count exceptions, once all values are there. */
void samples_count(struct samples *samples);

#endif /* SAMPLES_H */

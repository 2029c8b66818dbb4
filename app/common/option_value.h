/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OPTION_VALUE_H
#define OPTION_VALUE_H

/**
 * @file
 * Values of options. Each function reads one value, checks it on its own, and returns 0; or -1,
 * having said on `errors` which option is wrong and what it takes.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <netfc.h>

#include "match.h"

/** Say what an option's value should have been. Returns -1. */
int option_refuse(FILE *errors, const char *option, const char *text, const char *expected);

/** Any text but an empty one, which stays the caller's. */
int option_text(FILE *errors, const char *option, const char *text, const char **value);

/** A whole decimal number of a range. */
int option_u64(FILE *errors, const char *option, const char *text, uint64_t least,
	uint64_t greatest, uint64_t *value);
int option_u32(FILE *errors, const char *option, const char *text, uint32_t least,
	uint32_t greatest, uint32_t *value);
int option_u16(FILE *errors, const char *option, const char *text, uint16_t least,
	uint16_t greatest, uint16_t *value);

/** A decimal number, such as 0.5 or 1e6. */
int option_real(FILE *errors, const char *option, const char *text, double least, double greatest,
	double *value);

/** One of several names; its index goes into `value`. */
int option_name(FILE *errors, const char *option, const char *text, const char *const *names,
	unsigned int count, unsigned int *value);

/** Takes a KEY=VALUE of a list; may write to both. Returns 0, or -1 having said what is wrong. */
typedef int (*option_take_pair)(char *key, char *value, void *options, FILE *errors);

/** A list of KEY=VALUE[,KEY=VALUE...], which `take` gets one by one until it refuses one. */
int option_pairs(
	FILE *errors, const char *option, const char *text, option_take_pair take, void *options);

/**
 * The match engine: --match.
 *
 * @param tables_only refuse fpu, whose results are not those of table sets
 */
int option_match(FILE *errors, const char *text, bool tables_only, enum match_kind *value);

/** The name of a table set that can be built: --set. */
int option_set(FILE *errors, const char *text, const char **value);

/** Build the table set that --set names; netfc_set_free() frees it. */
int option_build_set(FILE *errors, const char *name, struct netfc_set **set);

#endif /* OPTION_VALUE_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXPORT_FUNCTIONS_H
#define EXPORT_FUNCTIONS_H

/** @file The functions that are exported for a P4 program. */

#include <netfc.h>

/** Those that a program has tables for. */
#define P4_MAX_FUNCTIONS 8

/** A function's entries. */
struct p4_function {
	char name[NETFC_FUNCTION_NAME_SIZE];
	unsigned number; /**< of its operation */
	uint16_t z[NETFC_FUNCTION_ENTRIES];
	uint8_t flags[NETFC_FUNCTION_ENTRIES];
};

struct p4_functions {
	unsigned count;
	struct p4_function function[P4_MAX_FUNCTIONS];
};

/**
 * Find functions by their names, or load user functions from their files, which have the numbers
 * from 193 on. Errors are reported.
 *
 * @param list names and files, joined by commas
 * @param format of the lanes
 * @param functions where they go; free() them
 * @return a STATUS
 */
int p4_functions_open(
	const char *list, const struct netfc_format *format, struct p4_functions **functions);

#endif /* EXPORT_FUNCTIONS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCE_H
#define SOURCE_H

/** @file Where table sets come from: a name, which is built, or a file, which is loaded. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "netfc.h"

/** Whether an operand names a file: it has a '/' in it or ends in .netfc. */
bool is_file_operand(const char *operand);

/** Whether a file's name ends as those of table sets do. */
bool has_set_suffix(const char *name);

/**
 * Build or load a table set, and report where that fails.
 *
 * @return the exit status; STATUS_DONE means that `set` is there
 */
int open_set(const char *operand, struct netfc_set **set);

/** Build a table set by its name, and report where that fails. Gives the exit status. */
int build_set(const char *name, struct netfc_set **set);

/** What is wrong with a file that netfc_set_load() gave this error for; looks at errno. */
const char *load_error(int error);

/** A scale; null where a set has none. */
json_t *scale_json(unsigned scale);

/** "nearest" or "floor". */
const char *rounding_name(enum netfc_rounding rounding);

#endif /* SOURCE_H */

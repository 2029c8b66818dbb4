/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SET_OPTION_H
#define SET_OPTION_H

/** @file Options that name a table set, and the match engine for it. */

#include <stdio.h>

#include <netfc.h>

#include "match.h"

/** The match engine; an option_parse, whose field is an enum match_kind. */
int option_match(FILE *errors, const char *option, const char *text, void *field);

/** The name of a table set that can be built; an option_parse, whose field is a const char *. */
int option_set(FILE *errors, const char *option, const char *text, void *field);

/**
 * Build the table set that --set names; netfc_set_free() frees it. 0, or -1, reported on `errors`.
 */
int option_build_set(FILE *errors, const char *name, struct netfc_set **set);

#endif /* SET_OPTION_H */

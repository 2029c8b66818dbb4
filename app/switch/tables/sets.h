/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SETS_H
#define SETS_H

/** @file Table sets by name or file. */

#include <stdio.h>

#include "options/options.h"

/** The loaded table sets. */
struct sets {
	struct netfc_set *by_format[NETFC_SET_FORMAT_END]; /**< NULL: not loaded */
	char *origin[NETFC_SET_FORMAT_END];                /**< for people: built, or which file */
};

/**
 * Load or build what --tables asks for.
 *
 * @param errors where to report errors
 * @return 0 or -1; sets_free() frees in both cases
 */
int sets_load(const struct options *options, struct sets *sets, FILE *errors);

/** Free all table sets; there are none then. */
void sets_free(struct sets *sets);

#endif /* SETS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EXPORT_TERNARY_H
#define EXPORT_TERNARY_H

/** @file Fewer ternary entries that say the same. */

#include "export.h"

/**
 * Take out what a ternary table can do without: join entries of one priority that differ in one
 * bit, drop those below which the same happens, and number the priorities anew, an entry each.
 */
void p4_minimise(struct p4_table *table);

#endif /* EXPORT_TERNARY_H */

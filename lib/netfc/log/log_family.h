/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_LOG_FAMILY_H
#define NETFC_LOG_FAMILY_H

/** @file What the files of the paper's family share. */

#include "internal.h"

/* Indices of its tables. */
enum log_table {
	TABLE_LOG,
	TABLE_MI,
	TABLE_EXP,
	TABLE_DECIDE
};

/* log_calc.c */
struct netfc_result log_calc(const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y);

/* The guard in log words: beyond it, a sum is its larger operand. */
static inline int32_t
log_guard_words(const struct netfc_set *set)
{
	return set->id.format->guard * (int32_t)set->id.scale;
}

#endif /* NETFC_LOG_FAMILY_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One lane through the tables of a correctly rounded set: the program itself. What it must give,
 * netfc_exact() says without a table.
 */
#include "exact/exact_family.h"

struct netfc_result
exact_calc(const struct netfc_set *set, enum netfc_op op, uint16_t x, uint16_t y)
{
	struct netfc_result result;

	netfc_compute(set, op, &x, &y, &result.z, &result.flags, 1);
	return result;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_TOTALS_H
#define ALLREDUCE_TOTALS_H

/** @file Exact sums that a worker gives in the place of values. */

#include <aggregate_digits.h>

#include "netfc_allreduce.h"

struct netfc_allreduce_totals {
	struct aggregate_totals lanes; /* of all of them; its count is not looked at */
	uint64_t count;
};

/* Those of some lanes. */
struct aggregate_totals
totals_view(const struct netfc_allreduce_totals *totals, uint64_t first, uint32_t count);

#endif /* ALLREDUCE_TOTALS_H */

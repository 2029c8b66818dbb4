/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OUTCOME_H
#define OUTCOME_H

/** @file A table set's result compared with the correctly rounded one. */

#include <jansson.h>

#include "encoding.h"
#include "netfc.h"
#include "show/operation.h"

/** NetFC's result of an operation, beside the correctly rounded one. */
struct outcome {
	const struct netfc_format *format;
	struct operation operation;
	struct netfc_result netfc, exact;
	/** |z - exact| / |exact|; may be infinite or NaN. */
	double relative_error;
	/** exp(-relative error), the paper's metric; 0 if the relative error is infinite or NaN. */
	double accuracy;
};

/** Compare a result with the correctly rounded one. */
struct outcome compare_result(const struct netfc_format *format, const struct operation *operation,
	struct netfc_result netfc);

/** All of an outcome as an object; `set` is the table set's name. */
json_t *outcome_json(const struct outcome *outcome, const char *set);

/** The two lines that compare NetFC's result with the exact one, and one with the error. */
void print_outcome(const struct outcome *outcome);

#endif /* OUTCOME_H */

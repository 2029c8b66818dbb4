/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACCURACY_H
#define ACCURACY_H

/**
 * @file
 * How accurate the results are: right replies against the correctly rounded results. A lane's
 * accuracy is the paper's, exp(-|expected - result| / |expected|).
 */

#include "workload/workload.h"

/** Of many lanes. */
struct accuracy {
	uint64_t lanes;    /**< that count */
	uint64_t left_out; /**< where zero, an infinity or NaN is expected */
	uint64_t exact;    /**< of the lanes that count */
	uint64_t near;     /**< no more than one unit in the last place off, exact ones included */
	uint64_t infinite; /**< whose result is no finite number; left out of the mean square */
	double average, median, minimum;
	double mean_square; /**< error */
};

/** All operations together. */
#define ACCURACY_ALL 0

/** Of each operation, by enum netfc_op, and of all together. */
struct accuracies {
	struct accuracy of[NETFC_DIV + 1];
};

/**
 * Find the accuracy of all right replies.
 *
 * @return 0, or -1 (reported on stderr) if memory is short
 */
int accuracy_find(const struct workload *workload, struct accuracies *accuracies);

#endif /* ACCURACY_H */

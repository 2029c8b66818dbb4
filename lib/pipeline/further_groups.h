/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_FURTHER_GROUPS_H
#define PIPELINE_FURTHER_GROUPS_H

/**
 * @file
 * Requests of operations further to the four, and of the four on lanes of 32 bits. Those of one
 * format and one operation are a group, too: its number follows those of the four. Each is computed
 * where it is, however few its lanes, so that the four have none of these among theirs.
 */

#include "branch.h"
#include "classify.h"
#include "further_kernel.h"

/** Groups at the most. */
#define FURTHER_GROUPS 512

/** What computes them. */
struct further_groups {
	unsigned int count;
	uint16_t group[NETFC_SET_FORMAT_END][UINT8_MAX + 1]; /**< by number; 0: there is none */
	/** Of each group, from GROUPS on; 0: one of the four, which has no name. */
	uint8_t number[FURTHER_GROUPS];
	struct further_kernel *kernel[FURTHER_GROUPS];       /**< likewise */
	char name[FURTHER_GROUPS][NETFC_FUNCTION_NAME_SIZE]; /**< likewise, padded with NUL */
};

/** The group of a format's operation, or 0. */
static inline uint16_t
further_group(const struct further_groups *further, unsigned int format, unsigned int number)
{
	return format < NETFC_SET_FORMAT_END ? further->group[format][number] : 0;
}

/** Whether any format has the operation. */
bool further_is_known(const struct further_groups *further, unsigned int number);

/**
 * The number of an operation by its name.
 *
 * @param name padded with NUL
 * @return the number; 0: there is none of that name
 */
uint8_t
further_find(const struct further_groups *further, const char name[NETFC_FUNCTION_NAME_SIZE]);

/**
 * Add a group.
 *
 * @param name shorter than NETFC_FUNCTION_NAME_SIZE
 * @param kernel belongs to the groups from now on
 * @return 0; -E2BIG if there are too many; or -EEXIST if the format has that operation
 */
int further_add(struct further_groups *further, unsigned int format, uint8_t number,
	const char *name, struct further_kernel *kernel);

/**
 * Add a group of one of the four, on lanes of 32 bits.
 *
 * @param kernel belongs to the groups from now on
 * @return as further_add()
 */
int further_add_wide(struct further_groups *further, unsigned int format, enum netfc_op op,
	struct further_kernel *kernel);

/** Free all kernels. */
void further_clear(struct further_groups *further);

/**
 * Compute and answer the requests of CLASS_FURTHER.
 *
 * @param lanes what is computed is added
 * @param requests by number: those that are answered are added, those of the four to the first
 * @return their exceptions, counted as by flags_spread()
 */
uint64_t
further_groups_run(const struct further_groups *further, const struct classified *classified,
	const struct frame *frames, uint64_t *lanes, uint64_t *requests);

#endif /* PIPELINE_FURTHER_GROUPS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_KERNEL_GROUPS_H
#define PIPELINE_KERNEL_GROUPS_H

/**
 * @file
 * Requests of one format and one operation are a group: one kernel computes them. Lanes of the four
 * operations and of formats of 16 bits may be gathered from many packets; these groups come first,
 * each with a number that a format and an operation make.
 */

#include "vector.h"

/** NETFC_ADD to NETFC_DIV. */
#define GATHERED_OPS 4

/** Groups whose lanes may be gathered; see vector_group(). */
#define GATHERED_GROUPS (NETFC_FORMAT_END * GATHERED_OPS)

/** Greatest number of other groups. */
#define EXTENDED_GROUPS 640

/** A group. */
struct group {
	const struct vector_kernel *kernel;  /**< NULL: nothing computes it */
	uint8_t op;                          /**< on the wire */
	char name[NETFC_FUNCTION_NAME_SIZE]; /**< padded with NUL; empty: nobody asks by name */
};

/** What is computed, and by which kernel. */
struct groups {
	unsigned int end; /**< one more than the greatest number in use */
	uint16_t number[NETFC_SET_FORMAT_END][UINT8_MAX + 1]; /**< by format, operation; 0: none */
	struct group group[GATHERED_GROUPS + EXTENDED_GROUPS];
};

/** The number of an operation's group, or 0. */
static inline uint16_t
groups_number(const struct groups *groups, unsigned int format, unsigned int op)
{
	return format < NETFC_SET_FORMAT_END ? groups->number[format][op] : 0;
}

/** Whether any format has the operation. */
bool groups_have(const struct groups *groups, unsigned int op);

/**
 * The number of an operation by its name.
 *
 * @param name padded with NUL
 * @return the operation; 0: there is none of that name
 */
uint8_t groups_find(const struct groups *groups, const char name[NETFC_FUNCTION_NAME_SIZE]);

/** No group yet. */
void groups_clear(struct groups *groups);

/**
 * Add a group.
 *
 * @param name shorter than NETFC_FUNCTION_NAME_SIZE; or "": requests cannot ask for it
 * @param kernel computes the operation; it must outlive the groups
 * @return 0; -E2BIG if there are too many; or -EEXIST if the format has that operation
 */
int groups_add(struct groups *groups, unsigned int format, unsigned int op, const char *name,
	const struct vector_kernel *kernel);

#endif /* PIPELINE_KERNEL_GROUPS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "kernel_groups.h"

_Static_assert(UINT16_MAX >= GATHERED_GROUPS + EXTENDED_GROUPS, "groups are numbered in 16 bits");

bool
groups_have(const struct groups *groups, unsigned int op)
{
	for (unsigned int format = 0; format < NETFC_SET_FORMAT_END; format++) {
		if (groups->number[format][op] != 0)
			return true;
	}
	return false;
}

uint8_t
groups_find(const struct groups *groups, const char name[NETFC_FUNCTION_NAME_SIZE])
{
	if (name[0] == '\0')
		return 0;
	for (unsigned int g = GATHERED_GROUPS; g < groups->end; g++) {
		if (memcmp(groups->group[g].name, name, NETFC_FUNCTION_NAME_SIZE) == 0)
			return groups->group[g].op;
	}
	return 0;
}

void
groups_clear(struct groups *groups)
{
	*groups = (struct groups){.end = GATHERED_GROUPS};
}

int
groups_add(struct groups *groups, unsigned int format, unsigned int op, const char *name,
	const struct vector_kernel *kernel)
{
	const bool is_gathered = kernel->run.lanes != NULL && format < NETFC_FORMAT_END;
	const unsigned int number = is_gathered ? vector_group(format, op) : groups->end;
	struct group *group = &groups->group[number];

	if (number == RTE_DIM(groups->group))
		return -E2BIG;
	if (groups->number[format][op] != 0)
		return -EEXIST;
	*group = (struct group){.kernel = kernel, .op = (uint8_t)op};
	strncpy(group->name, name, NETFC_FUNCTION_NAME_SIZE - 1);
	groups->number[format][op] = (uint16_t)number;
	groups->end += !is_gathered;
	return 0;
}

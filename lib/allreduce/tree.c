/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

#include <stdio.h>

#include "error.h"

static int
check_levels(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	unsigned int least = options->workers;

	for (unsigned int l = 0; l < options->levels; l++) {
		const struct netfc_allreduce_level *level = &options->level[l];

		if (level->members == 0 || level->members > NETFC_ALLREDUCE_MAX_WORKERS ||
			level->index >= level->members)
			return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
				"Option level[%u] is member %u of %u: give 0 to %u of up to %u.", l,
				level->index, level->members,
				level->members > 0 ? level->members - 1 : 0,
				NETFC_ALLREDUCE_MAX_WORKERS);
		least += level->members - 1;
	}
	if (options->tree_workers >= least &&
		options->tree_workers <= NETFC_ALLREDUCE_MAX_TREE_WORKERS)
		return NETFC_ALLREDUCE_OK;
	return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
		"Option tree_workers is %u: give the workers of the whole tree, %u to %u; this switch "
		"has %u, and each other member above one or more.",
		options->tree_workers, least, NETFC_ALLREDUCE_MAX_TREE_WORKERS, options->workers);
}

int
tree_check(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options)
{
	if (options->levels > NETFC_ALLREDUCE_MAX_LEVELS)
		return error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
			"Option levels is %u: give 0 to %u.", options->levels,
			NETFC_ALLREDUCE_MAX_LEVELS);
	if (!tree_is_there(options))
		return options->levels == 0
			? NETFC_ALLREDUCE_OK
			: error_set(comm, NETFC_ALLREDUCE_ARGUMENT,
				  "Option levels is %u, and tree_workers 0: give the workers of "
				  "the whole tree.",
				  options->levels);
	return check_levels(comm, options);
}

struct aggregate_place
tree_place(const struct netfc_allreduce_options *options)
{
	struct aggregate_place place = {
		.levels = (uint8_t)options->levels,
		.workers = options->tree_workers,
	};

	for (unsigned int l = 0; l < options->levels; l++)
		place.level[l] = (struct aggregate_level){
			.members = (uint8_t)options->level[l].members,
			.index = (uint8_t)options->level[l].index,
		};
	return place;
}

unsigned int
tree_members(const struct netfc_allreduce_options *options, unsigned int level)
{
	if (level == 0)
		return options->workers;
	return level <= options->levels ? options->level[level - 1].members : 0;
}

/* Name a switch that is a member of level 1. */
static void
name_leaf(const struct netfc_allreduce_options *options, const char *word, unsigned int leaf,
	char *text, size_t bytes)
{
	size_t length =
		(size_t)snprintf(text, bytes, "%s %u of %u", word, leaf, options->level[0].members);

	for (unsigned int l = 1; l < options->levels && length < bytes; l++)
		length += (size_t)snprintf(text + length, bytes - length, " below %u of %u",
			options->level[l].index, options->level[l].members);
}

void
tree_name(const struct netfc_allreduce_options *options, unsigned int level, unsigned int member,
	char text[TREE_NAME_BYTES])
{
	char leaf[TREE_NAME_BYTES - 16]; /* behind "Worker 63 of " */

	if (level == 1) {
		name_leaf(options, "Leaf", member, text, TREE_NAME_BYTES);
	} else if (level > 1) {
		snprintf(text, TREE_NAME_BYTES, "Switch %u of %u at level %u", member,
			tree_members(options, level), level - 1);
	} else if (options->levels > 0) {
		name_leaf(options, "leaf", options->level[0].index, leaf, sizeof(leaf));
		snprintf(text, TREE_NAME_BYTES, "Worker %u of %s", member, leaf);
	} else {
		snprintf(text, TREE_NAME_BYTES, "Worker %u", member);
	}
}

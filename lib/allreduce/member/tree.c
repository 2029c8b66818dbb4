/* SPDX-License-Identifier: BSD-3-Clause */
#include "member/member.h"

#include <stdio.h>

struct aggregate_place
tree_place(const struct netfc_allreduce_options *options)
{
	struct aggregate_place place = {
		.levels = (uint8_t)options->levels,
		.workers = options->tree_workers,
		.below = 1,
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
	char leaf[TREE_NAME_BYTES - 16]; /* after "Worker 63 of " */

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

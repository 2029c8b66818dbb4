/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "match.h"

static const struct {
	const char *name;
	int (*create)(const struct netfc_table *table, int socket_id, struct match_stage **stage);
} kinds[MATCH_KINDS] = {
	[MATCH_LPM] = {"lpm", match_lpm_create},
	[MATCH_HASH] = {"hash", match_hash_create},
	[MATCH_DIRECT] = {"direct", match_direct_create},
	[MATCH_FPU] = {"fpu", NULL},
};

const char *
match_kind_name(enum match_kind kind)
{
	return kinds[kind].name;
}

enum match_kind
match_kind_by_name(const char *name)
{
	enum match_kind kind;

	for (kind = 0; kind < MATCH_KINDS; kind++) {
		if (strcmp(kinds[kind].name, name) == 0)
			break;
	}
	return kind;
}

int
match_create(enum match_kind kind, const struct netfc_table *table, int socket_id,
	struct match_stage **stage)
{
	if ((unsigned int)kind >= MATCH_KINDS)
		return -EINVAL;
	if (kinds[kind].create == NULL)
		return -ENOTSUP;
	return kinds[kind].create(table, socket_id, stage);
}

void
match_free(struct match_stage *stage)
{
	if (stage != NULL)
		stage->free(stage);
}

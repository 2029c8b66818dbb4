/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENGINES_H
#define ENGINES_H

/** @file The match engines of a table set, with every instruction set. */

#include "vector.h"

struct engine {
	enum match_kind match;
	enum vector_isa isa;
	struct match_stage *stages[NETFC_MAX_TABLES];
	struct vector_kernel *kernel;
	char name[64];
};

struct engines {
	struct engine engine[MATCH_KINDS * VECTOR_ISAS];
	unsigned int count;
};

/** Make an engine. Returns 0 or the error of vector_create_engine(). */
int engine_create(struct engine *engine, const struct netfc_set *set, enum match_kind match,
	enum vector_isa isa);

void engine_free(struct engine *engine);

/** Make all engines of a set; of lpm, which takes 64 MB a table, only the plain one. 0 or an error.
 */
int engines_create(struct engines *engines, const struct netfc_set *set);

void engines_free(struct engines *engines);

#endif /* ENGINES_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <rte_memory.h>

#include "engines.h"

int
engine_create(struct engine *engine, const struct netfc_set *set, enum match_kind match,
	enum vector_isa isa)
{
	*engine = (struct engine){.match = match, .isa = isa};
	snprintf(engine->name, sizeof(engine->name), "%s: %s", vector_isa_name(isa),
		match_kind_name(match));
	return vector_create_engine(
		set, match, isa, SOCKET_ID_ANY, engine->stages, &engine->kernel);
}

void
engine_free(struct engine *engine)
{
	vector_free(engine->kernel);
	for (unsigned int t = 0; t < NETFC_MAX_TABLES; t++)
		match_free(engine->stages[t]);
	*engine = (struct engine){.kernel = NULL};
}

int
engines_create(struct engines *engines, const struct netfc_set *set)
{
	int error = 0;

	for (enum match_kind match = 0; match < MATCH_KINDS; match++) {
		const enum vector_isa best = match == MATCH_LPM ? VECTOR_PLAIN : vector_isa_best();

		for (enum vector_isa isa = VECTOR_PLAIN; isa <= best && error == 0; isa++) {
			error = engine_create(&engines->engine[engines->count], set, match, isa);
			engines->count += error == 0;
		}
	}
	return error;
}

void
engines_free(struct engines *engines)
{
	while (engines->count > 0)
		engine_free(&engines->engine[--engines->count]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bulk look-ups of rte_lpm and rte_hash without a match engine around them: the limit of what
 * the engines on top of them can reach. The tables are the engines' own.
 */
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_hash.h>
#include <rte_lpm.h>

#include "measure.h"
#include "engines.h"

/* The keys of one batch, as the library wants them: made before the clock starts. */
union prepared {
	uint32_t address[NETFC_BATCH];
	const void *pointer[NETFC_BATCH];
};

static void
prepare(const struct microbench *bench, const uint32_t *keys, union prepared *prepared,
	unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (bench->kind == MATCH_LPM)
			prepared->address[i] = match_lpm_address(keys[i]);
		else
			prepared->pointer[i] = &keys[i];
	}
}

static void
look_up_lpm(const struct match_stage *stage, const union prepared *prepared, unsigned int count)
{
	uint32_t values[NETFC_BATCH];

	rte_lpm_lookup_bulk(match_lpm_object(stage), prepared->address, values, count);
	/* Inlined, a look-up whose values nobody reads would not take place. */
	__asm__ volatile("" : : "r"(values) : "memory");
}

static void
look_up_hash(const struct match_stage *stage, const union prepared *prepared, unsigned int count)
{
	void *data[RTE_HASH_LOOKUP_BULK_MAX];
	uint64_t hits;

	for (unsigned int done = 0; done < count; done += RTE_HASH_LOOKUP_BULK_MAX)
		rte_hash_lookup_bulk_data(match_hash_object(stage),
			(const void **)(uintptr_t)&prepared->pointer[done],
			RTE_MIN(count - done, (unsigned int)RTE_HASH_LOOKUP_BULK_MAX), &hits, data);
}

bool
can_measure_bare(const struct microbench *bench)
{
	return bench->kind == MATCH_LPM || bench->kind == MATCH_HASH;
}

uint64_t
measure_bare(const struct microbench *bench)
{
	static union prepared prepared[NETFC_MAX_STEPS];
	uint64_t cycles = 0;

	for (uint32_t first = 0; first < bench->lanes; first += NETFC_BATCH) {
		unsigned int count = RTE_MIN(bench->lanes - first, (uint32_t)NETFC_BATCH);
		uint64_t start;

		for (unsigned int l = 0; l < bench->look_up_count; l++)
			prepare(bench, bench->look_up[l].keys + first, &prepared[l], count);
		start = rte_rdtsc_precise();
		for (unsigned int l = 0; l < bench->look_up_count; l++) {
			const struct look_up *look_up = &bench->look_up[l];

			if (!look_up->is_match)
				continue;
			if (bench->kind == MATCH_LPM)
				look_up_lpm(look_up->stage, &prepared[l], count);
			else
				look_up_hash(look_up->stage, &prepared[l], count);
		}
		cycles += rte_rdtsc_precise() - start;
	}
	return cycles;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random pairs of binary32 operands (pairs.h) by fp32_exact's program and by integers, each result
 * and each flag against the processor.
 * Usage: test_fp32_pairs add|sub|mul|div [PAIRS [SEED]]; default 10^10 pairs, seed 1. Other seeds
 * are other pairs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pairs.h"

struct results {
	uint32_t z[PAIRS_CHUNK];
	uint8_t flags[PAIRS_CHUNK];
};

static uint64_t
count_wrong(const char *how, enum netfc_op op, const struct pairs_chunk *chunk,
	const struct results *got)
{
	uint64_t wrong = 0;

	if (memcmp(chunk->z, got->z, sizeof(got->z)) == 0 &&
		memcmp(chunk->flags, got->flags, sizeof(got->flags)) == 0)
		return 0;
	for (unsigned n = 0; n < PAIRS_CHUNK; n++) {
		if (got->z[n] == chunk->z[n] && got->flags[n] == chunk->flags[n])
			continue;
		wrong++;
		pairs_show(how, op, chunk, n, got->z[n], got->flags[n]);
	}
	return wrong;
}

static uint64_t
check_chunk(void *arg, enum netfc_op op, const struct pairs_chunk *chunk)
{
	const struct netfc_set *set = arg;
	struct results got;
	uint64_t wrong;

	netfc_compute(set, op, chunk->x, chunk->y, got.z, got.flags, PAIRS_CHUNK);
	wrong = count_wrong("by tables", op, chunk, &got);
	netfc_exact_lanes(
		netfc_fp32_format(), op, chunk->x, chunk->y, got.z, got.flags, PAIRS_CHUNK);
	return wrong + count_wrong("by integers", op, chunk, &got);
}

int
main(int argc, char **argv)
{
	struct pairs pairs = {.check = check_chunk};
	struct netfc_set *set;
	double seconds;
	uint64_t wrong;

	if (!pairs_read(&pairs, argc, argv) || netfc_set_build("fp32_exact", &set) != NETFC_OK)
		return 1;
	pairs.arg = set;
	wrong = pairs_check(&pairs, &seconds);
	printf("%s: %" PRIu64 " pairs, %" PRIu64 " wrong, %.0f s of processor time, %.1f million "
	       "pairs a second\n",
		netfc_op_name(pairs.op), pairs.count, wrong, seconds,
		(double)pairs.count / seconds / 1e6);
	netfc_set_free(set);
	return wrong != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random lanes of every kind, 1 to 64 workers, each operation, each instruction set, against the
 * oracle.
 * Usage: aggregate_sweep FORMAT LANES [SEED]: so many lanes of each kind
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "block.h"
#include "exact.h"

/* Mostly few, so that there are many lanes. */
static unsigned int
some_workers(uint64_t *seed)
{
	uint64_t random = next_random(seed);

	return random % 16 == 0 ? 1 + (unsigned int)(random / 16 % AGGREGATE_MAX_WORKERS)
				: 1 + (unsigned int)(random / 16 % 8);
}

static uint64_t
check_block(struct block *block, enum data_kind kind, uint64_t *seed)
{
	/* Twice as many sums as anything else; of pairs, there are only sums and means. */
	unsigned int ops = aggregate_is_format(block->format) ? 4 : 2;
	unsigned int op = AGGREGATE_SUM + (unsigned int)(next_random(seed) % 5) % ops;
	uint64_t wrong = 0;

	block->workers = some_workers(seed);
	block->count = block_most(block->format) - (uint32_t)(next_random(seed) % 16);
	for (uint32_t i = 0; i < block->count; i++)
		data_fill(kind, block->format, block->values[i], block->workers, seed);
	block_pack(block);
	block_expect(block, op);
	for (enum aggregate_isa isa = 0; isa <= aggregate_isa_best(); isa++)
		wrong += block_check(block, isa, op);
	return wrong;
}

static uint64_t
sweep(struct block *block, enum data_kind kind, uint64_t lanes, uint64_t *seed)
{
	uint64_t done = 0, wrong = 0;

	while (done < lanes) {
		wrong += check_block(block, kind, seed);
		done += block->count;
	}
	printf("%s, %s: %" PRIu64 " lanes in %d instruction sets, %" PRIu64 " wrong\n",
		aggregate_format_name(block->format), data_kind_words[kind], done,
		aggregate_isa_best() + 1, wrong);
	fflush(stdout);
	return wrong;
}

int
main(int argc, char **argv)
{
	struct block *block;
	uint64_t lanes, seed, wrong = 0;

	if (argc < 3 || aggregate_format_by_name(argv[1]) == 0) {
		fprintf(stderr, "usage: %s FORMAT LANES [SEED]\n", argv[0]);
		return 1;
	}
	lanes = strtoull(argv[2], NULL, 10);
	seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	block = block_new();
	block->format = aggregate_format_by_name(argv[1]);
	for (enum data_kind kind = 0; kind < DATA_KINDS; kind++)
		wrong += sweep(block, kind, lanes, &seed);
	block_free(block);
	return wrong == 0 ? 0 : 1;
}

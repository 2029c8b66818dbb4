/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "rows.h"

#define MAX_SHOWN 10
#define DEFAULT_COUNT UINT64_C(10000000000)
#define DEFAULT_SEED 1

/* Pairs are taken in as many rows as there are encodings of 16 bits. */
struct job {
	const struct pairs *pairs;
	uint64_t chunks; /* of a row */
};

static void
fill(struct pairs_chunk *chunk, enum netfc_op op, uint64_t *seed)
{
	for (unsigned kind = 0; kind < FP32_KINDS; kind++) {
		const unsigned first = kind * PAIRS_OF_KIND;

		fp32_pairs_of_kind(kind, seed, chunk->x + first, chunk->y + first, PAIRS_OF_KIND);
	}
	fp32_processor(op, chunk->x, chunk->y, chunk->z, chunk->flags, PAIRS_CHUNK);
}

/* A row's pairs are its own: a seed counts up by the same odd number for each pair. */
static uint64_t
check_row(const void *arg, uint16_t row)
{
	const struct job *job = arg;
	const struct pairs *pairs = job->pairs;
	uint64_t seed = (pairs->seed << 16 | row) * UINT64_C(0xd1342543de82ef95), wrong = 0;
	struct pairs_chunk chunk = {.number = row * job->chunks};

	for (uint64_t n = 0; n < job->chunks; n++, chunk.number++) {
		fill(&chunk, pairs->op, &seed);
		wrong += pairs->check(pairs->arg, pairs->op, &chunk);
	}
	return wrong;
}

uint64_t
pairs_check(struct pairs *pairs, double *seconds)
{
	const struct job job = {pairs, (pairs->count - 1) / ((uint64_t)ROW * PAIRS_CHUNK) + 1};
	const struct rows rows = {
		.title = netfc_op_name(pairs->op), .check = check_row, .arg = &job};

	pairs->count = job.chunks * PAIRS_CHUNK * rows_count();
	return rows_check(&rows, seconds);
}

void
pairs_show(const char *how, enum netfc_op op, const struct pairs_chunk *chunk, unsigned n,
	uint32_t z, uint8_t flags)
{
	static unsigned int shown;

	if (__atomic_fetch_add(&shown, 1, __ATOMIC_RELAXED) < MAX_SHOWN)
		printf("%s: 0x%08x %s 0x%08x is 0x%08x, flags %u, not 0x%08x, flags %u\n", how,
			chunk->x[n], netfc_op_symbol(op), chunk->y[n], chunk->z[n], chunk->flags[n],
			z, flags);
}

static bool
read_op(const char *name, enum netfc_op *op)
{
	*op = NETFC_ADD;
	while (*op <= NETFC_DIV && strcmp(name, netfc_op_name(*op)) != 0)
		++*op;
	return *op <= NETFC_DIV;
}

static bool
read_number(const char *text, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0';
}

bool
pairs_read(struct pairs *pairs, int argc, char **argv)
{
	pairs->count = DEFAULT_COUNT;
	pairs->seed = DEFAULT_SEED;
	if (argc >= 2 && argc <= 4 && read_op(argv[1], &pairs->op) &&
		(argc < 3 || (read_number(argv[2], &pairs->count) && pairs->count > 0)) &&
		(argc < 4 || read_number(argv[3], &pairs->seed)))
		return true;
	fprintf(stderr, "usage: %s add|sub|mul|div [PAIRS [SEED]]\n", argv[0]);
	return false;
}

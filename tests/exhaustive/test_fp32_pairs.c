/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random pairs of binary32 operands of all structures (fp32_pairs.c) by fp32_exact's program and by
 * integers, each result and each flag against the processor.
 * Usage: test_fp32_pairs add|sub|mul|div [PAIRS [SEED]]; default 10^10 pairs, seed 1. Other seeds
 * are other pairs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fp32_pairs.h"
#include "rows.h"

#define MOST_SHOWN 10
#define CHUNK 4096u
#define DEFAULT_PAIRS UINT64_C(10000000000)

/* Pairs are taken in as many rows as there are encodings of 16 bits. */
struct job {
	const struct netfc_set *set;
	enum netfc_op op;
	uint64_t seed;
	uint64_t chunks; /* of a row */
};

struct results {
	uint32_t z[CHUNK];
	uint8_t flags[CHUNK];
};

static uint64_t
count_wrong(const struct job *job, const char *how, const uint32_t *x, const uint32_t *y,
	const struct results *expected, const struct results *got)
{
	static unsigned int shown;
	uint64_t wrong = 0;

	if (memcmp(expected, got, sizeof(*got)) == 0)
		return 0;
	for (unsigned n = 0; n < CHUNK; n++) {
		if (got->z[n] == expected->z[n] && got->flags[n] == expected->flags[n])
			continue;
		wrong++;
		if (__atomic_fetch_add(&shown, 1, __ATOMIC_RELAXED) < MOST_SHOWN)
			printf("%s: 0x%08x %s 0x%08x is 0x%08x, flags %u, not 0x%08x, flags %u\n",
				how, x[n], netfc_op_symbol(job->op), y[n], expected->z[n],
				expected->flags[n], got->z[n], got->flags[n]);
	}
	return wrong;
}

static uint64_t
check_chunk(const struct job *job, uint64_t *seed)
{
	uint32_t x[CHUNK], y[CHUNK];
	struct results expected, got;
	uint64_t wrong;

	fp32_random_pairs(seed, x, y, CHUNK);
	fp32_processor(job->op, x, y, expected.z, expected.flags, CHUNK);
	netfc_fp32_compute(job->set, job->op, x, y, got.z, got.flags, CHUNK);
	wrong = count_wrong(job, "by tables", x, y, &expected, &got);
	netfc_fp32_exact_lanes(job->op, x, y, got.z, got.flags, CHUNK);
	return wrong + count_wrong(job, "by integers", x, y, &expected, &got);
}

/* A row's pairs are its own: a seed counts up by the same odd number for each pair. */
static uint64_t
check_row(const void *arg, uint16_t row)
{
	const struct job *job = arg;
	uint64_t seed = (job->seed << 16 | row) * UINT64_C(0xd1342543de82ef95), wrong = 0;

	for (uint64_t chunk = 0; chunk < job->chunks; chunk++)
		wrong += check_chunk(job, &seed);
	return wrong;
}

static enum netfc_op
op_by_name(const char *name)
{
	enum netfc_op op = NETFC_ADD;

	while (op <= NETFC_DIV && strcmp(name, netfc_op_name(op)) != 0)
		op++;
	return op;
}

static bool
read_number(const char *text, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0';
}

int
main(int argc, char **argv)
{
	struct job job = {.seed = 1};
	struct rows rows = {.check = check_row, .arg = &job};
	uint64_t pairs = DEFAULT_PAIRS, wrong;
	struct netfc_set *set;
	double seconds;

	if (argc < 2 || argc > 4 || (job.op = op_by_name(argv[1])) > NETFC_DIV ||
		(argc > 2 && !read_number(argv[2], &pairs)) ||
		(argc > 3 && !read_number(argv[3], &job.seed)) || pairs == 0 ||
		netfc_set_build("fp32_exact", &set) != NETFC_OK) {
		fprintf(stderr, "usage: %s add|sub|mul|div [PAIRS [SEED]]\n", argv[0]);
		return 1;
	}
	job.set = set;
	job.chunks = (pairs - 1) / ((uint64_t)ROW * CHUNK) + 1;
	rows.title = argv[1];
	wrong = rows_check(&rows, &seconds);
	pairs = job.chunks * CHUNK * rows_count();
	printf("%s: %" PRIu64 " pairs, %" PRIu64 " wrong, %.0f s of processor time, %.1f million "
	       "pairs a second\n",
		argv[1], pairs, wrong, seconds, (double)pairs / seconds / 1e6);
	netfc_set_free(set);
	return wrong != 0;
}

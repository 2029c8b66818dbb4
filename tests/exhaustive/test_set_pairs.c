/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All 2^32 pairs of operands through the programs of a correctly rounded set: every result and
 * every flag is that of netfc_exact(), which test_exact_pairs holds against the CPU.
 * Usage: test_set_pairs SET [OP...]; all operations unless some are named.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "netfc.h"

#define THREADS 2
#define ALL 0x10000u

/* Every THREADS-th x with all y. */
struct share {
	pthread_t thread;
	const struct netfc_set *set;
	enum netfc_op op;
	uint32_t first;
	uint64_t lanes, wrong;
};

static void
check_x(struct share *share, uint16_t operand)
{
	const struct netfc_format *format = netfc_set_format(share->set);
	uint16_t x[ALL], y[ALL], z[ALL];
	uint8_t flags[ALL];

	for (uint32_t lane = 0; lane < ALL; lane++) {
		x[lane] = operand;
		y[lane] = (uint16_t)lane;
	}
	netfc_compute(share->set, share->op, x, y, z, flags, ALL);
	for (uint32_t lane = 0; lane < ALL; lane++) {
		struct netfc_result exact = netfc_exact(format, share->op, operand, y[lane]);

		share->wrong += exact.z != z[lane] || exact.flags != flags[lane];
	}
	share->lanes += ALL;
}

static void *
run_share(void *arg)
{
	struct share *share = arg;

	for (uint32_t x = share->first; x < ALL; x += THREADS)
		check_x(share, (uint16_t)x);
	return NULL;
}

static bool
all_pairs_are_right(const struct netfc_set *set, enum netfc_op op)
{
	struct share share[THREADS];
	uint64_t lanes = 0, wrong = 0;
	time_t started = time(NULL);

	for (uint32_t t = 0; t < THREADS; t++) {
		share[t] = (struct share){.set = set, .op = op, .first = t};
		if (pthread_create(&share[t].thread, NULL, run_share, &share[t]) != 0) {
			fprintf(stderr, "no thread\n");
			exit(1);
		}
	}
	for (uint32_t t = 0; t < THREADS; t++) {
		pthread_join(share[t].thread, NULL);
		lanes += share[t].lanes;
		wrong += share[t].wrong;
	}
	printf("%s %s: %llu pairs, %llu wrong, %ld s\n", netfc_set_name(set), netfc_op_name(op),
		(unsigned long long)lanes, (unsigned long long)wrong, (long)(time(NULL) - started));
	fflush(stdout);
	return wrong == 0;
}

static bool
is_chosen(int argc, char **argv, enum netfc_op op)
{
	bool chosen = argc == 2;

	for (int a = 2; a < argc; a++)
		chosen = chosen || strcmp(argv[a], netfc_op_name(op)) == 0;
	return chosen;
}

int
main(int argc, char **argv)
{
	struct netfc_set *set;
	bool right = true;

	if (argc < 2 || netfc_set_build(argv[1], &set) != NETFC_OK) {
		fprintf(stderr, "usage: %s SET [add|sub|mul|div...]\n", argv[0]);
		return 1;
	}
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		if (is_chosen(argc, argv, op))
			right = all_pairs_are_right(set, op) && right;
	}
	netfc_set_free(set);
	return right ? 0 : 1;
}

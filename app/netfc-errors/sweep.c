/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sweep.h"

/* A thread's share: every `threads`-th row, and what it counts. */
struct share {
	pthread_t thread;
	struct sweep *sweep;
	uint32_t first;
	struct tally tally[MAX_SETS][POPULATIONS];
	uint64_t asymmetric;
	uint16_t x[ENCODINGS], y[ENCODINGS];
	uint16_t expected[ENCODINGS], z[ENCODINGS], mirrored[ENCODINGS];
};

static bool
is_sum(enum netfc_op op)
{
	return op == NETFC_ADD || op == NETFC_SUB;
}

/* The correctly rounded results of a row; products and quotients by symmetry in y, too. */
static void
fill_expected(struct share *share, uint16_t x)
{
	const struct number_table *numbers = share->sweep->numbers;
	enum netfc_op op = share->sweep->op;

	for (uint32_t y = 0; y < ENCODINGS; y++) {
		uint16_t mirror = numbers->negated[y];

		if (mirror < y && !is_sum(op))
			share->expected[y] = numbers->negated[share->expected[mirror]];
		else
			share->expected[y] = netfc_exact(numbers->format, op, x, (uint16_t)y).z;
	}
}

static void
compute(struct share *share, const struct netfc_set *set, uint16_t x, uint16_t *z)
{
	for (uint32_t y = 0; y < ENCODINGS; y++)
		share->x[y] = x;
	netfc_compute(set, share->sweep->op, share->x, share->y, z, NULL, ENCODINGS);
}

/* How many results in the row of -x are not those of x, negated. Zeros of either sign do. */
static uint64_t
count_asymmetric(const struct share *share)
{
	const struct number_table *numbers = share->sweep->numbers;
	const uint16_t *same = numbers->unsigned_zero;
	bool sum = is_sum(share->sweep->op);
	uint64_t count = 0;

	for (uint32_t y = 0; y < ENCODINGS; y++) {
		uint32_t of = sum ? numbers->negated[y] : y;

		count += same[share->mirrored[of]] != same[numbers->negated[share->z[y]]];
	}
	return count;
}

static void
count_row(struct share *share, unsigned set, uint16_t x, unsigned weight)
{
	const struct number_table *numbers = share->sweep->numbers;
	bool sum = is_sum(share->sweep->op);

	for (uint32_t y = 0; y < ENCODINGS; y++) {
		struct lane lane = {x, (uint16_t)y, share->z[y], share->expected[y]};
		enum population population =
			numbers->decimal[x] && numbers->decimal[y] ? DECIMALS : OTHERS;

		tally_lane(&share->tally[set][population], numbers, &lane, weight, sum);
	}
}

static void
run_row(struct share *share, uint16_t x)
{
	const struct sweep *sweep = share->sweep;
	uint16_t negated = sweep->numbers->negated[x];

	fill_expected(share, x);
	for (unsigned s = 0; s < sweep->set_count; s++) {
		compute(share, sweep->set[s], x, share->z);
		if (negated != x) {
			compute(share, sweep->set[s], negated, share->mirrored);
			share->asymmetric += count_asymmetric(share);
		}
		count_row(share, s, x, negated != x ? 2 : 1);
	}
}

/* Whether the row of -x stands for this one. (A NaN is its own negative.) */
static bool
is_mirrored(const struct number_table *numbers, uint16_t x)
{
	return netfc_is_negative(x) && numbers->negated[x] != x;
}

static void
show_progress(const struct share *share, uint32_t x)
{
	if (share->sweep->progress && share->first == 0)
		fprintf(stderr, "%u %%\n", x < ENCODINGS ? 100 * x / ENCODINGS : 100);
}

static void *
run_share(void *arg)
{
	struct share *share = arg;
	const struct sweep *sweep = share->sweep;
	uint32_t row = 0;

	for (uint32_t y = 0; y < ENCODINGS; y++)
		share->y[y] = (uint16_t)y;
	for (uint32_t x = 0; x < ENCODINGS; x += sweep->step) {
		if (is_mirrored(sweep->numbers, (uint16_t)x))
			continue;
		if (row++ % sweep->threads != share->first)
			continue;
		run_row(share, (uint16_t)x);
		if (row % 128 == 1)
			show_progress(share, 2 * x);
	}
	return NULL;
}

static void
merge(struct sweep *sweep, const struct share *share)
{
	for (unsigned s = 0; s < sweep->set_count; s++) {
		for (unsigned p = 0; p < POPULATIONS; p++)
			tally_merge(&sweep->tally[s][p], &share->tally[s][p]);
	}
	sweep->asymmetric += share->asymmetric;
}

int
sweep_run(struct sweep *sweep)
{
	struct share *share = calloc(sweep->threads, sizeof(*share));
	unsigned started = 0;

	if (share == NULL)
		return -1;
	for (; started < sweep->threads; started++) {
		share[started].sweep = sweep;
		share[started].first = started;
		if (pthread_create(&share[started].thread, NULL, run_share, &share[started]) != 0)
			break;
	}
	for (unsigned t = 0; t < started; t++) {
		pthread_join(share[t].thread, NULL);
		merge(sweep, &share[t]);
	}
	free(share);
	return started == sweep->threads ? 0 : -1;
}

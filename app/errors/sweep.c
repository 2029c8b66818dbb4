/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tally.h"

/* A thread's share: every `threads`-th row, and what it counts. */
struct share {
	pthread_t thread;
	struct sweep *sweep;
	uint32_t first;
	struct reference reference;
	struct row row;
	uint16_t z[ENCODINGS], difference[ENCODINGS];
	struct kind_count kinds;
	uint64_t unexpected, unlike;
	struct misses misses[MAX_SETS];
};

static void
check_expected(struct share *share, uint32_t number)
{
	const struct sweep *sweep = share->sweep;
	const struct row *row = &share->row;

	for (uint32_t y = number % sweep->check; y < ENCODINGS; y += sweep->check)
		share->unexpected += row->expected[y] !=
			netfc_exact(sweep->numbers->format, sweep->op, row->x[y], (uint16_t)y).z;
}

/* Over all pairs, differences are the same as sums if x - y equals x + -y. */
static void
check_differences(struct share *share, const struct netfc_set *set)
{
	const struct row *row = &share->row;

	netfc_compute(set, NETFC_SUB, row->x, row->y, share->difference, NULL, ENCODINGS);
	for (uint32_t y = 0; y < ENCODINGS; y++) {
		uint16_t negated = netfc_negate(share->sweep->numbers->format, (uint16_t)y);

		share->unlike += share->difference[y] != share->z[negated];
	}
}

static void
run_row(struct share *share, uint16_t x, uint32_t number)
{
	const struct sweep *sweep = share->sweep;
	struct row *row = &share->row;

	row_fill(row, &share->reference, x, &share->kinds);
	check_expected(share, number);
	for (unsigned s = 0; s < sweep->set_count; s++) {
		netfc_compute(sweep->set[s], sweep->op, row->x, row->y, share->z, NULL, ENCODINGS);
		misses_count(&share->misses[s], row, share->z);
		if (sweep->op == NETFC_ADD && number % sweep->check == 0)
			check_differences(share, sweep->set[s]);
	}
}

static void
show_progress(const struct share *share, uint32_t x)
{
	if (share->sweep->progress && share->first == 0)
		fprintf(stderr, "%u %%\n", 100 * x / ENCODINGS);
}

static void *
run_share(void *arg)
{
	struct share *share = arg;
	const struct sweep *sweep = share->sweep;
	uint32_t number = 0;

	for (uint32_t x = 0; x < ENCODINGS; x += sweep->step, number++) {
		if (number % sweep->threads != share->first)
			continue;
		run_row(share, (uint16_t)x, number);
		if (number % 128 == 0)
			show_progress(share, x);
	}
	for (unsigned s = 0; s < sweep->set_count; s++)
		misses_finish(&share->misses[s]);
	return NULL;
}

static void
merge(struct sweep *sweep, const struct share *share)
{
	for (unsigned s = 0; s < sweep->set_count; s++) {
		for (unsigned p = 0; p < POPULATIONS; p++)
			tally_merge(&sweep->tally[s][p], &share->misses[s].tally[p]);
	}
	kind_count_merge(&sweep->kinds, &share->kinds);
	sweep->unexpected += share->unexpected;
	sweep->unlike += share->unlike;
}

static void
start_share(struct share *share, struct sweep *sweep, const struct miss_losses *losses)
{
	share->sweep = sweep;
	reference_init(&share->reference, sweep->numbers, sweep->op);
	for (unsigned s = 0; s < sweep->set_count; s++) {
		share->misses[s].numbers = sweep->numbers;
		share->misses[s].losses = losses;
	}
}

static int
run_shares(struct sweep *sweep, struct share *share, const struct miss_losses *losses)
{
	unsigned started = 0;

	for (; started < sweep->threads; started++) {
		start_share(&share[started], sweep, losses);
		share[started].first = started;
		if (pthread_create(&share[started].thread, NULL, run_share, &share[started]) != 0)
			break;
	}
	for (unsigned t = 0; t < started; t++) {
		pthread_join(share[t].thread, NULL);
		merge(sweep, &share[t]);
	}
	return started == sweep->threads ? 0 : -1;
}

int
sweep_run(struct sweep *sweep)
{
	struct share *share = calloc(sweep->threads, sizeof(*share));
	struct miss_losses *losses = calloc(1, sizeof(*losses));
	int error = -1;

	if (share != NULL && losses != NULL) {
		miss_losses_fill(losses, sweep->numbers);
		error = run_shares(sweep, share, losses);
	}
	free(losses);
	free(share);
	return error;
}

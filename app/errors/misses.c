/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "misses.h"

/* The greatest magnitude that is a number or an infinity. */
static int32_t
greatest_magnitude(const struct number_table *numbers)
{
	int32_t inf = netfc_inf_magnitude(numbers->format);

	return inf < (int32_t)MAGNITUDES ? inf : (int32_t)MAGNITUDES - 1;
}

void
miss_losses_fill(struct miss_losses *losses, const struct number_table *numbers)
{
	const int32_t greatest = greatest_magnitude(numbers);

	for (int32_t off = -NEAR; off <= NEAR; off++) {
		for (int32_t expected = 1; expected <= greatest; expected++) {
			int32_t z = expected + off;

			if (z >= 0 && z <= greatest)
				losses->loss[off + NEAR][expected] = (uint32_t)tally_loss(
					numbers, (uint16_t)z, (uint16_t)expected);
		}
	}
}

/* Without a branch on data. */
static uint32_t
find_differing(const uint16_t *a, const uint16_t *b, uint16_t *differing)
{
	uint32_t count = 0;

	for (uint32_t y = 0; y < ENCODINGS; y++) {
		differing[count] = (uint16_t)y;
		count += a[y] != b[y];
	}
	return count;
}

static uint64_t
count_miss(struct misses *misses, struct tally *tally, enum population population,
	const struct miss *miss)
{
	const struct number_table *numbers = misses->numbers;
	int32_t from = numbers->ordinal[miss->expected], off = numbers->ordinal[miss->z] - from;
	struct miss_cell *cell;

	if (from < 0) {
		from = -from;
		off = -off;
	}
	if (off < -NEAR || off > NEAR || from + off < 0) {
		tally_add(tally, numbers, miss, 1);
		return tally_loss(numbers, miss->z, miss->expected);
	}
	cell = &misses->cell[population][off + NEAR][from];
	if (cell->pairs++ == 0)
		cell->first = (uint32_t)miss->x << 16 | miss->y;
	return misses->losses->loss[off + NEAR][from];
}

void
misses_count(struct misses *misses, const struct row *row, const uint16_t *z)
{
	uint32_t count;

	/* For a correctly rounded set this is all. */
	if (memcmp(z, row->expected, sizeof(row->expected)) == 0)
		return;
	count = find_differing(z, row->expected, misses->differing);
	for (uint32_t i = 0; i < count; i++) {
		uint16_t y = misses->differing[i];
		enum population population = row->kind[y] >> POPULATION_AT;
		unsigned kind = row->kind[y] & ((1u << POPULATION_AT) - 1);
		struct miss miss = {row->x[y], y, z[y], row->expected[y]};
		struct tally *tally = &misses->tally[population];
		uint64_t loss;

		if (kind > UNCANCELLED) {
			tally->left_out_wrong++;
			continue;
		}
		loss = count_miss(misses, tally, population, &miss);
		if (kind < CANCEL_BINS) {
			tally->cancel[kind].inexact++;
			tally->cancel[kind].loss += loss;
		}
	}
}

static void
finish_population(struct misses *misses, enum population population)
{
	for (int32_t off = -NEAR; off <= NEAR; off++) {
		for (uint32_t from = 1; from < MAGNITUDES; from++) {
			struct miss_cell cell = misses->cell[population][off + NEAR][from];
			/* Signs do not change a relative error. */
			struct miss miss = {(uint16_t)(cell.first >> 16), (uint16_t)cell.first,
				(uint16_t)((int32_t)from + off), (uint16_t)from};

			if (cell.pairs != 0)
				tally_add(&misses->tally[population], misses->numbers, &miss,
					cell.pairs);
		}
	}
}

void
misses_finish(struct misses *misses)
{
	for (unsigned p = 0; p < POPULATIONS; p++)
		finish_population(misses, p);
}

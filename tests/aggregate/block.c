/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "exact.h"

#define CANARY 0xa5

void *
allocate(size_t bytes)
{
	const size_t whole = (bytes + AGGREGATE_ALIGN - 1) / AGGREGATE_ALIGN * AGGREGATE_ALIGN;
	void *memory = aligned_alloc(AGGREGATE_ALIGN, whole);

	if (memory == NULL) {
		fprintf(stderr, "out of memory\n");
		abort();
	}
	return memset(memory, 0, whole);
}

struct block *
block_new(void)
{
	const size_t bytes = aggregate_lanes_bytes(AGGREGATE_ALL_FORMATS, BLOCK_BYTES);
	struct block *block = allocate(sizeof(*block));

	memset(block, CANARY, sizeof(*block));
	block->lanes = aggregate_lanes_init(memset(allocate(bytes), CANARY, bytes), BLOCK_BYTES);
	return block;
}

void
block_free(struct block *block)
{
	free(block->lanes);
	free(block);
}

uint32_t
block_most(unsigned int format)
{
	return BLOCK_BYTES / aggregate_lane_bytes(format);
}

/* Each packet at another offset to the cache line. */
static uint8_t *
packet_of(struct block *block, unsigned int worker)
{
	return block->packets[worker] + (worker * 7 + 1) % 64;
}

void
block_pack(struct block *block)
{
	for (uint32_t i = 0; i < block->count; i++)
		for (unsigned int w = 0; w < block->workers; w++)
			data_put(block->format, packet_of(block, w), i, block->values[i][w]);
}

static struct aggregate_totals
begin_totals(const struct block *block, struct block_sums *sums)
{
	if (aggregate_totals_bytes(block->format, block->count) > sizeof(sums->totals))
		abort();
	return aggregate_totals_init(block->format, block->count, sums->totals);
}

static void
write_totals(const struct aggregate_totals *totals, struct block_sums *sums)
{
	sums->bytes = aggregate_totals_write_part(
		totals, 0, (uint16_t)totals->count, 0, 1, sums->part, sizeof(sums->part));
	if (sums->bytes == 0)
		abort();
}

static void
expect_sums(struct block *block)
{
	struct aggregate_totals totals = begin_totals(block, &block->sums);

	block_pack(block);
	for (unsigned int w = 0; w < block->workers; w++)
		aggregate_totals_add_values(&totals, packet_of(block, w));
	write_totals(&totals, &block->sums);
}

/* Whether what a kernel has added up are these sums. */
static bool
reaches_totals(struct block *block, enum aggregate_isa isa, const struct aggregate_kernel *kernel)
{
	struct aggregate_totals totals = begin_totals(block, &block->from_lanes);

	aggregate_totals_choose(&totals, isa);
	kernel->begin(block->lanes, packet_of(block, 0), block->count);
	for (unsigned int w = 1; w < block->workers; w++)
		kernel->add(block->lanes, packet_of(block, w), block->count);
	kernel->lanes_to_totals(block->lanes, &totals);
	write_totals(&totals, &block->from_lanes);
	return block->from_lanes.bytes == block->sums.bytes &&
		memcmp(block->from_lanes.part, block->sums.part, block->sums.bytes) == 0;
}

void
block_expect(struct block *block, unsigned int op)
{
	if (op == AGGREGATE_SUM)
		expect_sums(block);
	for (uint32_t i = 0; i < block->count; i++)
		block->expected[i] =
			oracle_reduce(op, block->format, block->values[i], block->workers);
}

static void
print_lane(const struct block *block, enum aggregate_isa isa, unsigned int op, uint32_t lane,
	uint64_t bits)
{
	printf("# %s %s, %s, lane %u of %u, %u workers: 0x%" PRIx64 ", not 0x%" PRIx64 ":",
		aggregate_format_name(block->format), aggregate_op_name(op),
		aggregate_isa_name(isa), lane, block->count, block->workers, bits,
		block->expected[lane].bits);
	for (unsigned int w = 0; w < block->workers; w++)
		printf(" 0x%" PRIx64, block->values[lane][w]);
	printf("\n");
}

static uint32_t
compare(const struct block *block, enum aggregate_isa isa, unsigned int op, const uint8_t *result)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < block->count; i++) {
		uint64_t bits = data_get(aggregate_results_format(block->format), result, i);

		if (bits == block->expected[i].bits)
			continue;
		if (wrong++ == 0)
			print_lane(block, isa, op, i, bits);
	}
	return wrong;
}

static uint8_t
expected_flags(const struct block *block)
{
	uint8_t flags = 0;

	for (uint32_t i = 0; i < block->count; i++)
		flags |= block->expected[i].flags;
	return flags;
}

uint32_t
block_check(struct block *block, enum aggregate_isa isa, unsigned int op)
{
	const struct aggregate_kernel *kernel = aggregate_kernel(isa, op, block->format);
	const uint8_t *packets[AGGREGATE_MAX_WORKERS];
	uint32_t bytes = block->count * aggregate_result_value_bytes(block->format), wrong;
	uint8_t *result = block->result + 3, flags;

	for (unsigned int w = 0; w < block->workers; w++)
		packets[w] = packet_of(block, w);
	memset(block->result, CANARY, sizeof(block->result));
	flags = aggregate_reduce(
		kernel, block->lanes, packets, block->workers, block->count, result);
	wrong = compare(block, isa, op, result);
	if (flags != expected_flags(block)) {
		printf("# %s %s, %s, %u lanes, %u workers: flags %u, not %u\n",
			aggregate_format_name(block->format), aggregate_op_name(op),
			aggregate_isa_name(isa), block->count, block->workers, flags,
			expected_flags(block));
		wrong++;
	}
	if (op == AGGREGATE_SUM && !reaches_totals(block, isa, kernel)) {
		printf("# %s, %s, %u lanes, %u workers: other sums as digits\n",
			aggregate_format_name(block->format), aggregate_isa_name(isa), block->count,
			block->workers);
		wrong++;
	}
	if (result[-1] != CANARY || result[bytes] != CANARY) {
		printf("# bytes around the result have changed\n");
		wrong++;
	}
	return wrong;
}

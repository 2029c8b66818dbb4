/* SPDX-License-Identifier: BSD-3-Clause */
/* Each function of MPI once, in place and not: results are right to the bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define LARGEST 20011
#define BLOCK 100000

static const MPI_Op *
operations(size_t i)
{
	static MPI_Op ops[3];

	ops[0] = MPI_SUM;
	ops[1] = MPI_MIN;
	ops[2] = MPI_MAX;
	return i < 3 ? &ops[i] : NULL;
}

static void
allreduce_floats(size_t count, MPI_Op op)
{
	float *mine = malloc(count * sizeof(*mine)), *results = malloc(count * sizeof(*results));
	struct kept kept = {results, 0, count, mine, count, world};

	draw_floats(mine, count, (unsigned int)count);
	memcpy(results, mine, count * sizeof(*mine));
	MPI_Allreduce(MPI_IN_PLACE, results, (int)count, MPI_FLOAT, op, world);
	check_floats(&kept, MPI_FLOAT, op);
	memset(results, 0, count * sizeof(*results));
	MPI_Allreduce(mine, results, (int)count, MPI_FLOAT, op, world);
	check_floats(&kept, MPI_FLOAT, op);
	free(mine);
	free(results);
}

void
check_allreduce(void)
{
	static const size_t counts[] = {1, 7, 361, LARGEST};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		for (size_t o = 0; operations(o) != NULL; o++)
			allreduce_floats(counts[i], *operations(o));
	}
}

void
check_doubles(void)
{
	double mine[5003], results[5003];
	struct kept kept = {results, 0, 5003, mine, 5003, world};

	for (size_t o = 0; operations(o) != NULL; o++) {
		MPI_Op op = *operations(o);

		draw_doubles(mine, 5003, 3);
		memcpy(results, mine, sizeof(mine));
		MPI_Allreduce(MPI_IN_PLACE, results, 5003, MPI_DOUBLE, op, world);
		check_floats(&kept, MPI_DOUBLE, op);
		memset(results, 0, sizeof(results));
		MPI_Allreduce(mine, results, 5003, MPI_DOUBLE, op, world);
		check_floats(&kept, MPI_DOUBLE, op);
	}
}

/* Each rank checks a part of the lanes, and all have the same results. */
static void
check_part(const void *results, const void *mine, size_t count, MPI_Datatype type)
{
	const size_t first = count * (size_t)rank / (size_t)ranks;
	const size_t end = count * (size_t)(rank + 1) / (size_t)ranks;
	const size_t bytes = type == MPI_DOUBLE ? sizeof(double) : sizeof(float);
	struct kept kept = {
		(const char *)results + first * bytes, first, end - first, mine, count, world};
	char *others = malloc(count * bytes);

	CHECK(others != NULL);
	check_floats(&kept, type, MPI_SUM);
	memcpy(others, results, count * bytes);
	MPI_Bcast(others, (int)(count * bytes), MPI_BYTE, 0, world);
	CHECK(memcmp(others, results, count * bytes) == 0);
	free(others);
}

/* NETFC_TEST_VALUES of each type, a block at a time. */
void
check_many(void)
{
	static double mine[BLOCK], results[BLOCK];
	const char *wanted = getenv("NETFC_TEST_VALUES");
	const long blocks = wanted == NULL ? 1 : atol(wanted) / BLOCK;

	for (long block = 0; block < 2 * blocks; block++) {
		MPI_Datatype type = block % 2 == 0 ? MPI_DOUBLE : MPI_FLOAT;

		if (type == MPI_DOUBLE)
			draw_doubles(mine, BLOCK, (unsigned int)block);
		else
			draw_floats((float *)mine, BLOCK, (unsigned int)block);
		MPI_Allreduce(mine, results, BLOCK, type, MPI_SUM, world);
		check_part(results, mine, BLOCK, type);
	}
	if (rank == 0)
		printf("%ld doubles and as many floats: 0 differ\n", blocks * BLOCK);
}

static void
allreduce_integers(MPI_Datatype type, MPI_Op op, size_t count)
{
	const size_t bytes = count * sizeof(uint64_t); /* narrower types use some of them */
	uint64_t *mine = malloc(bytes), *results = malloc(bytes);
	struct kept kept = {results, 0, count, mine, count, world};

	for (size_t i = 0; i < count; i++)
		mine[i] =
			(uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(2 * rank + 1);
	MPI_Allreduce(mine, results, (int)count, type, op, world);
	check_integers(&kept, type, op);
	memcpy(results, mine, bytes);
	MPI_Allreduce(MPI_IN_PLACE, results, (int)count, type, op, world);
	check_integers(&kept, type, op);
	free(mine);
	free(results);
}

/* Complex numbers are pairs, with parts of different lengths of them. */
static void
complex_numbers(MPI_Datatype type, MPI_Datatype part)
{
	enum {
		PAIRS = 900
	};
	double mine[2 * PAIRS], results[2 * PAIRS];
	const size_t bytes = part == MPI_DOUBLE ? sizeof(double) : sizeof(float);
	struct kept kept = {results, 0, 2 * PAIRS, mine, 2 * PAIRS, world};
	int counts[64];

	if (part == MPI_DOUBLE)
		draw_doubles(mine, 2 * PAIRS, 21);
	else
		draw_floats((float *)mine, 2 * PAIRS, 21);
	MPI_Allreduce(mine, results, PAIRS, type, MPI_SUM, world);
	check_floats(&kept, part, MPI_SUM);
	memcpy(results, mine, 2 * PAIRS * bytes);
	MPI_Allreduce(MPI_IN_PLACE, results, PAIRS, type, MPI_SUM, world);
	check_floats(&kept, part, MPI_SUM);
	for (int r = 0; r < ranks; r++)
		counts[r] = r == 0 ? PAIRS - 10 * (ranks - 1) : 10;
	kept.first = rank == 0 ? 0 : 2 * (size_t)(counts[0] + 10 * (rank - 1));
	kept.count = 2 * (size_t)counts[rank];
	MPI_Reduce_scatter(mine, results, counts, type, MPI_SUM, world);
	check_floats(&kept, part, MPI_SUM);
}

void
check_all_types(void)
{
	MPI_Datatype types[] = {MPI_INT, MPI_UNSIGNED, MPI_INT32_T, MPI_UINT32_T, MPI_LONG,
		MPI_LONG_LONG, MPI_INT64_T, MPI_UNSIGNED_LONG, MPI_UINT64_T, MPI_SIGNED_CHAR,
		MPI_INT8_T, MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_SHORT, MPI_INT16_T,
		MPI_UNSIGNED_SHORT, MPI_UINT16_T, MPI_AINT, MPI_OFFSET, MPI_COUNT};

	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		allreduce_integers(types[t], MPI_SUM, 501);
		allreduce_integers(types[t], MPI_MIN, 501);
		allreduce_integers(types[t], MPI_MAX, 501);
		allreduce_integers(
			types[t], MPI_SUM, 20001); /* more than a node's ranks reduce at once */
		allreduce_integers(types[t], MPI_MAX, 20001);
	}
	complex_numbers(MPI_C_FLOAT_COMPLEX, MPI_FLOAT);
	complex_numbers(MPI_C_DOUBLE_COMPLEX, MPI_DOUBLE);
	complex_numbers(MPI_COMPLEX, MPI_FLOAT);
	complex_numbers(MPI_DOUBLE_COMPLEX, MPI_DOUBLE);
}

void
check_reduce(void)
{
	float mine[1000], results[1000];

	for (int root = 0; root < ranks; root++) {
		struct kept kept = {results, 0, rank == root ? 1000 : 0, mine, 1000, world};

		draw_floats(mine, 1000, (unsigned int)root);
		MPI_Reduce(mine, results, 1000, MPI_FLOAT, MPI_SUM, root, world);
		check_floats(&kept, MPI_FLOAT, MPI_SUM);
		memcpy(results, mine, sizeof(mine));
		MPI_Reduce(rank == root ? MPI_IN_PLACE : mine, rank == root ? results : NULL, 1000,
			MPI_FLOAT, MPI_MAX, root, world);
		check_floats(&kept, MPI_FLOAT, MPI_MAX);
	}
}

/* Parts of different lengths, one of them empty: that rank needs no memory. */
static void
scatter_parts(const float *mine, float *results)
{
	int *counts = calloc((size_t)ranks, sizeof(*counts));
	struct kept kept = {results, 0, 0, mine, 0, world};

	for (int r = 0; r < ranks; r++) {
		counts[r] = r == 1 ? 0 : 100 + 3 * r;
		kept.first += r < rank ? (size_t)counts[r] : 0;
		kept.total += (size_t)counts[r];
	}
	kept.count = (size_t)counts[rank];
	MPI_Reduce_scatter(
		mine, kept.count > 0 ? results : NULL, counts, MPI_FLOAT, MPI_SUM, world);
	check_floats(&kept, MPI_FLOAT, MPI_SUM);
	memcpy(results, mine, kept.total * sizeof(*mine));
	MPI_Reduce_scatter(MPI_IN_PLACE, results, counts, MPI_FLOAT, MPI_MIN, world);
	check_floats(&kept, MPI_FLOAT, MPI_MIN);
	free(counts);
}

static void
scatter_blocks(const float *mine, float *results)
{
	struct kept kept = {results, 111 * (size_t)rank, 111, mine, 111 * (size_t)ranks, world};

	MPI_Reduce_scatter_block(mine, results, 111, MPI_FLOAT, MPI_SUM, world);
	check_floats(&kept, MPI_FLOAT, MPI_SUM);
	memcpy(results, mine, kept.total * sizeof(*mine));
	MPI_Reduce_scatter_block(MPI_IN_PLACE, results, 111, MPI_FLOAT, MPI_SUM, world);
	check_floats(&kept, MPI_FLOAT, MPI_SUM);
}

void
check_scatter(void)
{
	size_t count = 200 * (size_t)ranks;
	float *mine = malloc(count * sizeof(*mine)), *results = malloc(count * sizeof(*results));

	draw_floats(mine, count, 5);
	scatter_parts(mine, results);
	scatter_blocks(mine, results);
	free(mine);
	free(results);
}

/* The first reduction of a communicator begins later. MPI forbids it, and programs do it
 * nonetheless. */
void
check_counts_reused(void)
{
	const size_t count = 100;
	const size_t total = count * (size_t)ranks;
	float *mine = malloc(total * sizeof(*mine)), *results = malloc(count * sizeof(*results));
	int *counts = malloc((size_t)ranks * sizeof(*counts));
	struct kept kept = {results, count * (size_t)rank, count, mine, total, world};
	MPI_Request request;
	MPI_Comm comm;

	draw_floats(mine, total, 5);
	for (int r = 0; r < ranks; r++)
		counts[r] = (int)count;
	MPI_Comm_dup(world, &comm);
	MPI_Ireduce_scatter(mine, results, counts, MPI_FLOAT, MPI_SUM, comm, &request);
	memset(counts, 0xff, (size_t)ranks * sizeof(*counts));
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	check_floats(&kept, MPI_FLOAT, MPI_SUM);
	MPI_Comm_free(&comm);
	free(counts);
	free(results);
	free(mine);
}

/* As in Fortran's common blocks: a REAL, then DOUBLE PRECISION. */
void
check_unaligned(void)
{
	enum {
		COUNT = 1000,
		BYTES = COUNT * sizeof(double)
	};
	char *given = malloc(4 + BYTES), *results = malloc(4 + BYTES);
	double *mine = malloc(BYTES), *sums = malloc(BYTES);
	struct kept kept = {sums, 0, COUNT, mine, COUNT, world};

	draw_doubles(mine, COUNT, 7);
	memcpy(given + 4, mine, BYTES);
	MPI_Allreduce(given + 4, results + 4, COUNT, MPI_DOUBLE, MPI_SUM, world);
	memcpy(sums, results + 4, BYTES);
	check_floats(&kept, MPI_DOUBLE, MPI_SUM);
	MPI_Allreduce(MPI_IN_PLACE, given + 4, COUNT, MPI_DOUBLE, MPI_MAX, world);
	memcpy(sums, given + 4, BYTES);
	check_floats(&kept, MPI_DOUBLE, MPI_MAX);
	free(given);
	free(results);
	free(mine);
	free(sums);
}

/* Of both signs: NaN with payloads, infinities, the greatest and the least, what halves round to.
 */
static const uint64_t edges[] = {0, 1, 2, 3, UINT64_C(0x7ff0000000000000),
	UINT64_C(0x7ff0000000000001), UINT64_C(0x7ff8000000001234), UINT64_C(0x7fefffffffffffff),
	UINT64_C(0x7fe0000000000000), UINT64_C(0x0010000000000000), UINT64_C(0x000fffffffffffff),
	UINT64_C(0x3ff0000000000000), UINT64_C(0x3ca0000000000000), UINT64_C(0x3c90000000000000),
	UINT64_C(0x7ca0000000000000), UINT64_C(0x7c90000000000000)};

static uint64_t
edge(size_t i, int giver, int bits)
{
	const uint64_t mixed =
		(uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(2 * giver + 3);
	const uint64_t chosen = edges[mixed >> 40 & 15];
	const uint64_t sign = mixed >> 50 << 63;

	if (bits == 64)
		return i % 3 == 0 ? mixed : chosen | sign;
	return i % 3 == 0 ? mixed >> 32
			  : (chosen >> 32 & 0x80000000) | (chosen >> 29 & 0x7fffffff) | sign >> 32;
}

/* Every rank has the same bits, whichever rank gives what: a checksum of all of them is printed. */
static uint64_t
add_bits(uint64_t sum, MPI_Datatype type, MPI_Op op, int shift)
{
	enum {
		COUNT = 3001
	};
	uint64_t mine[COUNT], results[COUNT];
	int bytes;

	MPI_Type_size(type, &bytes);
	for (size_t i = 0; i < COUNT; i++) {
		const uint64_t bits = edge(i, (rank + shift) % ranks, 8 * bytes);

		memcpy((char *)mine + i * (size_t)bytes, &bits, (size_t)bytes);
	}
	MPI_Allreduce(mine, results, COUNT, type, op, world);
	for (size_t i = 0; i < COUNT * (size_t)bytes; i++)
		sum = (sum ^ ((const unsigned char *)results)[i]) * UINT64_C(1099511628211);
	return sum;
}

void
check_bits(void)
{
	const MPI_Datatype types[] = {MPI_FLOAT, MPI_DOUBLE, MPI_INT, MPI_UNSIGNED, MPI_INT64_T,
		MPI_UINT64_T, MPI_INT8_T, MPI_UINT8_T, MPI_INT16_T, MPI_UINT16_T};

	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		for (size_t o = 0; operations(o) != NULL; o++) {
			const uint64_t sum = add_bits(0, types[t], *operations(o), 0);

			for (int shift = 1; shift < ranks; shift++)
				CHECK(add_bits(0, types[t], *operations(o), shift) == sum);
			printf("%zu %zu %d: %016llx\n", t, o, rank, (unsigned long long)sum);
		}
	}
}

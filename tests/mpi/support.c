/* SPDX-License-Identifier: BSD-3-Clause */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

int rank, ranks;
MPI_Comm world;

void
check_(bool condition, const char *text, const char *file, int line)
{
	if (condition)
		return;
	fprintf(stderr, "rank %d: %s:%d: not so: %s\n", rank, file, line, text);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static uint32_t
draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 32);
}

/* Of a dozen exponents, or any bits; some lanes cancel, some are zeros or special. */
void
draw_floats(float *values, size_t count, unsigned int seed)
{
	uint64_t state = seed * UINT64_C(1000003) + (uint64_t)rank;

	for (size_t i = 0; i < count; i++) {
		uint32_t bits = draw(&state);

		switch (i % 8) {
		case 0:
			memcpy(&values[i], &bits, sizeof(bits));
			break;
		case 1:
			values[i] = (rank & 1 ? -1.0F : 1.0F) * (float)(i + 1) * 1e20F;
			break;
		case 2:
			values[i] = rank == 0 ? 0.0F : -0.0F;
			break;
		case 3:
			values[i] = -0.0F;
			break;
		default:
			values[i] = ldexpf((float)(int32_t)bits, (int)(draw(&state) % 12) - 40);
		}
	}
}

void
draw_doubles(double *values, size_t count, unsigned int seed)
{
	float *narrow = malloc(count * sizeof(*narrow));
	uint64_t state = seed + UINT64_C(77) * (uint64_t)rank;

	CHECK(narrow != NULL);
	draw_floats(narrow, count, seed);
	for (size_t i = 0; i < count; i++) {
		uint64_t bits = (uint64_t)draw(&state) << 32 | draw(&state);

		if (i % 8 == 0)
			memcpy(&values[i], &bits, sizeof(bits));
		else /* with the digits that a float has not */
			values[i] = (double)narrow[i] * (1 + ldexp((double)(bits >> 40), -52));
	}
	free(narrow);
}

static bool
same(double a, double b)
{
	return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof(a)) == 0;
}

/* What all ranks gave, by means that no reduction is part of. */
static void *
gather(const void *mine, size_t bytes, MPI_Comm comm, int *size)
{
	void *all;

	MPI_Comm_size(comm, size);
	all = malloc(bytes * (size_t)*size);
	CHECK(all != NULL);
	MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm);
	return all;
}

/* Floats as doubles, which have all their values. */
static double *
widened(void *values, size_t count, bool wide)
{
	double *made = wide ? values : malloc(count * sizeof(*made));

	CHECK(made != NULL);
	if (wide)
		return made;
	for (size_t i = 0; i < count; i++)
		made[i] = (double)((float *)values)[i];
	free(values);
	return made;
}

void
check_floats(const struct kept *kept, MPI_Datatype type, MPI_Op op)
{
	bool wide = type == MPI_DOUBLE;
	int size;
	void *given = gather(kept->given, (wide ? sizeof(double) : sizeof(float)) * kept->total,
		kept->comm, &size);
	double *all = widened(given, (size_t)size * kept->total, wide);

	for (size_t i = 0; i < kept->count; i++) {
		const double *values = all + kept->first + i;
		double wanted = op == MPI_SUM
			? exact_sum(values, (size_t)size, kept->total, wide)
			: exact_extreme(values, (size_t)size, kept->total, op == MPI_MAX);
		double result = wide ? ((const double *)kept->results)[i]
				     : (double)((const float *)kept->results)[i];

		CHECK(same(result, wanted));
	}
	free(all);
}

/* Of a value of any of the types: itself, as far as 64 bits can have it. */
static int64_t
widen(const char *at, int bytes, bool has_sign)
{
	uint64_t wide = 0;
	const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);

	memcpy(&wide, at, (size_t)bytes);
	return (int64_t)(has_sign ? (wide ^ sign) - sign : wide);
}

static int64_t
reduce_integers(int64_t a, int64_t b, MPI_Op op, bool has_sign)
{
	if (op == MPI_SUM)
		return (int64_t)((uint64_t)a + (uint64_t)b);
	return (op == MPI_MAX) == (has_sign ? a > b : (uint64_t)a > (uint64_t)b) ? a : b;
}

static bool
has_no_sign(MPI_Datatype type)
{
	const MPI_Datatype types[] = {MPI_UNSIGNED, MPI_UINT32_T, MPI_UNSIGNED_LONG, MPI_UINT64_T,
		MPI_UNSIGNED_CHAR, MPI_UINT8_T, MPI_UNSIGNED_SHORT, MPI_UINT16_T};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i] == type)
			return true;
	}
	return false;
}

void
check_integers(const struct kept *kept, MPI_Datatype type, MPI_Op op)
{
	const char *results = kept->results;
	bool has_sign = !has_no_sign(type);
	int size, bytes;
	char *all;

	MPI_Type_size(type, &bytes);
	all = gather(kept->given, (size_t)bytes * kept->total, kept->comm, &size);
	for (size_t i = 0; i < kept->count; i++) {
		const char *values = all + (kept->first + i) * (size_t)bytes;
		int64_t wanted = widen(values, bytes, has_sign);

		for (int r = 1; r < size; r++)
			wanted = reduce_integers(wanted,
				widen(values + (size_t)r * kept->total * (size_t)bytes, bytes,
					has_sign),
				op, has_sign);
		CHECK(memcmp(results + i * (size_t)bytes, &wanted, (size_t)bytes) == 0);
	}
	free(all);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program: sums of vectors over all ranks, how long they take, and a checksum of
 * the results' bits, which shows whether they depend on the order of additions.
 *
 *   mpicc -O2 -o allreduce allreduce.c
 *   mpirun -n 4 ./allreduce float 4 100 1000000 10
 *   mpirun -n 4 -x LD_PRELOAD=libnetfc-mpi-openmpi.so -x NETFC_SWITCH=10.0.0.2 \
 *          ./allreduce float 4 100 1000000 10
 *
 * After the type, float or double, come pairs of a length in bytes and a number of repetitions.
 * With NETFC_SHIFT=K in the environment, each rank contributes the values of the K-th rank after
 * it.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

static int rank, ranks;

static uint64_t
draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 11;
}

/* Of twenty powers of two and both signs. */
static void
fill(void *values, size_t count, int wide)
{
	const char *shift = getenv("NETFC_SHIFT");
	uint64_t state = (uint64_t)((rank + (shift ? atoi(shift) : 0)) % ranks);

	for (size_t i = 0; i < count; i++) {
		double fraction = ldexp((double)draw(&state), -52) - 1;
		double value = ldexp(fraction, (int)(draw(&state) % 20));

		if (wide)
			((double *)values)[i] = value;
		else
			((float *)values)[i] = (float)value;
	}
}

/* FNV-1a. */
static uint32_t
checksum(const void *values, size_t bytes)
{
	uint32_t sum = 2166136261;

	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ ((const unsigned char *)values)[i]) * 16777619;
	return sum;
}

static int
by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
measure(size_t bytes, size_t times, int wide)
{
	size_t count = bytes / (wide ? sizeof(double) : sizeof(float));
	void *given = malloc(bytes), *results = malloc(bytes);
	double *seconds = malloc((times + 1) * sizeof(*seconds));

	if (given == NULL || results == NULL || seconds == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	fill(given, count, wide);
	for (size_t i = 0; i <= times; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		seconds[i] = MPI_Wtime();
		MPI_Allreduce(given, results, (int)count, wide ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM,
			MPI_COMM_WORLD);
		seconds[i] = MPI_Wtime() - seconds[i];
	}
	qsort(seconds + 1, times, sizeof(*seconds), by_time); /* the first one warms up */
	if (rank == 0)
		printf("%zu bytes: median %.7f s, least %.7f s, results %08x\n", bytes,
			seconds[1 + times / 2], seconds[1], checksum(results, bytes));
	free(given);
	free(results);
	free(seconds);
}

int
main(int argc, char *argv[])
{
	int wide = argc > 1 && strcmp(argv[1], "double") == 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc < 4 || argc % 2 != 0 || (!wide && strcmp(argv[1], "float") != 0)) {
		fprintf(stderr, "usage: allreduce float|double BYTES TIMES [BYTES TIMES]...\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (int i = 2; i < argc; i += 2)
		measure(strtoul(argv[i], NULL, 10), strtoul(argv[i + 1], NULL, 10), wide);
	MPI_Finalize();
	return 0;
}

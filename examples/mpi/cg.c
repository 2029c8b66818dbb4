/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conjugate gradients, an ordinary MPI program: a plate of SIDE times SIDE points is heated here
 * and there, its rim is cold, and each rank has a strip of rows. Two sums over all ranks in each
 * step decide how it goes on.
 *
 *   mpicc -O2 -o cg cg.c -lm
 *   mpirun -n 4 ./cg 150
 *
 * With another number of ranks, other parts of those sums are rounded. With -DEXACT the dot
 * products of all ranks are one sum, exact and rounded once, the same for any number of ranks:
 *
 *   mpicc -O2 -DEXACT -o cg cg.c -lm -lnetfc-allreduce
 *   mpirun -n 4 -x NETFC_SWITCH=10.0.0.2 ./cg 150
 *
 * Prints the residual after so many steps, and its bits. With NETFC_SHIFT=K in the environment,
 * each rank has the strip of the K-th rank after it: the same numbers, added in another order.
 */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#ifdef EXACT
#include "workers.h"
#endif

#define SIDE 64
#define ROW (SIDE + 2) /* with the rim */

static int strip, strips, shift;

/* A strip's vector has a row more at either end: the neighbours'. */
struct vector {
	double *at;
	int rows;
};

static struct vector
vector_new(void)
{
	int rows = SIDE / strips + (strip < SIDE % strips);
	struct vector made = {calloc((size_t)(rows + 2) * ROW, sizeof(double)), rows};

	if (made.at == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	return made;
}

static int
rank_of(int wanted)
{
	return wanted < 0 || wanted >= strips ? MPI_PROC_NULL : (wanted - shift + strips) % strips;
}

static void
exchange(struct vector x)
{
	double *first = x.at + ROW, *last = x.at + x.rows * ROW;

	MPI_Sendrecv(first, ROW, MPI_DOUBLE, rank_of(strip - 1), 0, last + ROW, ROW, MPI_DOUBLE,
		rank_of(strip + 1), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(last, ROW, MPI_DOUBLE, rank_of(strip + 1), 1, x.at, ROW, MPI_DOUBLE,
		rank_of(strip - 1), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* y = A x: four times each point, less its neighbours. */
static void
multiply(struct vector y, struct vector x)
{
	exchange(x);
	for (int r = 1; r <= x.rows; r++) {
		for (int c = 1; c <= SIDE; c++) {
			const double *p = x.at + r * ROW + c;

			y.at[r * ROW + c] = 4 * p[0] - p[-1] - p[1] - p[-ROW] - p[ROW];
		}
	}
}

#ifdef EXACT
static double
dot(struct vector x, struct vector y)
{
	double all;

	check(netfc_allreduce_dot(comm, x.at + ROW, y.at + ROW, (uint64_t)x.rows * ROW,
		NETFC_ALLREDUCE_FP64, &all, NULL));
	return all;
}
#else
static double
dot(struct vector x, struct vector y)
{
	double mine = 0, all;

	for (int i = ROW; i < (x.rows + 1) * ROW; i++)
		mine += x.at[i] * y.at[i];
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}
#endif

/* x = a x + b y */
static void
combine(struct vector x, double a, double b, struct vector y)
{
	for (int i = ROW; i < (x.rows + 1) * ROW; i++)
		x.at[i] = a * x.at[i] + b * y.at[i];
}

static void
heat(struct vector b)
{
	int before = strip * (SIDE / strips) + (strip < SIDE % strips ? strip : SIDE % strips);

	for (int r = 1; r <= b.rows; r++) {
		for (int c = 1; c <= SIDE; c++)
			b.at[r * ROW + c] = sin(0.37 * (before + r)) * cos(0.11 * c * c);
	}
}

static double
solve(int steps)
{
	struct vector x = vector_new(), residual = vector_new(), way = vector_new(),
		      image = vector_new();
	double length;

	heat(residual);
	combine(way, 0, 1, residual);
	length = dot(residual, residual);
	for (int i = 0; i < steps; i++) {
		double before = length, step;

		multiply(image, way);
		step = before / dot(way, image);
		combine(x, 1, step, way);
		combine(residual, 1, -step, image);
		length = dot(residual, residual);
		combine(way, length / before, 1, residual);
	}
	free(x.at);
	free(residual.at);
	free(way.at);
	free(image.at);
	return sqrt(length);
}

int
main(int argc, char *argv[])
{
	const char *asked = getenv("NETFC_SHIFT");
	double residual;
	uint64_t bits;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &strips);
	shift = (asked == NULL ? 0 : atoi(asked)) % strips;
	strip = (rank + shift) % strips;
#ifdef EXACT
	uint64_t token = netfc_allreduce_draw_token();

	MPI_Bcast(&token, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	join(rank, strips, token);
#endif
	residual = solve(argc > 1 ? atoi(argv[1]) : 150);
	memcpy(&bits, &residual, sizeof(bits));
	if (rank == 0)
		printf("residual %.17g %016" PRIx64 "\n", residual, bits);
#ifdef EXACT
	leave();
#endif
	MPI_Finalize();
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conjugate gradients over finite elements: a plate of SIDE times SIDE square elements, its rim is
 * cold. Each rank has some of the elements, any of them, and all have the whole vectors. What an
 * element makes of a vector is added to the four points at its corners: several summands a rank for
 * each point, and a sum over all ranks. Totals add them all exactly, and the switch rounds once:
 * the same bits for any number of ranks, whoever has which elements.
 *
 *   mpicc -O2 -o elements elements.c -lm -lnetfc-allreduce
 *   mpirun -n 4 -x NETFC_SWITCH=10.0.0.2 ./elements 40
 *
 * The switch needs --aggregate digits=fp64. Without MPI, rank, number of ranks and a token, which
 * is the job's secret, are told to each of the processes:
 *
 *   cc -O2 -DWITHOUT_MPI -o elements elements.c -lm -lnetfc-allreduce
 *   for rank in 0 1 2; do NETFC_SWITCH=10.0.0.2 ./elements 40 $rank 3 0x5ec9e7 & done
 *
 * Prints the residual after so many steps, and its bits.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#ifndef WITHOUT_MPI
#include <mpi.h>
#endif

#include "workers.h"

#define SIDE 32
#define ROW (SIDE + 1)
#define POINTS (ROW * ROW)

static int rank, ranks;
static struct netfc_allreduce_totals *totals;

/* The corners of an element, in rows: what a corner takes from itself, beside it and across. */
static void
add_element(const double *x, int element)
{
	const int first = element / SIDE * ROW + element % SIDE;
	const double *above = x + first, *below = above + ROW;
	const double all = above[0] + above[1] + below[0] + below[1];
	const double upper[] = {
		(5 * above[0] - all - below[1]) / 6, (5 * above[1] - all - below[0]) / 6};
	const double lower[] = {
		(5 * below[0] - all - above[1]) / 6, (5 * below[1] - all - above[0]) / 6};

	netfc_allreduce_totals_add_some(totals, first, 2, upper);
	netfc_allreduce_totals_add_some(totals, first + ROW, 2, lower);
}

static int
is_rim(int point)
{
	const int row = point / ROW, column = point % ROW;

	return row == 0 || row == SIDE || column == 0 || column == SIDE;
}

/* y = A x: the sum of all elements of all ranks. */
static void
multiply(double *y, const double *x)
{
	netfc_allreduce_totals_clear(totals);
	for (int element = rank; element < SIDE * SIDE; element += ranks)
		add_element(x, element);
	check(netfc_allreduce_digits(comm, totals, y, NETFC_ALLREDUCE_SUM));
	for (int point = 0; point < POINTS; point++) {
		if (is_rim(point))
			y[point] = 0;
	}
}

/* All ranks have the same vectors, and add them up in the same order. */
static double
dot(const double *x, const double *y)
{
	double sum = 0;

	for (int point = 0; point < POINTS; point++)
		sum += x[point] * y[point];
	return sum;
}

/* x = a x + b y */
static void
combine(double *x, double a, double b, const double *y)
{
	for (int point = 0; point < POINTS; point++)
		x[point] = a * x[point] + b * y[point];
}

static double
solve(int steps)
{
	static double x[POINTS], residual[POINTS], way[POINTS], image[POINTS];
	double length;

	for (int point = 0; point < POINTS; point++)
		residual[point] = is_rim(point) ? 0 : sin(0.37 * point) * cos(0.11 * (point % ROW));
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
	return sqrt(length);
}

/* Gives the job's token. */
static uint64_t
start(int argc, char **argv)
{
#ifdef WITHOUT_MPI
	if (argc != 5) {
		fprintf(stderr, "usage: elements STEPS RANK RANKS TOKEN\n");
		exit(EXIT_FAILURE);
	}
	rank = atoi(argv[2]);
	ranks = atoi(argv[3]);
	return strtoull(argv[4], NULL, 0);
#else
	uint64_t token = netfc_allreduce_draw_token();

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Bcast(&token, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	return token;
#endif
}

int
main(int argc, char **argv)
{
	const uint64_t token = start(argc, argv);
	double residual;
	uint64_t bits;

	join(rank, ranks, token);
	totals = netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP64, POINTS);
	if (totals == NULL)
		exit(EXIT_FAILURE);
	residual = solve(argc > 1 ? atoi(argv[1]) : 40);
	memcpy(&bits, &residual, sizeof(bits));
	if (rank == 0)
		printf("residual %.17g %016" PRIx64 "\n", residual, bits);
	netfc_allreduce_totals_free(totals);
	leave();
#ifndef WITHOUT_MPI
	MPI_Finalize();
#endif
	return 0;
}

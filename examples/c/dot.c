/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dot product of two vectors of 16-bit numbers: as a table set computes it, correctly rounded
 * at each step, and in double precision. It needs only libnetfc: no switch, no DPDK.
 *
 *   printf '1.5 2\n0.25 8\n' | ./dot fp16_k1024
 */
#include <stdio.h>
#include <stdlib.h>

#include <netfc.h>

#define MAX_PAIRS 4096

struct vectors {
	uint16_t x[MAX_PAIRS], y[MAX_PAIRS];
	uint32_t count;
	double product; /* of the numbers as they were read */
};

/* Read a pair of numbers per line; -1 if a line is not a pair, or there are too many. */
static int
read_pairs(const struct netfc_format *format, struct vectors *v)
{
	double x, y;
	int got;

	while ((got = scanf("%lf %lf", &x, &y)) == 2) {
		if (v->count == MAX_PAIRS)
			return -1;
		v->product += x * y;
		v->x[v->count] = netfc_encode(format, x);
		v->y[v->count++] = netfc_encode(format, y);
	}
	return got == EOF ? 0 : -1;
}

/* All products in one call, then their sum, one lane after the other. */
static uint16_t
dot_by_tables(const struct netfc_set *set, const struct vectors *v)
{
	uint16_t sum = netfc_encode(netfc_set_format(set), 0);
	uint16_t product[MAX_PAIRS];

	netfc_compute(set, NETFC_MUL, v->x, v->y, product, NULL, v->count);
	for (uint32_t lane = 0; lane < v->count; lane++)
		sum = netfc_calc(set, NETFC_ADD, sum, product[lane]).z;
	return sum;
}

static uint16_t
dot_rounded(const struct netfc_format *format, const struct vectors *v)
{
	uint16_t sum = netfc_encode(format, 0);

	for (uint32_t lane = 0; lane < v->count; lane++) {
		uint16_t product = netfc_exact(format, NETFC_MUL, v->x[lane], v->y[lane]).z;

		sum = netfc_exact(format, NETFC_ADD, sum, product).z;
	}
	return sum;
}

static void
print(const char *how, double value)
{
	printf("%-18s %.9g\n", how, value);
}

int
main(int argc, char **argv)
{
	const struct netfc_format *format;
	struct vectors v = {.count = 0};
	struct netfc_set *set;
	int error;

	if (argc != 2) {
		fprintf(stderr, "usage: dot SET < PAIRS\n");
		return EXIT_FAILURE;
	}
	error = netfc_set_build(argv[1], &set);
	if (error != 0) {
		fprintf(stderr, "dot: %s: %s\n", argv[1], netfc_strerror(error));
		return EXIT_FAILURE;
	}
	if (netfc_format_width(netfc_set_format(set)) != 16) {
		fprintf(stderr, "dot: %s: lanes of 16 bits only\n", argv[1]);
		netfc_set_free(set);
		return EXIT_FAILURE;
	}
	format = netfc_set_format(set);
	error = read_pairs(format, &v);
	if (error == 0) {
		print(netfc_set_name(set), netfc_decode(format, dot_by_tables(set, &v)));
		print("correctly rounded", netfc_decode(format, dot_rounded(format, &v)));
		print("double", v.product);
	} else {
		fprintf(stderr, "dot: line %u: expected two numbers, and no more than %d lines\n",
			v.count + 1, MAX_PAIRS);
	}
	netfc_set_free(set);
	return error == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

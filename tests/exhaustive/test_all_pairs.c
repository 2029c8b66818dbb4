/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All 2^32 pairs of operands by every backend in which this build computes them, each result and
 * each flag against the one-lane reference: netfc_calc() for a table set of logarithms,
 * netfc_exact() for a format. Usage: test_all_pairs [SET|FORMAT [add|sub|mul|div...]]; default
 * fp16_k1024, all operations.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eal.h"
#include "backends.h"

#define MAX_SHOWN 10

struct job {
	const struct backends *backends;
	enum netfc_op op;
};

/* Results of an x with every y. */
struct row {
	uint16_t z[ROW];
	uint8_t flags[ROW];
};

static uint64_t
count_wrong(const struct job *job, const struct backend *backend, uint16_t x,
	const struct row *expected, const struct row *row)
{
	static unsigned int shown;
	uint64_t wrong = 0;

	if (memcmp(expected, row, sizeof(*row)) == 0)
		return 0;
	for (uint32_t y = 0; y < ROW; y++) {
		if (row->z[y] == expected->z[y] && row->flags[y] == expected->flags[y])
			continue;
		wrong++;
		if (__atomic_fetch_add(&shown, 1, __ATOMIC_RELAXED) < MAX_SHOWN)
			printf("%s: 0x%04x %s 0x%04x is 0x%04x, flags %u, not 0x%04x, flags %u\n",
				backend->name, x, netfc_op_symbol(job->op), y, expected->z[y],
				expected->flags[y], row->z[y], row->flags[y]);
	}
	return wrong;
}

static uint64_t
check_row(const void *arg, uint16_t x)
{
	const struct job *job = arg;
	uint16_t x_row[ROW], y_row[ROW];
	struct row expected, row;
	uint64_t wrong = 0;

	for (uint32_t y = 0; y < ROW; y++) {
		x_row[y] = x;
		y_row[y] = (uint16_t)y;
	}
	backends_expect(job->backends, job->op, x, expected.z, expected.flags);
	for (unsigned int w = 0; w < job->backends->count; w++) {
		const struct backend *backend = &job->backends->backend[w];

		backends_compute(backend, job->op, x_row, y_row, row.z, row.flags);
		wrong += count_wrong(job, backend, x, &expected, &row);
	}
	return wrong;
}

static uint64_t
check_op(const struct backends *backends, const char *name, enum netfc_op op)
{
	const struct job job = {backends, op};
	char title[80];
	struct rows rows = {.title = title, .check = check_row, .arg = &job};
	uint64_t wrong;
	double seconds;

	snprintf(title, sizeof(title), "%s %s", name, netfc_op_name(op));
	wrong = rows_check(&rows, &seconds);
	printf("%s: %" PRIu64 " pairs by %u backends, %" PRIu64
	       " wrong, %.0f s of processor time\n",
		title, (uint64_t)rows_count() * ROW, backends->count, wrong, seconds);
	fflush(stdout);
	return wrong;
}

static bool
is_chosen(int argc, char **argv, enum netfc_op op)
{
	bool chosen = argc <= 2;

	for (int a = 2; a < argc; a++)
		chosen = chosen || strcmp(argv[a], netfc_op_name(op)) == 0;
	return chosen;
}

int
main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "fp16_k1024";
	struct backends backends;
	uint64_t wrong = 0;
	bool any = false;

	if (start_lcores(1) != 0)
		return 1;
	if (backends_find(&backends, name) != 0) {
		fprintf(stderr, "usage: %s [SET|FORMAT [add|sub|mul|div...]]\n", argv[0]);
		return 1;
	}
	for (unsigned int w = 0; w < backends.count; w++)
		printf("%s\n", backends.backend[w].name);
	fflush(stdout);
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		if (!is_chosen(argc, argv, op))
			continue;
		wrong += check_op(&backends, name, op);
		any = true;
	}
	backends_free(&backends);
	return wrong == 0 && any ? 0 : 1;
}

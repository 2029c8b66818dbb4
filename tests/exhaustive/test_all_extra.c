/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * min, max, compare and fma: the library against double precision, and the kernels of every
 * instruction set against the library, at all 2^32 pairs, fma with a z of its own for each run, or
 * with 2^30 random y and z.
 * Usage: test_all_extra FORMAT min|max|compare|fma [Z|random]; Z is a number, default 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_memory.h>

#include "eal.h"
#include "further_kernel.h"
#include "naive_extra.h"
#include "rows.h"
#include "slots.h"

#define MOST_SHOWN 10
/* Random triples of each x. */
#define RANDOM 0x4000u

struct job {
	const struct netfc_format *format;
	enum netfc_extra_op op;
	uint16_t z;
	bool random;
	struct further_kernel *kernel[VECTOR_ISAS];
};

/* An x with every y, or with random ones, and a z of each. */
struct row {
	uint32_t count;
	uint16_t y[ROW], z[ROW];
	struct netfc_result result[ROW];
};

/* splitmix64 */
static uint64_t
scrambled(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void
fill_row(const struct job *job, uint16_t x, struct row *row)
{
	row->count = job->random ? RANDOM : ROW;
	for (uint32_t l = 0; l < row->count; l++) {
		uint64_t random = scrambled(((uint64_t)x << 32 | l) * UINT64_C(0x9e3779b97f4a7c15));

		row->y[l] = (uint16_t)(job->random ? random : l);
		row->z[l] = job->random ? (uint16_t)(random >> 16) : job->z;
	}
}

/* Whether one more is to be shown. */
static bool
show_it(void)
{
	static unsigned int shown;

	return __atomic_fetch_add(&shown, 1, __ATOMIC_RELAXED) < MOST_SHOWN;
}

static uint64_t
check_library(const struct job *job, uint16_t x, struct row *row)
{
	uint64_t wrong = 0;

	for (uint32_t l = 0; l < row->count; l++) {
		uint16_t y = row->y[l], z = row->z[l];
		struct netfc_result result = netfc_extra(job->format, job->op, x, y, z), expected;

		row->result[l] = result;
		if (naive_extra_is(job->format, job->op, x, y, z, result))
			continue;
		wrong++;
		expected = naive_extra(job->format, job->op, x, y, z);
		if (show_it())
			printf("%s(0x%04x, 0x%04x, 0x%04x) is 0x%04x, flags %u, not 0x%04x, flags %u\n",
				netfc_extra_name(job->op), x, y, z, expected.z, expected.flags,
				result.z, result.flags);
	}
	return wrong;
}

static uint64_t
count_wrong(const struct job *job, enum vector_isa isa, uint16_t x, const struct row *row,
	const slot *z, uint8_t flags)
{
	uint64_t wrong = 0;
	uint8_t expected_flags = 0;

	for (uint32_t l = 0; l < row->count; l++) {
		expected_flags |= row->result[l].flags;
		if (slot_swap(z[l]) == row->result[l].z)
			continue;
		wrong++;
		if (show_it())
			printf("%s: %s(0x%04x, 0x%04x, 0x%04x) is 0x%04x, not 0x%04x\n",
				vector_isa_name(isa), netfc_extra_name(job->op), x, row->y[l],
				row->z[l], row->result[l].z, slot_swap(z[l]));
	}
	if (flags == expected_flags)
		return wrong;
	if (show_it())
		printf("%s: %s(0x%04x, ...): flags %u, not %u\n", vector_isa_name(isa),
			netfc_extra_name(job->op), x, expected_flags, flags);
	return wrong + 1;
}

/* The row as a packet's lanes. */
static uint64_t
check_kernel(const struct job *job, enum vector_isa isa, uint16_t x, const struct row *row)
{
	static _Thread_local uint16_t slots[3 * ROW];
	const uint32_t count = row->count;
	struct vector_packet packet = {.slots = (uint8_t *)slots, .count = count};

	for (uint32_t l = 0; l < count; l++) {
		slots[l] = slot_swap(x);
		slots[count + l] = slot_swap(row->y[l]);
		slots[2 * count + l] = slot_swap(row->z[l]);
	}
	further_run(job->kernel[isa], &packet);
	return count_wrong(job, isa, x, row, slots + 2 * count, packet.flags);
}

static uint64_t
check_row(const void *arg, uint16_t x)
{
	static _Thread_local struct row row;
	const struct job *job = arg;
	uint64_t wrong;

	fill_row(job, x, &row);
	wrong = check_library(job, x, &row);
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
		/* Not every instruction set has a kernel of its own. */
		if (isa == VECTOR_PLAIN || job->kernel[isa]->run != job->kernel[isa - 1]->run)
			wrong += check_kernel(job, isa, x, &row);
	}
	return wrong;
}

static int
create_kernels(struct job *job)
{
	int error = 0;

	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best() && error == 0; isa++)
		error = further_extra_create(
			job->format, job->op, isa, SOCKET_ID_ANY, &job->kernel[isa]);
	return error;
}

static void
free_kernels(struct job *job)
{
	for (enum vector_isa isa = VECTOR_PLAIN; isa < VECTOR_ISAS; isa++)
		further_free(job->kernel[isa]);
}

static int
usage(const char *program)
{
	fprintf(stderr, "usage: %s FORMAT min|max|compare|fma [Z|random]\n", program);
	return 1;
}

int
main(int argc, char **argv)
{
	struct job job = {0};
	char title[80];
	struct rows rows = {.title = title, .check = check_row, .arg = &job};
	uint64_t wrong;
	double seconds, z = 0;
	char none[] = "", *end = none;

	if (argc < 3 || argc > 4)
		return usage(argv[0]);
	job.format = netfc_format_by_name(argv[1]);
	job.op = netfc_extra_by_name(argv[2]);
	job.random = argc > 3 && strcmp(argv[3], "random") == 0;
	if (argc > 3 && !job.random)
		z = strtod(argv[3], &end);
	if (job.format == NULL || job.op == 0 || *end != '\0')
		return usage(argv[0]);
	job.z = naive_encode(job.format, z);
	/* What naive numbers keep, filled in before there are threads. */
	naive_value(job.format, 0);
	snprintf(title, sizeof(title), "%s %s %s", argv[1], argv[2], argc > 3 ? argv[3] : "");
	if (eal_start(1) != 0 || create_kernels(&job) != 0) {
		fprintf(stderr, "%s: no memory for the kernels\n", argv[0]);
		return 1;
	}
	wrong = rows_check(&rows, &seconds);
	free_kernels(&job);
	printf("%s: %" PRIu64 " results, %" PRIu64 " wrong, %.0f s of processor time\n", title,
		(uint64_t)rows_count() * (job.random ? RANDOM : ROW), wrong, seconds);
	return wrong != 0;
}

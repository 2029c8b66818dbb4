/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * min, max, compare and fma: the library against double precision, and the kernels that this
 * processor runs against the library, at all 2^32 pairs, fma with a z of its own for each run, or
 * with 2^30 random y and z.
 * Usage: test_all_extra FORMAT min|max|compare|fma [Z|random]; Z is a number, default 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_memory.h>

#include "eal.h"
#include "extended.h"
#include "naive_extra.h"
#include "rows.h"
#include "slots.h"

#define MAX_SHOWN 10
/* Random triples of each x. */
#define RANDOM 0x4000u
/* Lanes of a packet, a divisor of both: their flags come together. */
#define PACKET 256u

struct job {
	const struct netfc_format *format;
	enum netfc_extra_op op;
	uint16_t z;
	bool random;
	/* Not every instruction set has a kernel of its own. */
	unsigned int kernels;
	struct vector_kernel *kernel[VECTOR_ISAS];
	enum vector_isa isa[VECTOR_ISAS];
};

/* An x with every y, or with random ones, and a z of each. */
struct row {
	uint32_t count;
	uint16_t x[ROW], y[ROW], z[ROW];
	uint16_t result[ROW];
	uint8_t flags[ROW];
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
		row->x[l] = x;
		row->y[l] = (uint16_t)l;
		row->z[l] = job->z;
	}
	for (uint32_t l = 0; l < row->count && job->random; l++) {
		uint64_t random = scrambled(((uint64_t)x << 32 | l) * UINT64_C(0x9e3779b97f4a7c15));

		row->y[l] = (uint16_t)random;
		row->z[l] = (uint16_t)(random >> 16);
	}
}

/* Whether one more is to be shown. */
static bool
show_it(void)
{
	static unsigned int shown;

	return __atomic_fetch_add(&shown, 1, __ATOMIC_RELAXED) < MAX_SHOWN;
}

static void
show_library(const struct job *job, const struct row *row)
{
	for (uint32_t l = 0; l < row->count; l++) {
		const uint16_t x = row->x[l], y = row->y[l], z = row->z[l];
		struct netfc_result expected = naive_extra(job->format, job->op, x, y, z);

		if ((expected.z != row->result[l] || expected.flags != row->flags[l]) && show_it())
			printf("%s(0x%04x, 0x%04x, 0x%04x) is 0x%04x, flags %u, not 0x%04x, flags %u\n",
				netfc_extra_name(job->op), x, y, z, expected.z, expected.flags,
				row->result[l], row->flags[l]);
	}
}

static uint64_t
check_library(const struct job *job, struct row *row)
{
	const struct naive_lanes lanes = {
		row->x[0], row->y, row->z, row->result, row->flags, row->count};
	uint32_t wrong;

	memcpy(row->result, row->z, row->count * sizeof(*row->z));
	netfc_extra_lanes(
		job->format, job->op, row->x, row->y, row->result, row->flags, row->count);
	wrong = naive_extra_wrong(job->format, job->op, &lanes);
	if (wrong != 0)
		show_library(job, row);
	return wrong;
}

static void
swap_lanes(const uint16_t *from, uint16_t *to)
{
	for (unsigned int l = 0; l < PACKET; l++)
		to[l] = slot16_swap(from[l]);
}

/* Report a packet of lanes from `first` on that has wrong results or flags. */
static uint64_t
count_wrong(const struct job *job, unsigned int kernel, const struct row *row, uint32_t first,
	const uint16_t *slots, uint8_t flags)
{
	const char *isa = vector_isa_name(job->isa[kernel]), *op = netfc_extra_name(job->op);
	uint64_t wrong = 0;

	for (uint32_t l = first; l < first + PACKET; l++) {
		const uint16_t z = slot16_swap(slots[l - first]);

		if (z == row->result[l])
			continue;
		wrong++;
		if (show_it())
			printf("%s: %s(0x%04x, 0x%04x, 0x%04x) is 0x%04x, not 0x%04x\n", isa, op,
				row->x[l], row->y[l], row->z[l], row->result[l], z);
	}
	if (wrong == 0 && show_it())
		printf("%s: %s(0x%04x, 0x%04x, 0x%04x) and %u lanes more have other flags than %u\n",
			isa, op, row->x[first], row->y[first], row->z[first], PACKET - 1, flags);
	return wrong == 0 ? 1 : wrong;
}

static uint64_t
check_packet(const struct job *job, const struct row *row, uint32_t first)
{
	uint16_t operands[3 * PACKET], slots[3 * PACKET], expected[PACKET];
	uint8_t flags = 0;
	uint64_t wrong = 0;

	swap_lanes(row->x + first, operands);
	swap_lanes(row->y + first, operands + PACKET);
	swap_lanes(row->z + first, operands + 2 * PACKET);
	swap_lanes(row->result + first, expected);
	for (unsigned int l = 0; l < PACKET; l++)
		flags |= row->flags[first + l];
	for (unsigned int k = 0; k < job->kernels; k++) {
		struct vector_packet packet = {.slots = (uint8_t *)slots, .count = PACKET};

		memcpy(slots, operands, sizeof(slots));
		vector_run_packets(job->kernel[k], job->op, &packet, 1);
		if (memcmp(slots + 2 * PACKET, expected, sizeof(expected)) != 0 ||
			packet.flags != flags)
			wrong += count_wrong(job, k, row, first, slots + 2 * PACKET, packet.flags);
	}
	return wrong;
}

static uint64_t
check_row(const void *arg, uint16_t x)
{
	static _Thread_local struct row row;
	const struct job *job = arg;
	uint64_t wrong;

	fill_row(job, x, &row);
	wrong = check_library(job, &row);
	for (uint32_t first = 0; first < row.count; first += PACKET)
		wrong += check_packet(job, &row, first);
	return wrong;
}

static int
create_kernels(struct job *job)
{
	int error = 0;

	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best() && error == 0; isa++) {
		struct vector_kernel *kernel;

		error = extended_create(job->format, isa, SOCKET_ID_ANY, &kernel);
		if (error != 0)
			continue;
		job->isa[job->kernels] = isa;
		job->kernel[job->kernels++] = kernel;
	}
	return error;
}

static void
free_kernels(struct job *job)
{
	for (unsigned int k = 0; k < job->kernels; k++)
		vector_free(job->kernel[k]);
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
	snprintf(title, sizeof(title), "%s %s%s%s", argv[1], argv[2], argc > 3 ? " " : "",
		argc > 3 ? argv[3] : "");
	if (start_lcores(1) != 0 || create_kernels(&job) != 0) {
		fprintf(stderr, "%s: no memory for the kernels\n", argv[0]);
		return 1;
	}
	wrong = rows_check(&rows, &seconds);
	free_kernels(&job);
	printf("%s: %" PRIu64 " results by the library and %u kernel%s, %" PRIu64
	       " wrong, %.0f s of processor time\n",
		title, (uint64_t)rows_count() * (job.random ? RANDOM : ROW), job.kernels,
		job.kernels == 1 ? "" : "s", wrong, seconds);
	return wrong != 0;
}

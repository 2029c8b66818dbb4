/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * min, max, compare and fma against double precision: all 2^32 pairs, fma with a z of its own for
 * each run, or with 2^30 random y and z.
 * Usage: test_all_extra FORMAT min|max|compare|fma [Z|random]; Z is a number, default 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "naive_extra.h"
#include "rows.h"

#define MOST_SHOWN 10
/* Random triples of each x. */
#define RANDOM 0x4000u

struct job {
	const struct netfc_format *format;
	enum netfc_extra_op op;
	uint16_t z;
	bool random;
};

/* splitmix64 */
static uint64_t
scrambled(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static bool
is_wrong(const struct job *job, uint16_t x, uint16_t y, uint16_t z)
{
	struct netfc_result result = netfc_extra(job->format, job->op, x, y, z);
	struct netfc_result expected = naive_extra(job->format, job->op, x, y, z);
	static unsigned int shown;

	if (result.z == expected.z && result.flags == expected.flags)
		return false;
	if (__atomic_fetch_add(&shown, 1, __ATOMIC_RELAXED) < MOST_SHOWN)
		printf("%s(0x%04x, 0x%04x, 0x%04x) is 0x%04x, flags %u, not 0x%04x, flags %u\n",
			netfc_extra_name(job->op), x, y, z, expected.z, expected.flags, result.z,
			result.flags);
	return true;
}

static uint64_t
check_row(const void *arg, uint16_t x)
{
	const struct job *job = arg;
	uint64_t wrong = 0;

	for (uint32_t y = 0; y < ROW && !job->random; y++)
		wrong += is_wrong(job, x, (uint16_t)y, job->z);
	for (uint32_t r = 0; r < RANDOM && job->random; r++) {
		uint64_t random = scrambled(((uint64_t)x << 32 | r) * UINT64_C(0x9e3779b97f4a7c15));

		wrong += is_wrong(job, x, (uint16_t)random, (uint16_t)(random >> 16));
	}
	return wrong;
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
	wrong = rows_check(&rows, &seconds);
	printf("%s: %" PRIu64 " results, %" PRIu64 " wrong, %.0f s of processor time\n", title,
		(uint64_t)rows_count() * (job.random ? RANDOM : ROW), wrong, seconds);
	return wrong != 0;
}

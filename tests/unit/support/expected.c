/* SPDX-License-Identifier: BSD-3-Clause */
#include "expected.h"

#include <math.h>

#include "unit.h"

/* Logarithms are computed up to 2^-TAIL; beyond, twice the largest k times them is below 1. */
#define TAIL 64
#define SCALE_MAX 1024

static struct {
	const struct netfc_format *format;
	struct precise value[0x8001], boundary[0x8000];
	/* By 2^(-u/scale), scale being the format's largest. */
	uint32_t scale;
	struct precise plus[TAIL * SCALE_MAX], minus[TAIL * SCALE_MAX];
} shared;

static double
value_or_end(const struct netfc_format *format, uint32_t magnitude)
{
	if (magnitude < naive_end(format))
		return naive_value(format, (uint16_t)magnitude);
	return ldexp(1, netfc_format_id(format) == NETFC_FP16 ? 16 : 128);
}

/* Compute what a format's sets share, once. */
static void
prepare(const struct netfc_format *format)
{
	if (shared.format == format)
		return;
	shared.format = format;
	shared.scale = netfc_format_max_scale(format);
	for (uint32_t u = 1; u <= naive_greatest(format); u++)
		shared.value[u] = precise_log2(value_or_end(format, u));
	for (uint32_t u = naive_least(format); u < naive_greatest(format); u++)
		shared.boundary[u] = precise_log2(naive_boundary(format, u));
	for (uint32_t u = 1; u < TAIL * shared.scale; u++) {
		shared.plus[u] = precise_log2_one(1, u, shared.scale);
		shared.minus[u] = precise_log2_one(-1, u, shared.scale);
	}
}

static unsigned
scale_bits(const struct netfc_set_id *id)
{
	return (unsigned)__builtin_ctz(id->scale);
}

/* floor(v + 1/2) is half of floor(2v) + 1, rounded down. */
int32_t
expected_word(const struct netfc_set_id *id, struct precise log)
{
	unsigned bits = PRECISE_BITS - scale_bits(id);

	if (id->rounding == NETFC_FLOOR)
		return (int32_t)(log.floor >> bits);
	return (int32_t)(((log.floor >> (bits - 1)) + 1) >> 1);
}

struct precise
expected_log(uint32_t magnitude)
{
	return shared.value[magnitude];
}

/* 0 < log2(1 + 2^-x) < 2^(1-x), and -2^(1-x) < log2(1 - 2^-x) < 0 for x > 1. */
struct precise
expected_log_one(const struct netfc_set_id *id, int sign, uint32_t t)
{
	uint64_t u = (uint64_t)t * (shared.scale / id->scale);

	if (u >= (uint64_t)TAIL * shared.scale)
		return (struct precise){.floor = sign > 0 ? 0 : -1, .exact = false};
	return sign > 0 ? shared.plus[u] : shared.minus[u];
}

struct precise
expected_same_log(const struct netfc_set_id *id)
{
	return precise_log2_one(-1, 1, id->scale * (netfc_format_is_posit(id->format) ? 4 : 1));
}

struct precise
expected_threshold(const struct netfc_set_id *id, uint32_t magnitude)
{
	return id->rounding == NETFC_FLOOR ? shared.value[magnitude + 1]
					   : shared.boundary[magnitude];
}

bool
expected_above(const struct netfc_set_id *id, int32_t n, uint32_t magnitude)
{
	struct precise threshold = expected_threshold(id, magnitude);
	int128 log = n * ((int128)1 << (PRECISE_BITS - scale_bits(id)));

	if (log != threshold.floor || !threshold.exact)
		return log > threshold.floor;
	/* On the boundary: rounding down keeps a number, a tie goes to the even encoding. */
	return id->rounding == NETFC_FLOOR || magnitude % 2 == 1;
}

void
for_each_set(const struct netfc_format *format, void (*test)(const struct netfc_set *set))
{
	char name[NETFC_SET_NAME_SIZE];
	struct netfc_set_id id;
	unsigned sets = 0;

	prepare(format);
	for (unsigned i = 0; netfc_set_known_name(i, name); i++) {
		struct netfc_set *set;

		assert_int_equal(netfc_set_parse_name(name, &id), NETFC_OK);
		if (id.format != format || id.family != NETFC_FAMILY_LOG)
			continue;
		set = must_build(name);
		test(set);
		netfc_set_free(set);
		sets++;
	}
	/* Plain and floor, for each power of two. */
	assert_int_equal(sets, 2 * (__builtin_ctz(netfc_format_max_scale(format)) + 1));
}

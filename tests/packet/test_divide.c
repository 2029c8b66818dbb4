/* SPDX-License-Identifier: BSD-3-Clause */
/* The division by logarithms. */
#include <math.h>

#include <rte_memory.h>

#include "cases.h"
#include "divide.h"

/* What the quotients of some counters are off by, at most, as `error` sees it. */
static double
worst_error(const struct divider *divider, unsigned int least_shift,
	double (*error)(double value, double exact))
{
	const struct netfc_format *fp16 = netfc_format_by_id(NETFC_FP16);
	uint32_t connections[DIVIDE_BULK];
	uint64_t bytes[DIVIDE_BULK], seed = 1;
	uint16_t ratio[DIVIDE_BULK];
	double worst = 0;

	for (unsigned int round = 0; round < 10000; round++) {
		for (unsigned int l = 0; l < DIVIDE_BULK; l++) {
			unsigned int shift = least_shift + (seed >> 16 & 7);

			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			connections[l] = (uint32_t)(seed >> 32) >> (seed >> 20 & 31) | 1;
			bytes[l] = (uint64_t)connections[l] << shift;
			bytes[l] += (seed * UINT64_C(0x9E3779B97F4A7C15) >> 8) % bytes[l];
		}
		divide(divider, connections, bytes, ratio, DIVIDE_BULK);
		for (unsigned int l = 0; l < DIVIDE_BULK; l++)
			worst = RTE_MAX(worst,
				error(netfc_decode(fp16, ratio[l]),
					(double)connections[l] / (double)bytes[l]));
	}
	return worst;
}

static double
relative(double value, double exact)
{
	return fabs(value / exact - 1);
}

/* In steps of subnormal numbers, without what the logarithms may contribute. */
static double
steps(double value, double exact)
{
	return (fabs(value - exact) - exact * 0.0005) * 0x1p24;
}

/* Counters of up to 64 bits, against exact division. */
TEST(quotients_are_within_a_thousandth)
{
	uint16_t ratio[2];
	struct divider *divider;
	double worst;

	assert_int_equal(divider_create(MATCH_DIRECT, SOCKET_ID_ANY, &divider), 0);
	worst = worst_error(divider, 6, relative);
	assert_true(worst > 0.0008 && worst < 0.00098);
	/* Below 2^-14, fp16 is subnormal: to the nearest multiple of 2^-24. */
	worst = worst_error(divider, 15, steps);
	assert_true(worst > 0.45 && worst <= 0.5);
	divide(divider, (uint32_t[]){0, 1}, (uint64_t[]){1000, UINT64_MAX}, ratio, 2);
	assert_int_equal(ratio[0], 0);
	assert_int_equal(ratio[1], 0);
	divider_free(divider);
}

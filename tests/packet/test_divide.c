/* SPDX-License-Identifier: BSD-3-Clause */
/* The division by logarithms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_memory.h>

#include "divide.h"
#include "eal.h"

/* Quotients of counters up to 64 bits, against exact division, wherever they are normal fp16. */
static void
quotients_are_within_a_thousandth(void **state)
{
	const struct netfc_format *fp16 = netfc_format_by_id(NETFC_FP16);
	uint32_t connections[DIVIDE_BULK];
	uint64_t bytes[DIVIDE_BULK], seed = 1;
	uint16_t ratio[DIVIDE_BULK];
	struct divider *divider;
	double worst = 0;

	(void)state;
	assert_int_equal(divider_create(MATCH_DIRECT, SOCKET_ID_ANY, &divider), 0);
	for (unsigned int round = 0; round < 10000; round++) {
		for (unsigned int l = 0; l < DIVIDE_BULK; l++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			connections[l] = (uint32_t)(seed >> 32) >> (seed >> 20 & 31) | 1;
			bytes[l] = connections[l] * (UINT64_C(1) << (seed >> 16 & 7)) * 64 +
				(seed >> 33) % (connections[l] * UINT64_C(64));
		}
		divide(divider, connections, bytes, ratio, DIVIDE_BULK);
		for (unsigned int l = 0; l < DIVIDE_BULK; l++) {
			double exact = (double)connections[l] / (double)bytes[l];

			worst = RTE_MAX(worst, fabs(netfc_decode(fp16, ratio[l]) / exact - 1));
		}
	}
	assert_true(worst > 0.0008 && worst < 0.00098);
	connections[0] = 0;
	bytes[0] = 1000;
	connections[1] = 1;
	bytes[1] = UINT64_MAX;
	divide(divider, connections, bytes, ratio, 2);
	assert_int_equal(ratio[0], 0);
	assert_int_equal(ratio[1], 0);
	divider_free(divider);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotients_are_within_a_thousandth),
	};

	if (eal_start(1) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

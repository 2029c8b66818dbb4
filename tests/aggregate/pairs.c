/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of two workers, for all pairs of encodings of a format of 8 or 16 bits, in each instruction
 * set: equal to netfc_exact(), flags included. Usage: aggregate_pairs FORMAT [STRIDE]: every
 * STRIDEth x, with every y
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <aggregate.h>
#include <netfc.h>

#include "exact.h"

#define MAX_LANES 16384u

static unsigned int format;
static uint32_t encodings, lane_count;
static struct aggregate_lanes *lanes;
static uint8_t x_packet[2 * MAX_LANES], y_packet[2 * MAX_LANES], result[2 * MAX_LANES];
static uint16_t expected[MAX_LANES];

static uint8_t
expect(uint16_t x, uint32_t first)
{
	uint8_t flags = 0;

	for (uint32_t i = 0; i < lane_count; i++) {
		struct netfc_result z = netfc_exact(
			netfc_format_by_id(format), NETFC_ADD, x, (uint16_t)(first + i));

		data_put(format, x_packet, i, x);
		data_put(format, y_packet, i, first + i);
		expected[i] = (uint16_t)z.z;
		flags |= z.flags;
	}
	return flags;
}

static uint64_t
count_wrong(uint16_t x, uint32_t first, enum aggregate_isa isa, uint8_t expected_flags)
{
	const uint8_t *const packets[] = {x_packet, y_packet};
	uint8_t flags = aggregate_reduce(aggregate_kernel(isa, AGGREGATE_SUM, format), lanes,
		packets, 2, lane_count, result);
	uint64_t wrong = flags != expected_flags;

	if (wrong != 0)
		printf("%s: 0x%04x + 0x%04x...: flags %u, not %u\n", aggregate_isa_name(isa), x,
			first, flags, expected_flags);
	for (uint32_t i = 0; i < lane_count; i++) {
		uint64_t z = data_get(format, result, i);

		if (z != expected[i] && wrong++ == 0)
			printf("%s: 0x%04x + 0x%04x is 0x%04" PRIx64 ", not 0x%04x\n",
				aggregate_isa_name(isa), x, first + i, z, expected[i]);
	}
	return wrong;
}

static uint64_t
check_row(uint16_t x)
{
	uint64_t wrong = 0;

	for (uint32_t first = 0; first < encodings; first += lane_count) {
		uint8_t flags = expect(x, first);

		for (enum aggregate_isa isa = 0; isa <= aggregate_isa_best(); isa++)
			wrong += count_wrong(x, first, isa, flags);
	}
	return wrong;
}

int
main(int argc, char **argv)
{
	uint64_t wrong = 0, pairs = 0;
	unsigned long stride = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	format = argc > 1 ? aggregate_format_by_name(argv[1]) : 0;
	if (!aggregate_is_format(format) || aggregate_value_bytes(format) > 2 || stride == 0) {
		fprintf(stderr, "usage: %s FORMAT [STRIDE], with a format of 8 or 16 bits\n",
			argv[0]);
		return 1;
	}
	encodings = 1u << 8 * aggregate_value_bytes(format);
	lane_count = encodings < MAX_LANES ? encodings : MAX_LANES;
	lanes = aligned_alloc(
		AGGREGATE_ALIGN, aggregate_lanes_bytes(AGGREGATE_ALL_FORMATS, 2 * MAX_LANES));
	if (lanes == NULL)
		return 1;
	aggregate_lanes_init(lanes, 2 * MAX_LANES);
	for (unsigned long x = 0; x < encodings; x += stride, pairs += encodings)
		wrong += check_row((uint16_t)x);
	printf("%s: %" PRIu64 " pairs in %d instruction sets, %" PRIu64 " wrong\n", argv[1], pairs,
		aggregate_isa_best() + 1, wrong);
	free(lanes);
	return wrong == 0 ? 0 : 1;
}

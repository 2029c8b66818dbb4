/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of a few values for the page: added one after the other, and as the switch adds them. */
#include <stdlib.h>
#include <string.h>

#include "aggregate_lanes.h"
#include "big_endian.h"
#include "page.h"

static uint32_t
add_floats(uint32_t a, uint32_t b)
{
	float x, y;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	x += y;
	memcpy(&a, &x, sizeof(a));
	return a;
}

/* a + b, rounded, as a processor with that format adds; of enum aggregate_format, without int32. */
uint32_t
PAGE_EXPORT(page_add)(enum aggregate_format format, uint32_t a, uint32_t b)
{
	if (format == AGGREGATE_FP32)
		return add_floats(a, b);
	return netfc_exact(netfc_format_by_id(format), NETFC_ADD, (uint16_t)a, (uint16_t)b).z;
}

/* The sum of `count` values, 1 to PAGE_MAX_VALUES, with the switch's own accumulators. */
uint32_t
PAGE_EXPORT(page_exact_sum)(enum aggregate_format format, const uint32_t *values, uint32_t count)
{
	unsigned bytes = aggregate_value_bytes(format);
	size_t size = aggregate_lanes_bytes(1u << format, bytes);
	void *memory = aligned_alloc(
		AGGREGATE_ALIGN, (size + AGGREGATE_ALIGN - 1) / AGGREGATE_ALIGN * AGGREGATE_ALIGN);
	uint8_t packet[PAGE_MAX_VALUES][4], result[4];
	const uint8_t *packets[PAGE_MAX_VALUES];

	if (memory == NULL)
		__builtin_trap();
	for (uint32_t value = 0; value < count; value++) {
		put_big_endian(packet[value], values[value], bytes);
		packets[value] = packet[value];
	}
	aggregate_reduce(aggregate_kernel(AGGREGATE_PLAIN, AGGREGATE_SUM, format),
		aggregate_lanes_init(memory, bytes), packets, count, 1, result);
	free(memory);
	return get_big_endian(result, bytes);
}

/* The orders of some values. */
struct orders {
	enum aggregate_format format;
	const uint32_t *values;
	uint32_t count;
	struct page_sum *sums;
	uint32_t sum_count;
};

static void
note_sum(struct orders *orders, uint32_t bits)
{
	for (uint32_t sum = 0; sum < orders->sum_count; sum++) {
		if (orders->sums[sum].bits == bits) {
			orders->sums[sum].orders++;
			return;
		}
	}
	orders->sums[orders->sum_count++] = (struct page_sum){bits, 1};
}

/* Append each value that is not yet in the sum; `left` is a set of bits. */
static void
add_rest(struct orders *orders, uint32_t left, uint32_t sum, bool first)
{
	if (left == 0) {
		note_sum(orders, sum);
		return;
	}
	for (uint32_t value = 0; value < orders->count; value++) {
		if (left >> value & 1)
			add_rest(orders, left & ~(1u << value),
				first ? orders->values[value]
				      : page_add(orders->format, sum, orders->values[value]),
				false);
	}
}

/*
 * Add `count` values, 1 to PAGE_MAX_VALUES, in every order. `sums` has space for as many sums as
 * there are orders. Gives how many different sums there are.
 */
uint32_t
PAGE_EXPORT(page_orders)(
	enum aggregate_format format, const uint32_t *values, uint32_t count, struct page_sum *sums)
{
	struct orders orders = {format, values, count, sums, 0};

	add_rest(&orders, (1u << count) - 1, 0, true);
	return orders.sum_count;
}

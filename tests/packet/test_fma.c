/* SPDX-License-Identifier: BSD-3-Clause */
/* fma's kernels of every instruction set and format of 16 bits, against the library. */
#include <rte_common.h>
#include <rte_memory.h>

#include "extended.h"
#include "operands.h"
#include "slots.h"
#include "unit.h"

#define MAX_LANES 300
#define ROUNDS 4000

struct triple {
	uint16_t x, y, z;
};

struct checked {
	const struct netfc_format *format;
	struct vector_kernel *kernel[VECTOR_ISAS];
	struct triple triple[MAX_LANES];
	unsigned int count;
};

static void
check_results(const struct checked *c, enum vector_isa isa, const slot16 *z, uint8_t flags)
{
	uint8_t expected_flags = 0;

	for (unsigned int l = 0; l < c->count; l++) {
		const struct triple *t = &c->triple[l];
		const struct netfc_result expected =
			netfc_extra(c->format, NETFC_FMA, t->x, t->y, t->z);

		expected_flags |= expected.flags;
		if (slot16_swap(z[l]) != expected.z)
			fail_msg("%s, %s: fma(%#x, %#x, %#x) = %#x, not %#x",
				netfc_format_name(c->format), vector_isa_name(isa), t->x, t->y,
				t->z, slot16_swap(z[l]), expected.z);
	}
	if (flags != expected_flags)
		fail_msg("%s, %s: flags %#x, not %#x, of fma(%#x, %#x, %#x) and %u more",
			netfc_format_name(c->format), vector_isa_name(isa), flags, expected_flags,
			c->triple[0].x, c->triple[0].y, c->triple[0].z, c->count - 1);
}

/* One's complement: what a checksum changes by, of z before and after. */
static uint16_t
change_of(const struct checked *c, const slot16 *after)
{
	uint64_t sum = 0;

	for (unsigned int l = 0; l < c->count; l++)
		sum += (uint64_t)after[l] + (uint16_t)~slot16_swap(c->triple[l].z);
	return (uint16_t)(sum % UINT16_MAX);
}

static void
check_packet(const struct checked *c)
{
	uint8_t slots[3 * MAX_LANES * sizeof(uint16_t) + 1];

	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++) {
		struct vector_packet packet = {.slots = slots + 1, .count = c->count};
		slot16 *x = (slot16 *)packet.slots, *y = x + c->count, *z = y + c->count;

		for (unsigned int l = 0; l < c->count; l++) {
			x[l] = slot16_swap(c->triple[l].x);
			y[l] = slot16_swap(c->triple[l].y);
			z[l] = slot16_swap(c->triple[l].z);
		}
		vector_run_packets(c->kernel[isa], NETFC_FMA, &packet, 1);
		check_results(c, isa, z, packet.flags);
		assert_int_equal(packet.changes % UINT16_MAX, change_of(c, z));
	}
}

static void
for_each_format(void (*check)(struct checked *c))
{
	struct checked c;

	NETFC_FOREACH_FORMAT (c.format) {
		if (netfc_format_width(c.format) != 16) /* test_fp8_kernels.c has all triples */
			continue;
		for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++)
			assert_int_equal(
				extended_create(c.format, isa, SOCKET_ID_ANY, &c.kernel[isa]), 0);
		c.count = 0;
		check(&c);
		for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++)
			vector_free(c.kernel[isa]);
	}
}

/* A packet of a lane each, so that each has flags of its own. */
static void
check_edges(struct checked *c)
{
	uint16_t edges[OPERANDS_MAX];
	const unsigned int count = edge_operands(c->format, edges);

	c->count = 1;
	for (unsigned int i = 0; i < count * count * count; i += one_in()) {
		c->triple[0] = (struct triple){
			edges[i % count], edges[i / count % count], edges[i / count / count]};
		check_packet(c);
	}
}

TEST(all_edge_triples)
{
	for_each_format(check_edges);
}

static void
check_random(struct checked *c)
{
	uint64_t seed = 1;

	for (unsigned int round = 0; round < ROUNDS / one_in(); round++) {
		c->count = (unsigned int)(next_random(&seed) % MAX_LANES + 1);
		for (unsigned int l = 0; l < c->count; l++) {
			const uint64_t random = next_random(&seed);

			c->triple[l] = (struct triple){(uint16_t)random, (uint16_t)(random >> 16),
				(uint16_t)(random >> 32)};
		}
		check_packet(c);
	}
}

TEST(random_triples)
{
	for_each_format(check_random);
}

/* z near -xy: what is left is what a product rounded first would lose. */
static void
check_cancelling(struct checked *c)
{
	uint64_t seed = 2;

	c->count = MAX_LANES;
	for (unsigned int round = 0; round < ROUNDS / 10 / one_in(); round++) {
		for (unsigned int l = 0; l < c->count; l++) {
			const uint64_t random = next_random(&seed);
			const uint16_t x = (uint16_t)random, y = (uint16_t)(random >> 16);
			const uint16_t product = netfc_exact(c->format, NETFC_MUL, x, y).z;
			const int apart = (int)(random >> 32 & 3) - 1;

			c->triple[l] = (struct triple){
				x, y, (uint16_t)(netfc_negate(c->format, product) + apart)};
		}
		check_packet(c);
	}
}

TEST(triples_that_nearly_cancel)
{
	for_each_format(check_cancelling);
}

/* Of a format without kernels of its own, whatever its fraction: by the library, lane by lane. */
TEST(another_format)
{
	static const struct netfc_format ieee_6_9 = {.id = NETFC_FORMAT_END,
		.name = "ieee_6_9",
		.width = 16,
		.exp_bits = 6,
		.fraction_bits = 9,
		.inf = 0x7e00,
		.nan = 0x7f00};
	struct checked c = {.format = &ieee_6_9};

	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++)
		assert_int_equal(extended_create(c.format, isa, SOCKET_ID_ANY, &c.kernel[isa]), 0);
	check_random(&c);
	check_cancelling(&c);
	for (enum vector_isa isa = VECTOR_PLAIN; isa <= vector_isa_best(); isa++)
		vector_free(c.kernel[isa]);
}

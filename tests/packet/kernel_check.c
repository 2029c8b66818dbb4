/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "cases.h"
#include "kernel_check.h"
#include "operands.h"
#include "packets.h"

/* Enough for all tails of the widest registers. */
#define MAX_LANES 65
#define GUARD 0xa5

static struct netfc_result
reference(const struct subject *subject, enum netfc_op op, uint16_t x, uint16_t y)
{
	return subject->set != NULL ? netfc_calc(subject->set, op, x, y)
				    : netfc_exact(subject->format, op, x, y);
}

static uint16_t
random_bits(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint16_t)(*state >> 48);
}

/* The second operands that an operand meets: its neighbours in magnitude, and any. */
static void
fill_operands(uint32_t first, unsigned int round, uint16_t *x, uint16_t *y, uint64_t *seed)
{
	static const uint16_t special[] = {
		0x0000, 0x8000, 0x0001, 0x8001, 0x7c00, 0xfc00, 0x7f80, 0xff80, 0x7fff};

	for (unsigned int l = 0; l < NETFC_BATCH; l++) {
		uint16_t any = random_bits(seed);

		x[l] = (uint16_t)(first + l);
		if (round < RTE_DIM(special))
			y[l] = special[round];
		else if (round % 2 == 0)
			y[l] = x[l] ^ (any & 0x83ff);
		else
			y[l] = any;
	}
}

static void
check_batch(const struct subject *subject, enum netfc_op op, const uint16_t *x, const uint16_t *y)
{
	uint16_t x_slots[NETFC_BATCH], y_slots[NETFC_BATCH], z[NETFC_BATCH];
	uint8_t flags[NETFC_BATCH];

	for (unsigned int l = 0; l < NETFC_BATCH; l++) {
		x_slots[l] = rte_cpu_to_be_16(x[l]);
		y_slots[l] = rte_cpu_to_be_16(y[l]);
	}
	vector_run_lanes(subject->kernel, op,
		&(struct vector_lanes){x_slots, y_slots, z, flags, NULL, NETFC_BATCH});
	for (unsigned int l = 0; l < NETFC_BATCH; l++) {
		struct netfc_result expected = reference(subject, op, x[l], y[l]);

		if (rte_be_to_cpu_16(z[l]) != expected.z || flags[l] != expected.flags)
			fail_msg(
				"%s, %s: 0x%04x %s 0x%04x is 0x%04x, flags %u, not 0x%04x, flags %u",
				subject->name, subject->kernel->description, x[l],
				netfc_op_symbol(op), y[l], expected.z, expected.flags,
				rte_be_to_cpu_16(z[l]), flags[l]);
	}
}

/* Every first operand, or some in each round, with special, near and random second ones. */
static void
check_operands(const struct subject *subject)
{
	enum {
		ROUNDS = 11
	};
	uint16_t x[NETFC_BATCH], y[NETFC_BATCH];
	uint64_t seed = 3;

	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		for (unsigned int round = 0; round < ROUNDS; round++) {
			for (uint32_t first = round % one_in() * NETFC_BATCH; first <= UINT16_MAX;
				first += one_in() * NETFC_BATCH) {
				fill_operands(first, round, x, y, &seed);
				check_batch(subject, op, x, y);
				if (round % 2 != 0)
					check_batch(subject, op, y, x);
			}
		}
	}
}

/* Lanes of a packet: any number, at any address, nothing before or after them touched. */
static void
check_packet(const struct subject *subject, enum netfc_op op, unsigned int offset, uint32_t count,
	uint64_t *seed)
{
	uint8_t bytes[8 + MAX_LANES * NETFC_LANE_BYTES + 64], before[sizeof(bytes)];
	uint8_t *x = bytes + offset, *y = x + 2 * count, *z = y + 2 * count;
	struct vector_packet packet = {.slots = x, .count = count};
	uint32_t sum;
	uint8_t expected_flags = 0;

	memset(bytes, GUARD, sizeof(bytes));
	for (uint32_t i = 0; i < 3 * count; i++) {
		uint16_t word = random_bits(seed);

		memcpy(x + 2 * i, &word, sizeof(word));
	}
	memcpy(before, bytes, sizeof(bytes));
	sum = packet_sum(z, 2 * (size_t)count);
	vector_run_packets(subject->kernel, op, &packet, 1);
	assert_int_equal(packet_sum(z, 2 * (size_t)count), (sum + packet.changes) % UINT16_MAX);
	for (uint32_t l = 0; l < count; l++) {
		struct netfc_result expected;
		uint16_t xl, yl, zl;

		memcpy(&xl, x + 2 * l, sizeof(xl));
		memcpy(&yl, y + 2 * l, sizeof(yl));
		memcpy(&zl, z + 2 * l, sizeof(zl));
		expected = reference(subject, op, rte_be_to_cpu_16(xl), rte_be_to_cpu_16(yl));
		assert_int_equal(rte_be_to_cpu_16(zl), expected.z);
		expected_flags |= expected.flags;
	}
	assert_int_equal(packet.flags, expected_flags);
	assert_memory_equal(bytes, before, (size_t)(z - bytes));
	assert_memory_equal(z + 2 * count, before + (z - bytes) + 2 * count,
		sizeof(bytes) - (size_t)(z - bytes) - 2 * count);
}

static void
check_packets(const struct subject *subject)
{
	uint64_t seed = 5;

	for (uint32_t count = 1; count <= MAX_LANES; count++) {
		for (unsigned int offset = 0; offset < 4; offset++) {
			for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++)
				check_packet(subject, op, offset, count, &seed);
		}
	}
}

/* Packets of any lengths together: each comes out as it does alone. */
static void
check_bursts(const struct subject *subject)
{
	enum {
		BURST = 12
	};
	uint8_t together[BURST][MAX_LANES * NETFC_LANE_BYTES], alone[MAX_LANES * NETFC_LANE_BYTES];
	uint64_t seed = 7;

	for (unsigned int round = 0; round < 200; round++) {
		enum netfc_op op = NETFC_ADD + round % 4;
		struct vector_packet packets[BURST];
		unsigned int count = 1 + random_bits(&seed) % BURST;
		uint8_t before[sizeof(together)];

		for (uint32_t i = 0; i < sizeof(together); i++)
			before[i] = (uint8_t)random_bits(&seed);
		memcpy(together, before, sizeof(together));
		for (unsigned int p = 0; p < count; p++)
			packets[p] = (struct vector_packet){.slots = together[p],
				.count = 1u + random_bits(&seed) % (round % 3 ? 40 : MAX_LANES)};
		vector_run_packets(subject->kernel, op, packets, count);
		for (unsigned int p = 0; p < count; p++) {
			struct vector_packet one = {.slots = alone, .count = packets[p].count};

			memcpy(alone, before + p * sizeof(alone), sizeof(alone));
			vector_run_packets(subject->kernel, op, &one, 1);
			assert_memory_equal(together[p], alone, sizeof(alone));
			assert_int_equal(packets[p].flags, one.flags);
			assert_int_equal(packets[p].changes % UINT16_MAX, one.changes % UINT16_MAX);
		}
	}
}

/* Gathered lanes: no more of z and flags is written than there are. */
static void
check_tails(const struct subject *subject)
{
	uint16_t x[MAX_LANES], y[MAX_LANES], z[MAX_LANES + 1];
	uint8_t flags[MAX_LANES + 1];
	uint64_t seed = 6;

	for (uint32_t count = 1; count <= MAX_LANES; count++) {
		for (uint32_t l = 0; l < count; l++) {
			x[l] = random_bits(&seed);
			y[l] = random_bits(&seed);
		}
		z[count] = GUARD;
		flags[count] = GUARD;
		vector_run_lanes(subject->kernel, NETFC_SUB,
			&(struct vector_lanes){x, y, z, flags, NULL, count});
		assert_int_equal(z[count], GUARD);
		assert_int_equal(flags[count], GUARD);
		for (uint32_t l = 0; l < count; l++) {
			struct netfc_result expected = reference(
				subject, NETFC_SUB, rte_be_to_cpu_16(x[l]), rte_be_to_cpu_16(y[l]));

			assert_int_equal(rte_be_to_cpu_16(z[l]), expected.z);
			assert_int_equal(flags[l], expected.flags);
		}
	}
}

void
kernel_check(const struct subject *subject)
{
	print_message("%s: %s\n", subject->name, subject->kernel->description);
	check_operands(subject);
	check_packets(subject);
	check_bursts(subject);
	check_tails(subject);
}

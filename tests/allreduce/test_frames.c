/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that the library makes itself: headers and checksums, and what is no such frame. */
#include <string.h>

#include "cases.h"
#include "link/frame.h"

#define MAX_PAYLOAD 8972
#define MAX_FRAME (62 + MAX_PAYLOAD)
#define ETHERNET 14

static const struct frame_ends over_ipv4 = {
	.local = {10, 0, 0, 1},
	.remote = {10, 0, 0, 100},
	.local_mac = {2, 0, 0, 0, 0, 1},
	.remote_mac = {2, 0, 0, 0, 0, 2},
};
static const struct frame_ends over_ipv6 = {
	.v6 = true,
	.local = {0xfd, [15] = 1},
	.remote = {0xfd, [15] = 100},
	.local_mac = {2, 0, 0, 0, 0, 1},
	.remote_mac = {2, 0, 0, 0, 0, 2},
};

/* The other side's view. */
static struct frame_ends
turned(const struct frame_ends *ends)
{
	struct frame_ends other = {.v6 = ends->v6};

	memcpy(other.local, ends->remote, sizeof(other.local));
	memcpy(other.remote, ends->local, sizeof(other.remote));
	memcpy(other.local_mac, ends->remote_mac, sizeof(other.local_mac));
	memcpy(other.remote_mac, ends->local_mac, sizeof(other.remote_mac));
	return other;
}

static size_t
make(const struct frame_ends *ends, uint8_t *frame, size_t bytes)
{
	size_t header = frame_header_bytes(ends);

	for (size_t i = 0; i < bytes; i++)
		frame[header + i] = (uint8_t)(i * 7 + 3);
	frame_finish(ends, frame, bytes, 49152, 20040);
	return header + bytes;
}

/* As RFC 1071 has it, a word at a time. */
static unsigned int
naive_sum(const uint8_t *bytes, size_t count, unsigned int sum)
{
	for (size_t i = 0; i < count; i++) {
		sum += i % 2 == 0 ? bytes[i] << 8 : bytes[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

static void
check_round_trip(const struct frame_ends *ends, size_t bytes)
{
	uint8_t frame[MAX_FRAME];
	size_t length = make(ends, frame, bytes), header = frame_header_bytes(ends);
	size_t ip = ends->v6 ? 16 : 4;
	const struct frame_ends other = turned(ends);
	struct frame_datagram datagram;
	unsigned int sum = 17 + 8 + (unsigned int)bytes;

	sum = naive_sum(ends->local, ip, sum);
	sum = naive_sum(ends->remote, ip, sum);
	assert_int_equal(naive_sum(frame + header - 8, 8 + bytes, sum), 0xffff);
	if (!ends->v6)
		assert_int_equal(naive_sum(frame + ETHERNET, 20, 0), 0xffff);
	assert_true(frame_read(&other, frame, length, &datagram));
	assert_int_equal(datagram.length, bytes);
	assert_ptr_equal(datagram.payload, frame + header);
	assert_int_equal(datagram.from, 49152);
	assert_int_equal(datagram.to, 20040);
	assert_false(frame_read(ends, frame, length, &datagram));
	assert_false(frame_read(&other, frame, length - 1, &datagram));
}

TEST(test_round_trip)
{
	for (size_t bytes = 0; bytes < 70; bytes++) {
		check_round_trip(&over_ipv4, bytes);
		check_round_trip(&over_ipv6, bytes);
	}
	check_round_trip(&over_ipv4, MAX_PAYLOAD);
	check_round_trip(&over_ipv6, MAX_PAYLOAD);
}

/* From the addresses on, each bit counts. */
static void
check_damage(const struct frame_ends *ends)
{
	uint8_t frame[MAX_FRAME];
	size_t length = make(ends, frame, 53), addresses = ends->v6 ? 32 : 8;
	const struct frame_ends other = turned(ends);
	struct frame_datagram datagram;

	for (size_t i = frame_header_bytes(ends) - 8 - addresses; i < length; i++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			frame[i] ^= (uint8_t)(1 << bit);
			assert_false(frame_read(&other, frame, length, &datagram));
			frame[i] ^= (uint8_t)(1 << bit);
		}
	}
	assert_true(frame_read(&other, frame, length, &datagram));
}

TEST(test_damage)
{
	check_damage(&over_ipv4);
	check_damage(&over_ipv6);
}

TEST(test_the_others_address_is_learnt)
{
	struct frame_ends ends = over_ipv4;
	uint8_t frame[MAX_FRAME];
	const uint8_t nobody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	memcpy(ends.remote_mac, nobody, sizeof(nobody));
	make(&over_ipv4, frame, 4);
	frame_learn(&ends, frame);
	assert_memory_equal(ends.remote_mac, over_ipv4.local_mac, sizeof(ends.remote_mac));
	memcpy(frame + 6, nobody, sizeof(nobody));
	frame_learn(&ends, frame);
	assert_memory_equal(ends.remote_mac, over_ipv4.local_mac, sizeof(ends.remote_mac));
}

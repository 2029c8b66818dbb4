/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "bytes.h"
#include "pipeline.h"
#include "dpdk/reflect.h"

#define LONGEST_ADDRESS 16

/* Swap two fields that follow one another, wherever their bytes are. */
static void
swap_across_segments(struct rte_mbuf *mbuf, uint32_t offset, uint32_t length)
{
	uint8_t swapped[2 * LONGEST_ADDRESS], copy[2 * LONGEST_ADDRESS];
	const uint8_t *both = rte_pktmbuf_read(mbuf, offset, 2 * length, copy);

	if (both == NULL)
		return;
	memcpy(swapped, both + length, length);
	memcpy(swapped + length, both, length);
	mbuf_write(mbuf, offset, swapped, 2 * length);
}

/* `length` is a constant wherever this is used, so that the copies are a few moves. */
static __rte_always_inline void
swap_fields(struct rte_mbuf *mbuf, uint32_t offset, const uint32_t length)
{
	uint8_t first[LONGEST_ADDRESS], second[LONGEST_ADDRESS];
	uint8_t *both = mbuf_bytes(mbuf, offset, 2 * length);

	if (unlikely(both == NULL)) {
		swap_across_segments(mbuf, offset, length);
		return;
	}
	memcpy(first, both, length);
	memcpy(second, both + length, length);
	memcpy(both, second, length);
	memcpy(both + length, first, length);
}

static __rte_always_inline void
swap_macs(uint8_t *bytes)
{
	bytes16 macs;

	memcpy(&macs, bytes, sizeof(macs));
	macs = __builtin_shufflevector(
		macs, macs, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15);
	memcpy(bytes, &macs, sizeof(macs));
}

/* From here on, after the start of an IPv4 header, are its addresses and, without options, ports.
 */
#define IPV4_VECTOR 8

/* Which of the 16 bytes change places, by network and whether UDP follows, see swapped_of(). */
static const uint8_t swapped_bytes[FRAME_IPV6 + 2][sizeof(bytes16)] __rte_aligned(16) = {
	[FRAME_IPV4] = {[4 ... 11] = UINT8_MAX},
	[FRAME_IPV4 + 1] = {[4 ... 15] = UINT8_MAX},
};

/*
 * A frame that is contiguous, but for what IPv6 has; without a branch, as neighbours may differ:
 * where nothing is to be swapped, bytes are written back as they are.
 */
static __rte_always_inline void
reflect_contiguous(uint8_t *bytes, uint32_t network_offset, bytes16 swapped)
{
	uint8_t *at = bytes + network_offset + IPV4_VECTOR;
	bytes16 both = load_bytes16(at);

	swap_macs(bytes);
	both ^= swapped &
		(both ^
			__builtin_shufflevector(
				both, both, 0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 14, 15, 12, 13));
	memcpy(at, &both, sizeof(both));
}

static __rte_always_inline bytes16
swapped_of(const struct frame *frame)
{
	return load_bytes16(swapped_bytes[frame->network + frame->udp]);
}

static __rte_always_inline void
reflect_ipv6(uint8_t *bytes, const struct frame *frame)
{
	uint8_t *both = bytes + frame->network_offset + offsetof(struct rte_ipv6_hdr, src_addr);
	uint8_t *ports = both + 2 * sizeof(bytes16);
	bytes16 first, second;
	uint32_t word, swapped;

	memcpy(&first, both, sizeof(first));
	memcpy(&second, both + sizeof(first), sizeof(second));
	memcpy(both, &second, sizeof(second));
	memcpy(both + sizeof(first), &first, sizeof(first));
	memcpy(&word, ports, sizeof(word));
	swapped = word << 16 | word >> 16;
	word = frame->udp ? swapped : word;
	memcpy(ports, &word, sizeof(word));
}

static __rte_noinline void
reflect_any(struct rte_mbuf *mbuf, const struct frame *frame)
{
	swap_fields(mbuf, 0, RTE_ETHER_ADDR_LEN);
	if (frame->network == FRAME_IPV4)
		swap_fields(mbuf,
			frame->network_offset + (uint32_t)offsetof(struct rte_ipv4_hdr, src_addr),
			sizeof(rte_be32_t));
	else if (frame->network == FRAME_IPV6)
		swap_fields(mbuf,
			frame->network_offset + (uint32_t)offsetof(struct rte_ipv6_hdr, src_addr),
			LONGEST_ADDRESS);
	if (frame->udp)
		swap_fields(mbuf, frame->udp_offset, sizeof(rte_be16_t));
}

/* Whether all frames are contiguous, and of the same kind. */
static bool
is_uniform(const struct frame *frames, uint16_t count)
{
	/* The network, and all flags. */
	const uint16_t first = load_16(&frames[0]);
	uint16_t difference = 0;

	for (uint16_t i = 1; i < count; i++)
		difference |= load_16(&frames[i]) ^ first;
	return difference == 0 && frames[0].contiguous;
}

static void
reflect_uniform(struct rte_mbuf **mbufs, const struct frame *frames, uint16_t count)
{
	const bytes16 swapped = swapped_of(&frames[0]);

	for (uint16_t i = 0; i < count; i++)
		reflect_contiguous(
			rte_pktmbuf_mtod(mbufs[i], uint8_t *), frames[i].network_offset, swapped);
}

static void
reflect_uniform_ipv6(struct rte_mbuf **mbufs, const struct frame *frames, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		uint8_t *bytes = rte_pktmbuf_mtod(mbufs[i], uint8_t *);

		swap_macs(bytes);
		reflect_ipv6(bytes, &frames[i]);
	}
}

static void
reflect_mixed(struct rte_mbuf **mbufs, const struct frame *frames, uint16_t count)
{
	uint8_t ipv6[PIPELINE_BURST];
	unsigned int ipv6_count = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (unlikely(!frames[i].contiguous)) {
			reflect_any(mbufs[i], &frames[i]);
			continue;
		}
		reflect_contiguous(rte_pktmbuf_mtod(mbufs[i], uint8_t *), frames[i].network_offset,
			swapped_of(&frames[i]));
		ipv6[ipv6_count] = (uint8_t)i;
		ipv6_count += frames[i].network == FRAME_IPV6;
	}
	for (unsigned int i = 0; i < ipv6_count; i++)
		reflect_ipv6(rte_pktmbuf_mtod(mbufs[ipv6[i]], uint8_t *), &frames[ipv6[i]]);
}

void
reflect(struct rte_mbuf **mbufs, const struct frame *frames, uint16_t count)
{
	if (count == 0)
		return;
	if (!is_uniform(frames, count))
		reflect_mixed(mbufs, frames, count);
	else if (frames[0].network == FRAME_IPV6)
		reflect_uniform_ipv6(mbufs, frames, count);
	else
		reflect_uniform(mbufs, frames, count);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "mbuf_bytes.h"
#include "bytes.h"
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

/*
 * Where fields are swapped that a frame does not have, so that no branch asks whether it has them.
 * A place for each, as a load of what has just been stored in other pieces would have to wait.
 */
struct nowhere {
	uint8_t ipv6[2 * LONGEST_ADDRESS];
	uint8_t ipv4[8];
	uint8_t ports[4];
} __rte_cache_aligned;

static __rte_always_inline void
swap_macs(uint8_t *bytes)
{
	bytes16 macs;

	memcpy(&macs, bytes, sizeof(macs));
	macs = __builtin_shufflevector(
		macs, macs, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15);
	memcpy(bytes, &macs, sizeof(macs));
}

/* The halves of eight bytes: IPv4 addresses. */
static __rte_always_inline void
swap_4(uint8_t *both)
{
	const uint64_t word = load_64(both);

	store_64(both, word << 32 | word >> 32);
}

/* IPv6 addresses. */
static __rte_always_inline void
swap_16(uint8_t *both)
{
	bytes16 first, second;

	memcpy(&first, both, sizeof(first));
	memcpy(&second, both + sizeof(first), sizeof(second));
	memcpy(both, &second, sizeof(second));
	memcpy(both + sizeof(first), &first, sizeof(first));
}

/* Ports. */
static __rte_always_inline void
swap_2(uint8_t *both)
{
	uint32_t word;

	memcpy(&word, both, sizeof(word));
	word = word << 16 | word >> 16;
	memcpy(both, &word, sizeof(word));
}

/* Without a branch, which compilers make of a conditional expression. */
static __rte_always_inline uint8_t *
choose(bool condition, uint8_t *yes, uint8_t *no)
{
	const uintptr_t mask = -(uintptr_t)condition;

	return (uint8_t *)(((uintptr_t)yes & mask) | ((uintptr_t)no & ~mask));
}

/* A frame whose headers are all in its first segment; it has 16 bytes at the least. */
static __rte_always_inline void
reflect_contiguous(uint8_t *bytes, const struct frame *frame, struct nowhere *nowhere)
{
	uint8_t *ip = bytes + frame->network_offset, *udp = bytes + frame->udp_offset;

	swap_macs(bytes);
	swap_4(choose(frame->network == FRAME_IPV4, ip + offsetof(struct rte_ipv4_hdr, src_addr),
		nowhere->ipv4));
	swap_16(choose(frame->network == FRAME_IPV6, ip + offsetof(struct rte_ipv6_hdr, src_addr),
		nowhere->ipv6));
	swap_2(choose(frame->udp, udp, nowhere->ports));
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

void
reflect(struct rte_mbuf **mbufs, const struct frame *frames, uint16_t count)
{
	struct nowhere nowhere = {{0}, {0}, {0}};

	for (uint16_t i = 0; i < count; i++) {
		if (likely(frames[i].contiguous))
			reflect_contiguous(
				rte_pktmbuf_mtod(mbufs[i], uint8_t *), &frames[i], &nowhere);
		else
			reflect_any(mbufs[i], &frames[i]);
	}
}

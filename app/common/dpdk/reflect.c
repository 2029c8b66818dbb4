/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "mbuf_bytes.h"
#include "plain.h"
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

/* A frame without a tag, without options, its headers all in one segment. */
static inline bool
is_plain(const struct rte_mbuf *mbuf, const struct frame *frame)
{
	return frame->network == FRAME_IPV4 && frame->udp && frame->udp_offset == PLAIN_UDP &&
		rte_pktmbuf_data_len(mbuf) >= PLAIN_NETFC;
}

/* Sixteen bytes that change places at once. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));

/* From here on, sixteen bytes hold both addresses and both ports. */
#define PLAIN_ADDRESSES (PLAIN_UDP + 4 - 16)

static inline void
reflect_plain(uint8_t *bytes)
{
	bytes16 macs, addresses;

	memcpy(&macs, bytes, sizeof(macs));
	memcpy(&addresses, bytes + PLAIN_ADDRESSES, sizeof(addresses));
	macs = __builtin_shufflevector(
		macs, macs, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 12, 13, 14, 15);
	addresses = __builtin_shufflevector(
		addresses, addresses, 0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 14, 15, 12, 13);
	memcpy(bytes, &macs, sizeof(macs));
	memcpy(bytes + PLAIN_ADDRESSES, &addresses, sizeof(addresses));
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
	for (uint16_t i = 0; i < count; i++) {
		if (likely(is_plain(mbufs[i], &frames[i])))
			reflect_plain(rte_pktmbuf_mtod(mbufs[i], uint8_t *));
		else
			reflect_any(mbufs[i], &frames[i]);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>
#include <stddef.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include <netfc_wire.h>

#include "plain.h"

#define LONGEST 64

/* A frame's bytes, and which of their bits are always so. */
struct pattern {
	uint8_t value[LONGEST], mask[LONGEST];
};

static void
want_8(struct pattern *pattern, size_t offset, uint8_t value, uint8_t mask)
{
	pattern->value[offset] = value & mask;
	pattern->mask[offset] = mask;
}

static void
want_16(struct pattern *pattern, size_t offset, uint16_t value, uint16_t mask)
{
	want_8(pattern, offset, (uint8_t)(value >> 8), (uint8_t)(mask >> 8));
	want_8(pattern, offset + 1, (uint8_t)value, (uint8_t)mask);
}

static void
want_headers(struct pattern *pattern, uint16_t udp_port)
{
	const uint8_t code = (uint8_t)~(PLAIN_CODES - 1);

	want_16(pattern, offsetof(struct rte_ether_hdr, ether_type), RTE_ETHER_TYPE_IPV4,
		UINT16_MAX);
	want_8(pattern, PLAIN_IP, RTE_IPV4_VHL_DEF, UINT8_MAX);
	want_16(pattern, PLAIN_IP + offsetof(struct rte_ipv4_hdr, fragment_offset), 0,
		RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK);
	want_8(pattern, PLAIN_IP + offsetof(struct rte_ipv4_hdr, next_proto_id), IPPROTO_UDP,
		UINT8_MAX);
	want_16(pattern, PLAIN_UDP + offsetof(struct rte_udp_hdr, dst_port), udp_port, UINT16_MAX);
	want_16(pattern, PLAIN_NETFC + offsetof(struct netfc_hdr, magic), NETFC_MAGIC, UINT16_MAX);
	want_8(pattern, PLAIN_NETFC + offsetof(struct netfc_hdr, version), NETFC_WIRE_VERSION,
		UINT8_MAX);
	want_8(pattern, PLAIN_OP, 0, code);
	want_8(pattern, PLAIN_FORMAT, 0, code);
	want_8(pattern, PLAIN_STATUS_BYTE, 0, NETFC_STATUS_REPLY);
}

/* All that requests that are alike have in common, whatever it is. */
static void
want_alike(struct pattern *pattern)
{
	want_16(pattern, PLAIN_IP + offsetof(struct rte_ipv4_hdr, total_length), 0, UINT16_MAX);
	want_16(pattern, PLAIN_UDP + offsetof(struct rte_udp_hdr, dgram_len), 0, UINT16_MAX);
	want_8(pattern, PLAIN_OP, 0, UINT8_MAX);
	want_8(pattern, PLAIN_FORMAT, 0, UINT8_MAX);
	want_8(pattern, PLAIN_STATUS_BYTE, 0, UINT8_MAX);
	want_16(pattern, PLAIN_NETFC + offsetof(struct netfc_hdr, count), 0, UINT16_MAX);
}

static void
take_words(const struct pattern *pattern, struct plain_words *words)
{
	static const uint8_t offsets[PLAIN_WORDS] = PLAIN_WORD_OFFSETS;

	for (unsigned int w = 0; w < PLAIN_WORDS; w++) {
		memcpy(&words->value[w], pattern->value + offsets[w], sizeof(uint64_t));
		memcpy(&words->mask[w], pattern->mask + offsets[w], sizeof(uint64_t));
	}
}

void
plain_describe(struct plain_shape *shape, uint16_t udp_port)
{
	struct pattern pattern = {0};
	struct plain_words alike;

	want_headers(&pattern, udp_port);
	take_words(&pattern, &shape->any);
	want_alike(&pattern);
	take_words(&pattern, &alike);
	memcpy(shape->like_mask, alike.mask, sizeof(shape->like_mask));
	shape->frame = (struct frame){
		.network = FRAME_IPV4,
		.udp = true,
		.netfc_port = true,
		.answered = true,
		.ether_type = RTE_ETHER_TYPE_IPV4,
		.network_offset = PLAIN_IP,
		.udp_offset = PLAIN_UDP,
		.udp_port = udp_port,
	};
}

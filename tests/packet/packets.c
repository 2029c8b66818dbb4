/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "packets.h"

struct headers {
	uint8_t ethernet[RTE_ETHER_HDR_LEN];
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	struct netfc_hdr netfc;
} __attribute__((packed, aligned(2)));

_Static_assert(sizeof(struct headers) == PACKET_HEADERS, "headers are packed");

static void
put_slots(uint8_t *at, const uint16_t *values, uint16_t count)
{
	for (uint16_t i = 0; i < count; i++) {
		at[2 * i] = (uint8_t)(values[i] >> 8);
		at[2 * i + 1] = (uint8_t)values[i];
	}
}

void
packet_write(uint8_t *frame, unsigned int op, unsigned int format, uint16_t lanes,
	const uint16_t *x, const uint16_t *y)
{
	struct headers *headers = (struct headers *)frame;
	uint16_t payload = (uint16_t)(sizeof(struct netfc_hdr) + lanes * NETFC_LANE_BYTES);
	uint8_t *slots = frame + sizeof(*headers);

	memset(frame, 0, packet_length(lanes));
	headers->ethernet[12] = RTE_ETHER_TYPE_IPV4 >> 8;
	headers->ip.version_ihl = RTE_IPV4_VHL_DEF;
	headers->ip.total_length = rte_cpu_to_be_16((uint16_t)(28 + payload));
	headers->ip.time_to_live = 64;
	headers->ip.next_proto_id = IPPROTO_UDP;
	headers->ip.src_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 1));
	headers->ip.dst_addr = RTE_BE32(RTE_IPV4(10, 0, 0, 2));
	headers->ip.hdr_checksum = rte_ipv4_cksum(&headers->ip);
	headers->udp.src_port = RTE_BE16(1024);
	headers->udp.dst_port = RTE_BE16(NETFC_UDP_PORT);
	headers->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(8 + payload));
	headers->netfc.magic = RTE_BE16(NETFC_MAGIC);
	headers->netfc.version = NETFC_WIRE_VERSION;
	headers->netfc.op = (uint8_t)op;
	headers->netfc.format = (uint8_t)format;
	headers->netfc.count = rte_cpu_to_be_16(lanes);
	put_slots(slots, x, lanes);
	put_slots(slots + 2 * lanes, y, lanes);
	headers->udp.dgram_cksum = rte_ipv4_udptcp_cksum(&headers->ip, &headers->udp);
}

void
packet_write_results(uint8_t *frame, uint16_t lanes, const uint16_t *z)
{
	struct headers *headers = (struct headers *)frame;

	put_slots(frame + sizeof(*headers) + 4 * lanes, z, lanes);
	headers->udp.dgram_cksum = 0;
	headers->udp.dgram_cksum = rte_ipv4_udptcp_cksum(&headers->ip, &headers->udp);
}

void
packet_write_count(uint8_t *frame, uint16_t count)
{
	((struct headers *)frame)->netfc.count = rte_cpu_to_be_16(count);
}

void
packet_write_query(uint8_t *frame, uint32_t destination, uint16_t extra)
{
	const uint16_t high = (uint16_t)(destination >> 16), low = (uint16_t)destination;
	struct headers *headers = (struct headers *)frame;

	packet_write(frame, NETFC_OP_QUERY, NETFC_FP16, 1, &high, &low);
	memset(frame + packet_length(1), 0, extra);
	headers->ip.total_length = rte_cpu_to_be_16((uint16_t)(packet_length(1) + extra - 14));
	headers->udp.dgram_len = rte_cpu_to_be_16((uint16_t)(packet_length(1) + extra - 34));
	headers->ip.hdr_checksum = 0;
	headers->ip.hdr_checksum = rte_ipv4_cksum(&headers->ip);
	headers->udp.dgram_cksum = 0;
	headers->udp.dgram_cksum = rte_ipv4_udptcp_cksum(&headers->ip, &headers->udp);
}

struct rte_mbuf *
packet_of(struct rte_mempool *pool, const uint8_t *frame, uint32_t length, uint32_t cut)
{
	struct rte_mbuf *packet = NULL;

	for (uint32_t done = 0; done < length; done += cut) {
		uint16_t some = (uint16_t)RTE_MIN(cut, length - done);
		struct rte_mbuf *segment = rte_pktmbuf_alloc(pool);

		if (segment == NULL) {
			rte_pktmbuf_free(packet);
			return NULL;
		}
		memcpy(rte_pktmbuf_append(segment, some), frame + done, some);
		if (packet == NULL)
			packet = segment;
		else
			rte_pktmbuf_chain(packet, segment);
	}
	return packet;
}

void
packet_bytes(const struct rte_mbuf *mbuf, uint8_t *frame)
{
	for (; mbuf != NULL; mbuf = mbuf->next) {
		memcpy(frame, rte_pktmbuf_mtod(mbuf, void *), rte_pktmbuf_data_len(mbuf));
		frame += rte_pktmbuf_data_len(mbuf);
	}
}

uint16_t
packet_result(const uint8_t *frame, uint16_t lanes, uint16_t lane)
{
	const uint8_t *at = frame + sizeof(struct headers) + 4 * lanes + 2 * lane;

	return (uint16_t)(at[0] << 8 | at[1]);
}

uint8_t
packet_status(const uint8_t *frame)
{
	return ((const struct headers *)frame)->netfc.status;
}

bool
packet_checksum_is_right(const uint8_t *frame)
{
	uint8_t copy[65536 + RTE_ETHER_HDR_LEN];
	struct headers *headers = (struct headers *)copy;
	uint16_t checksum;

	memcpy(copy, frame, sizeof(*headers));
	memcpy(copy, frame, RTE_ETHER_HDR_LEN + rte_be_to_cpu_16(headers->ip.total_length));
	checksum = headers->udp.dgram_cksum;
	headers->udp.dgram_cksum = 0;
	return rte_ipv4_udptcp_cksum(&headers->ip, &headers->udp) == checksum;
}

uint32_t
packet_sum(const uint8_t *bytes, size_t length)
{
	uint64_t sum = 0;

	for (size_t at = 0; at < length; at += 2) {
		uint16_t word;

		memcpy(&word, bytes + at, sizeof(word));
		sum += word;
	}
	return (uint32_t)(sum % UINT16_MAX);
}

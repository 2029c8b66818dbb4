/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <rte_byteorder.h>

#include "checksum.h"
#include "dpdk/worker_packet.h"
#include "frame.h"

uint64_t
worker_packet_pseudo_sum(const struct rte_mbuf *mbuf, const struct flow *flow)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, RTE_ETHER_HDR_LEN);

	return flow->ip6 ? rte_ipv6_phdr_cksum((const struct rte_ipv6_hdr *)ip, 0)
			 : rte_ipv4_phdr_cksum((const struct rte_ipv4_hdr *)ip, 0);
}

void
worker_packet_write(struct rte_mbuf *mbuf, const struct flow *flow,
	const struct aggregate_message *message, const struct worker_body *body)
{
	uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint8_t *payload = frame + flow_payload_offset(flow);
	struct rte_udp_hdr *udp = (struct rte_udp_hdr *)payload - 1;
	uint32_t tag = body->key == NULL ? 0 : AGGREGATE_TAG_BYTES;
	uint64_t sum;

	flow_write_headers(flow, frame, 0, (uint16_t)(AGGREGATE_HEADER_BYTES + body->length + tag));
	aggregate_build_request(payload, message);
	if (body->bytes != NULL)
		memcpy(payload + AGGREGATE_HEADER_BYTES, body->bytes, body->length);
	sum = worker_packet_pseudo_sum(mbuf, flow) +
		rte_raw_cksum(udp, sizeof(*udp) + AGGREGATE_HEADER_BYTES) + body->sum;
	if (tag > 0) {
		/* Chunks whose numbers have more than 32 bits are not sent by these programs. */
		aggregate_tag_make(body->key, payload, AGGREGATE_HEADER_BYTES + body->length, 0);
		sum += rte_raw_cksum(payload + AGGREGATE_HEADER_BYTES + body->length, tag);
	}
	udp->dgram_cksum = checksum_update(0xffff, sum);
	mbuf->data_len = (uint16_t)(worker_packet_bytes(flow, body->length) + tag);
	mbuf->pkt_len = mbuf->data_len;
}

void
worker_packet_write_short(struct rte_mbuf *mbuf, const struct flow *flow,
	const struct aggregate_message *message, const struct aggregate_tag_key *key)
{
	uint8_t bytes[AGGREGATE_HEADER_BYTES + sizeof(struct aggregate_join_wire)];
	struct worker_body body = {.bytes = bytes + AGGREGATE_HEADER_BYTES, .key = key};

	/* A join's body is written with its header. */
	aggregate_build_request(bytes, message);
	body.length = (uint32_t)(aggregate_message_bytes(message) - AGGREGATE_HEADER_BYTES);
	body.sum = rte_raw_cksum(body.bytes, body.length);
	worker_packet_write(mbuf, flow, message, &body);
}

static bool
is_sound(const struct frame *frame, const uint8_t *bytes)
{
	const uint8_t *ip = bytes + frame->network_offset;
	const struct rte_udp_hdr *udp = (const struct rte_udp_hdr *)(bytes + frame->udp_offset);
	const struct rte_ipv4_hdr *ip4 = (const struct rte_ipv4_hdr *)ip;

	if (udp->dgram_cksum == 0)
		return false;
	/* The sum of a datagram and its own checksum is zero, which UDP writes as ones. */
	if (frame->network == FRAME_IPV6)
		return rte_ipv6_udptcp_cksum((const struct rte_ipv6_hdr *)ip, udp) == UINT16_MAX;
	return rte_raw_cksum(ip4, rte_ipv4_hdr_len(ip4)) == UINT16_MAX &&
		rte_ipv4_udptcp_cksum(ip4, udp) == UINT16_MAX;
}

bool
worker_packet_read(const struct rte_mbuf *mbuf, bool verify, struct worker_reply *reply)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *), *ip;
	const struct rte_udp_hdr *udp;
	struct frame frame;

	frame_parse(mbuf, &frame);
	if (!frame.udp || mbuf->nb_segs != 1)
		return false;
	*reply = (struct worker_reply){
		.payload = bytes + frame_payload_offset(&frame),
		.length = frame.payload_length,
		.ip6 = frame.network == FRAME_IPV6,
	};
	/* A switch that leaves rounding to the workers is none that these programs test. */
	if (aggregate_parse_reply(reply->payload, frame.payload_length, &reply->message) != 0 ||
		(reply->message.code == NETFC_STATUS_OK && reply->message.reason == AGGREGATE_SUMS))
		return false;
	udp = (const struct rte_udp_hdr *)(bytes + frame.udp_offset);
	reply->src_udp = rte_be_to_cpu_16(udp->src_port);
	reply->dst_udp = rte_be_to_cpu_16(udp->dst_port);
	ip = bytes + frame.network_offset;
	if (reply->ip6)
		memcpy(reply->dst_ip, &((const struct rte_ipv6_hdr *)ip)->dst_addr, IP_BYTES);
	else
		memcpy(reply->dst_ip, &((const struct rte_ipv4_hdr *)ip)->dst_addr,
			sizeof(rte_be32_t));
	reply->sound = !verify || is_sound(&frame, bytes);
	return true;
}

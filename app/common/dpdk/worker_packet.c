/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>

#include "checksum.h"
#include "dpdk/worker_packet.h"
#include "frame.h"

/* Behind the header of a join, with its place in a tree. */
#define MAX_JOIN_BYTES                                                              \
	(sizeof(struct aggregate_join_wire) + sizeof(struct aggregate_place_wire) + \
		AGGREGATE_MAX_LEVELS * sizeof(struct aggregate_level))

/* Of a written packet's UDP pseudo header. */
static uint64_t
pseudo_sum(const struct rte_mbuf *mbuf, const struct flow *flow)
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
	uint32_t tag = body->key == NULL ? 0 : AGGREGATE_TAG_BYTES;
	uint64_t sum;

	aggregate_build_request(payload, message);
	if (body->bytes != NULL)
		memcpy(payload + AGGREGATE_HEADER_BYTES, body->bytes, body->length);
	sum = (uint64_t)rte_raw_cksum(payload, AGGREGATE_HEADER_BYTES) + body->sum;
	if (tag > 0) {
		/* Chunks whose numbers have more than 32 bits are not sent by these programs. */
		aggregate_tag_make(body->key, payload, AGGREGATE_HEADER_BYTES + body->length, 0);
		sum += checksum_at(body->length,
			rte_raw_cksum(payload + AGGREGATE_HEADER_BYTES + body->length, tag));
	}
	flow_write_headers(
		flow, frame, 0, (uint16_t)(AGGREGATE_HEADER_BYTES + body->length + tag), sum);
	mbuf->data_len = (uint16_t)(worker_packet_bytes(flow, body->length) + tag);
	mbuf->pkt_len = mbuf->data_len;
}

void
worker_packet_write_short(struct rte_mbuf *mbuf, const struct flow *flow,
	const struct aggregate_message *message, const struct aggregate_tag_key *key)
{
	uint8_t bytes[AGGREGATE_HEADER_BYTES + MAX_JOIN_BYTES];
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
worker_packet_read(
	const struct rte_mbuf *mbuf, const struct worker_keys *keys, struct worker_reply *reply)
{
	const uint8_t *bytes = rte_pktmbuf_mtod(mbuf, const uint8_t *), *ip;
	const size_t tag = keys == NULL ? 0 : AGGREGATE_TAG_BYTES;
	const struct rte_udp_hdr *udp;
	struct frame frame;

	frame_parse(mbuf, &frame);
	if (!frame.udp || mbuf->nb_segs != 1 || frame.payload_length < tag)
		return false;
	*reply = (struct worker_reply){
		.payload = bytes + frame_payload_offset(&frame),
		.length = frame.payload_length,
		.ip6 = frame.network == FRAME_IPV6,
	};
	/* These programs do not test a switch that leaves rounding to the workers. */
	if (aggregate_parse_reply(reply->payload, frame.payload_length - tag, &reply->message) !=
			0 ||
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
	reply->sound = is_sound(&frame, bytes);
	return true;
}

#define DIRECTIONS 2

struct worker_keys {
	struct aggregate_tag_key joins[DIRECTIONS], session[DIRECTIONS];
	const struct aggregate_secret *secret;
};

struct worker_keys *
worker_keys_create(const struct aggregate_secret *secret)
{
	struct worker_keys *keys = aligned_alloc(_Alignof(struct worker_keys), sizeof(*keys));

	if (keys == NULL)
		return NULL;
	keys->secret = secret;
	for (enum aggregate_direction d = 0; d < DIRECTIONS; d++)
		aggregate_tag_join_key(secret, d, &keys->joins[d]);
	worker_keys_set_session(keys, 0, 0);
	return keys;
}

void
worker_keys_set_session(struct worker_keys *keys, uint16_t job, uint64_t session)
{
	for (enum aggregate_direction d = 0; d < DIRECTIONS; d++)
		aggregate_tag_session_key(keys->secret, job, session, d, &keys->session[d]);
}

static const struct aggregate_tag_key *
key_of(const struct worker_keys *keys, uint8_t op, enum aggregate_direction direction)
{
	return op == AGGREGATE_JOIN ? &keys->joins[direction] : &keys->session[direction];
}

const struct aggregate_tag_key *
worker_keys_of(const struct worker_keys *keys, uint8_t op)
{
	return keys == NULL ? NULL : key_of(keys, op, AGGREGATE_TO_SWITCH);
}

bool
worker_keys_verify(const struct worker_keys *keys, const struct worker_reply *reply)
{
	return keys == NULL ||
		aggregate_tag_is_good(key_of(keys, reply->message.op, AGGREGATE_TO_WORKERS),
			reply->payload, reply->length, 0);
}

void
worker_keys_free(struct worker_keys *keys)
{
	if (keys != NULL)
		explicit_bzero(keys, sizeof(*keys));
	free(keys);
}

/* No worker has so high a number. */
#define NO_WORKER 255

const char *
bad_packet_name(enum bad_packet kind)
{
	static const char *const names[BAD_PACKETS] = {
#define BAD_PACKET_NAME_(symbol, name, meaning) [BAD_##symbol] = #name,
		BAD_PACKET_KINDS(BAD_PACKET_NAME_)
#undef BAD_PACKET_NAME_
	};

	return names[kind];
}

static void
spoil_magic(struct rte_udp_hdr *udp)
{
	uint8_t *magic = (uint8_t *)(udp + 1);
	uint16_t before, after;

	memcpy(&before, magic, sizeof(before));
	after = (uint16_t)~before;
	memcpy(magic, &after, sizeof(after));
	udp->dgram_cksum = checksum_update(udp->dgram_cksum, checksum_change(before, after));
}

/*
 * Neither the right one, nor none, nor the sum of the pseudo header, which is what a kernel leaves
 * for a device to finish.
 */
static void
spoil_checksum(struct rte_udp_hdr *udp, uint16_t unfinished)
{
	uint16_t right = udp->dgram_cksum;

	do
		udp->dgram_cksum++;
	while (udp->dgram_cksum % 0xffff == right % 0xffff || udp->dgram_cksum == 0 ||
		udp->dgram_cksum % 0xffff == unfinished % 0xffff);
}

void
bad_packet_write(enum bad_packet kind, struct rte_mbuf *mbuf, const struct flow *flow,
	const struct aggregate_message *message, const struct worker_body *body)
{
	static const uint8_t surplus[4];
	struct aggregate_message other = *message;
	struct worker_body content = *body;
	struct flow from = *flow;
	struct rte_udp_hdr *udp;

	switch (kind) {
	case BAD_SESSION:
		other.session++; /* to its own address the switch would answer */
		from.src_ip[1] = 66;
		break;
	case BAD_WORKER:
		other.worker = NO_WORKER;
		/* Nor is it the owner. */
		if (other.op == AGGREGATE_COPY)
			content = (struct worker_body){.length = 0};
		break;
	case BAD_ADDRESS:
		from.src_ip[1] = 66;
		break;
	case BAD_LENGTH:
		/* Nothing in the place of values, or something in the place of nothing. */
		content = (struct worker_body){
			.bytes = surplus, .length = body->length > 0 ? 0 : sizeof(surplus)};
		break;
	case BAD_JOB:
		other.job++;
		break;
	default:
		break;
	}
	worker_packet_write(mbuf, &from, &other, &content);
	udp = rte_pktmbuf_mtod_offset(mbuf, struct rte_udp_hdr *, flow_udp_offset(flow));
	if (kind == BAD_MAGIC)
		spoil_magic(udp);
	if (kind == BAD_CHECKSUM)
		spoil_checksum(udp, checksum_fold(pseudo_sum(mbuf, flow)));
}

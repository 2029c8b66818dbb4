/* SPDX-License-Identifier: BSD-3-Clause */
#include <netinet/in.h>
#include <sys/random.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_random.h>
#include <rte_tcp.h>

#include "pipeline.h"
#include "segment.h"

struct hash_secret
hash_secret_draw(void)
{
	struct hash_secret secret;

	if (getrandom(&secret, sizeof(secret), 0) != (ssize_t)sizeof(secret)) {
		for (unsigned int k = 0; k < RTE_DIM(secret.key); k++)
			secret.key[k] = rte_rand();
	}
	return secret;
}

/* The TCP header at `offset`, if there are so many bytes of it in the datagram. */
static void
read_tcp(struct rte_mbuf *mbuf, uint32_t offset, uint32_t length, struct segment *segment)
{
	const struct rte_tcp_hdr *tcp;
	struct rte_tcp_hdr copy;

	if (length < sizeof(*tcp))
		return;
	tcp = rte_pktmbuf_read(mbuf, offset, sizeof(*tcp), &copy);
	if (tcp == NULL)
		return;
	segment->kind = SEGMENT_TCP;
	segment->key.source_port = tcp->src_port;
	segment->key.destination_port = tcp->dst_port;
	segment->sequence = tcp->sent_seq;
	segment->acknowledgement = tcp->recv_ack;
	segment->flags = tcp->tcp_flags;
}

static void
read_ipv4(struct rte_mbuf *mbuf, const struct frame *frame, struct segment *segment)
{
	const struct rte_ipv4_hdr *ip;
	struct rte_ipv4_hdr copy;
	uint32_t header;

	ip = rte_pktmbuf_read(mbuf, frame->network_offset, sizeof(*ip), &copy);
	header = rte_ipv4_hdr_len(ip);
	segment->kind = SEGMENT_OTHER;
	segment->key.source = ip->src_addr;
	segment->key.destination = ip->dst_addr;
	segment->length = rte_be_to_cpu_16(ip->total_length);
	if (ip->next_proto_id != IPPROTO_TCP)
		return;
	segment->kind = SEGMENT_PARTIAL;
	/* Ports are in the first fragment only. */
	if ((ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)) == 0)
		read_tcp(mbuf, frame->network_offset + header, segment->length - header, segment);
}

void
segment_read_any(struct rte_mbuf *mbuf, const struct frame *frame, struct segment *segment)
{
	*segment = (struct segment){.kind = SEGMENT_NONE};
	if (frame->query) {
		segment->kind = SEGMENT_QUERY;
		segment->key.destination =
			rte_cpu_to_be_32(pipeline_query_destination(mbuf, frame));
	} else if (frame->network == FRAME_IPV4 && !frame->answered) {
		read_ipv4(mbuf, frame, segment);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_SEGMENT_H
#define SLOWLORIS_SEGMENT_H

/** @file The fields of a packet that the detector uses. */

#include <netinet/in.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include <rte_tcp.h>

#include "frame.h"

/* Kinds of packets. */
enum segment_kind {
	SEGMENT_NONE,    /* no IPv4, or what the switch has answered itself */
	SEGMENT_OTHER,   /* IPv4, but no TCP */
	SEGMENT_PARTIAL, /* TCP without a whole header: a later fragment, or damaged; counted
			    without a connection */
	SEGMENT_TCP,
	SEGMENT_QUERY, /* asks for `destination` */
};

/* Both ends of a connection, from its client's side; words as they stand in the packet. */
struct connection_key {
	uint32_t source;
	uint16_t source_port, destination_port;
	uint32_t destination;
	uint32_t zero; /* rte_hash compares 16 bytes faster than 12 */
};

/* The fields of a packet. */
struct segment {
	struct connection_key key; /* from the sender's side; ports are 0 in partial segments */
	rte_be32_t sequence, acknowledgement; /* as they stand in the packet */
	uint16_t length;                      /* IPv4 total length, bytes */
	uint8_t flags;                        /* of TCP */
	uint8_t kind;                         /* enum segment_kind */
};

_Static_assert(sizeof(struct segment) % 4 == 0, "ring elements are multiples of 4 bytes");

#define SEGMENT_END_FLAGS (RTE_TCP_FIN_FLAG | RTE_TCP_RST_FLAG)
#define SEGMENT_CONTROL_FLAGS (RTE_TCP_SYN_FLAG | SEGMENT_END_FLAGS)

/* Whether it asks for a connection: SYN. */
static inline bool
segment_opens(const struct segment *segment)
{
	return (segment->flags & (SEGMENT_CONTROL_FLAGS | RTE_TCP_ACK_FLAG)) == RTE_TCP_SYN_FLAG;
}

/* Whether it grants one: SYN-ACK. */
static inline bool
segment_answers(const struct segment *segment)
{
	return (segment->flags & (SEGMENT_CONTROL_FLAGS | RTE_TCP_ACK_FLAG)) ==
		(RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG);
}

/* Whether it ends one, in either direction: FIN or RST. */
static inline bool
segment_ends(const struct segment *segment)
{
	return (segment->flags & SEGMENT_END_FLAGS) != 0 &&
		(segment->flags & RTE_TCP_SYN_FLAG) == 0;
}

/*
 * The secret of a hash: h = (key[0] + key[1] * w1 + key[2] * w2 + key[3] * w3) mod 2^64 / 2^32.
 * Any two different keys collide with a probability of 2^-32 over the secrets (multilinear hashing:
 * Lemire, Kaser, "Strongly universal string hashing is fast", 2014), so nobody who does not
 * know the secret can make keys that collide more often than by chance.
 */
struct hash_secret {
	uint64_t key[4];
};

/* Draw a new secret. */
struct hash_secret hash_secret_draw(void);

static inline uint32_t
hash_connection(const struct hash_secret *secret, const struct connection_key *key)
{
	uint32_t ports = (uint32_t)key->source_port << 16 | key->destination_port;

	return (uint32_t)((secret->key[0] + secret->key[1] * key->source +
				  secret->key[2] * key->destination + secret->key[3] * ports) >>
		32);
}

static inline uint32_t
hash_address(const struct hash_secret *secret, uint32_t address)
{
	return (uint32_t)((secret->key[0] + secret->key[1] * address) >> 32);
}

/* The key from the other end's side. */
static inline struct connection_key
key_reversed(const struct connection_key *key)
{
	return (struct connection_key){
		.source = key->destination,
		.destination = key->source,
		.source_port = key->destination_port,
		.destination_port = key->source_port,
	};
}

/* Read any packet. */
void segment_read_any(struct rte_mbuf *mbuf, const struct frame *frame, struct segment *segment);

/* Read a packet: fast if it is unfragmented TCP after an IPv4 header without options. */
static inline void
segment_read(struct rte_mbuf *mbuf, const struct frame *frame, struct segment *segment)
{
	const struct segment_headers {
		struct rte_ipv4_hdr ip;
		struct rte_tcp_hdr tcp;
	} __attribute__((packed, aligned(2))) * headers;

	headers = rte_pktmbuf_mtod_offset(
		mbuf, const struct segment_headers *, frame->network_offset);
	if (unlikely(frame->network != FRAME_IPV4 ||
		    frame->network_offset + sizeof(*headers) > rte_pktmbuf_data_len(mbuf) ||
		    headers->ip.version_ihl != RTE_IPV4_VHL_DEF ||
		    headers->ip.next_proto_id != IPPROTO_TCP || frame_is_fragment(&headers->ip) ||
		    rte_be_to_cpu_16(headers->ip.total_length) < sizeof(*headers))) {
		segment_read_any(mbuf, frame, segment);
		return;
	}
	segment->key.source = headers->ip.src_addr;
	segment->key.destination = headers->ip.dst_addr;
	segment->key.source_port = headers->tcp.src_port;
	segment->key.destination_port = headers->tcp.dst_port;
	segment->key.zero = 0;
	segment->sequence = headers->tcp.sent_seq;
	segment->acknowledgement = headers->tcp.recv_ack;
	segment->length = rte_be_to_cpu_16(headers->ip.total_length);
	segment->flags = headers->tcp.tcp_flags;
	segment->kind = SEGMENT_TCP;
}

#endif /* SLOWLORIS_SEGMENT_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENDPOINT_H
#define ENDPOINT_H

/** @file The switch as a host: what it answers under its addresses. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "checksum.h"
#include "endpoint/addresses.h"
#include "frame.h"
#include "observe/counters.h"

/*
 * The switch as a host: it answers to its addresses, so that any program with a UDP socket can use
 * it. ARP (RFC 826), neighbour discovery (RFC 4861), ping (RFC 792, RFC 4443) and NetFC requests.
 *
 * Answers leave by the port where the question came in, to the MAC address it came from, whatever
 * the routes: the switch needs none.
 */

/** The addresses of one port. */
struct endpoint {
	struct rte_ether_addr mac;
	checksum_fn *checksum; /**< by the processor's best instruction set */
	unsigned int count;
	struct address address[MAX_ADDRESSES];
	uint16_t aggregate_port;  /**< the first UDP port of aggregations */
	uint16_t aggregate_ports; /**< how many there are, at least 1 */
	bool asks;                /**< the switch resolves addresses itself */
};

/** What to do with a packet. */
enum verdict {
	VERDICT_FORWARD,   /**< it is for another host */
	VERDICT_ANSWER,    /**< it has become the answer */
	VERDICT_DROP,      /**< it was for the switch, which has nothing to say */
	VERDICT_AGGREGATE, /**< to a UDP port of aggregations */
	VERDICT_NEIGHBOUR, /**< it may say where another host is */
};

/** Choose the addresses of a port. */
void endpoint_init(struct endpoint *endpoint, const struct addresses *addresses, uint16_t port,
	const struct rte_ether_addr *mac);

/**
 * Whether a request may be computed: it is for others, or undamaged and from a host. Then its UDP
 * checksum is complete, so that the reply's is right when the pipeline has updated it. See struct
 * pipeline_gate.
 */
bool endpoint_admit(const void *endpoint, struct rte_mbuf *mbuf, struct frame *frame);

/**
 * Answer a packet if it is for the switch.
 *
 * @param frame what pipeline_process_admitted() found, with endpoint_admit()
 * @param reason why it is to be dropped, with VERDICT_DROP
 */
enum verdict endpoint_handle(const struct endpoint *endpoint, struct rte_mbuf *mbuf,
	const struct frame *frame, enum drop_reason *reason);

/*
 * Turn a question into its answer, in place. Each returns whether it could: headers must be whole,
 * and in the first segment. `checksum` computes the sums of datagrams.
 */

/** Time to live and hop limit of an answer (RFC 1700). */
#define ANSWER_HOPS 64

/** Send the frame back, from `mac`. */
void answer_ethernet(struct rte_mbuf *mbuf, const struct rte_ether_addr *mac);

/** ARP request to reply (RFC 826). */
bool answer_arp(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac);

/**
 * A computed UDP datagram to its sender, its checksum being right: turning it changes no sum.
 *
 * @param mbuf headers in the first segment
 */
void answer_udp(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac);

/**
 * Verify the checksums of a request, and write that of UDP where there is none or only a partial
 * one, which no update could mend: the kernel sends such over a virtual interface.
 *
 * @param frame gets the checksum, too
 * @return false: it is damaged, or its headers are not in the first segment
 */
bool answer_complete_udp(struct rte_mbuf *mbuf, struct frame *frame, checksum_fn *checksum);

/**
 * Whether a datagram that has not been answered is as it was sent: its checksums are right. What
 * the kernel sends over a virtual interface may carry a partial UDP checksum, which is right, too.
 *
 * @param mbuf headers in the first segment
 */
bool answer_verify_udp(struct rte_mbuf *mbuf, const struct frame *frame, checksum_fn *checksum);

/**
 * Cut a datagram's payload to so many bytes; answer_turn_udp() makes the checksums right.
 *
 * @param mbuf one segment
 */
void answer_cut_udp(struct rte_mbuf *mbuf, const struct frame *frame, uint16_t payload);

/** Mark a packet as a congested router does (RFC 3168), if it is capable of that; likewise. */
void answer_mark(struct rte_mbuf *mbuf, const struct frame *frame);

/**
 * A datagram to its sender: addresses and ports swapped, checksums computed.
 *
 * @param mbuf headers in the first segment
 */
void answer_turn_udp(struct rte_mbuf *mbuf, const struct frame *frame,
	const struct rte_ether_addr *mac, checksum_fn *checksum);

/** Whether a datagram on the NetFC port is a reply. */
bool answer_is_reply(const struct rte_mbuf *mbuf, const struct frame *frame);

enum ping_result {
	PING_ANSWERED,
	PING_NONE, /**< no echo request */
	PING_MALFORMED,
};

/** ICMP (RFC 792) or ICMPv6 (RFC 4443) echo request to reply. */
enum ping_result
answer_ping(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac);

#endif /* ENDPOINT_H */

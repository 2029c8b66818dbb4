/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ANSWER_H
#define ANSWER_H

/**
 * @file
 * Turn a question into its answer, in place. Each returns whether it could: headers must be whole,
 * and in the first segment. `checksum` computes the sums of datagrams.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "checksum.h"
#include "frame.h"

/** Time to live and hop limit of an answer (RFC 1700). */
#define ANSWER_HOPS 64

/** Send the frame back, from `mac`. */
void answer_ethernet(struct rte_mbuf *mbuf, const struct rte_ether_addr *mac);

/** ARP request to reply (RFC 826). */
bool answer_arp(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac);

/**
 * A computed UDP datagram to its sender. The checksum is computed afresh: what the kernel sends
 * over a virtual interface may carry a partial one, which no update can mend.
 */
bool answer_udp(struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac,
	checksum_fn *checksum);

/**
 * Whether a datagram that has not been answered is as it was sent: its checksums are right. What
 * the kernel sends over a virtual interface may carry a partial UDP checksum, which is right, too.
 *
 * @param mbuf headers in the first segment
 */
bool answer_is_sound_udp(struct rte_mbuf *mbuf, const struct frame *frame, checksum_fn *checksum);

/**
 * Cut a datagram's payload to so many bytes; answer_turn_udp() makes the checksums right.
 *
 * @param mbuf one segment
 */
void answer_cut_udp(struct rte_mbuf *mbuf, const struct frame *frame, uint16_t payload);

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

#endif /* ANSWER_H */

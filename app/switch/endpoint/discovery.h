/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DISCOVERY_H
#define DISCOVERY_H

/** @file IPv6 neighbour discovery (RFC 4861): solicitations and advertisements, both ways. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "frame.h"

/** Bytes of a solicitation, including the Ethernet header. */
#define DISCOVERY_SOLICITATION_BYTES 86

/**
 * Whether an IPv6 packet is a valid neighbour solicitation (section 7.1.1).
 *
 * @param target the address that it asks for
 */
bool discovery_solicited_address(
	const struct rte_mbuf *mbuf, const struct frame *frame, uint8_t target[16]);

/**
 * Neighbour solicitation to advertisement, in place (section 7.2.4).
 *
 * @return false: headers are not whole, or not in the first segment
 */
bool discovery_answer(
	struct rte_mbuf *mbuf, const struct frame *frame, const struct rte_ether_addr *mac);

/**
 * Write a solicitation, a whole frame (section 7.2.2).
 *
 * @param mac, own addresses of the sender
 * @param target the address that it asks for
 * @param frame DISCOVERY_SOLICITATION_BYTES
 */
void discovery_write_solicitation(const struct rte_ether_addr *mac, const uint8_t own[16],
	const uint8_t target[16], uint8_t *frame);

/**
 * Whether an IPv6 packet is a valid advertisement that was asked for (section 7.1.2).
 *
 * @param own address that asked
 * @param target the address that was asked for
 * @param mac where it is
 */
bool discovery_read_advertisement(const struct rte_mbuf *mbuf, const struct frame *frame,
	const uint8_t own[16], const uint8_t target[16], struct rte_ether_addr *mac);

#endif /* DISCOVERY_H */

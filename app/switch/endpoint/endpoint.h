/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ENDPOINT_H
#define ENDPOINT_H

/**
 * @file
 * The switch as a host: it answers to its addresses, so that any program with a UDP socket can use
 * it. ARP (RFC 826), neighbour discovery (RFC 4861), ping (RFC 792, RFC 4443) and NetFC requests.
 *
 * Answers leave by the port where the question came in, to the MAC address it came from, whatever
 * the routes: the switch needs none.
 */

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "checksum.h"
#include "endpoint/addresses.h"
#include "observe/counters.h"
#include "frame.h"

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
 * Answer a packet if it is for the switch.
 *
 * @param frame what pipeline_process() found
 * @param reason why it is to be dropped, with VERDICT_DROP
 */
enum verdict endpoint_handle(const struct endpoint *endpoint, struct rte_mbuf *mbuf,
	const struct frame *frame, enum drop_reason *reason);

#endif /* ENDPOINT_H */

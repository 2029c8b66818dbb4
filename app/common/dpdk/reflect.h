/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REFLECT_H
#define REFLECT_H

/** @file Send packets back to where they came from. */

#include <rte_mbuf.h>

#include "frame.h"

/**
 * Swap source and destination: MAC addresses, the IP addresses of an IP packet, the ports of a UDP
 * datagram. Checksums stay right, as sums do not depend on the order.
 */
void reflect(struct rte_mbuf **mbufs, const struct frame *frames, uint16_t count);

#endif /* REFLECT_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ANSWER_COMMON_H
#define ANSWER_COMMON_H

/** @file What the files that write answers share. */

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "mbuf_bytes.h"

/* Time to live and hop limit of an answer (RFC 1700). */
#define ANSWER_HOPS 64

#define ICMPV6_ECHO_REQUEST 128
#define ICMPV6_ECHO_REPLY 129
#define ICMPV6_NEIGHBOUR_SOLICITATION 135
#define ICMPV6_NEIGHBOUR_ADVERTISEMENT 136

/* Send the frame back, from `mac`. */
void answer_ethernet(struct rte_mbuf *mbuf, const struct rte_ether_addr *mac);

#endif /* ANSWER_COMMON_H */

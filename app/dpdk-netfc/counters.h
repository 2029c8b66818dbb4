/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNTERS_H
#define COUNTERS_H

/** @file What becomes of packets: received + copies = transmitted + dropped, by reason. */

#include <stdint.h>

/**
 * Why a packet is dropped: X(symbol, name, meaning). Everything that lists the reasons comes from
 * here.
 */
#define DROP_REASONS(X)                                                                         \
	X(TX_FULL, "tx_full",                                                                   \
		"the port did not take it: its queue stayed full, or the packet is too long")   \
	X(NO_MBUF, "no_mbuf", "no packet buffer for a copy")                                    \
	X(OVERSIZE, "oversize", "longer than the MTU of the port where it should leave")        \
	X(RUNT, "runt", "too short for an Ethernet header")                                     \
	X(SAME_PORT, "same_port", "its destination is where it came from")                      \
	X(LINK_LOCAL, "link_local", "addressed to this link only")                              \
	X(BAD_VLAN, "bad_vlan", "in VLAN 4095, which is reserved")                              \
	X(STRAY_REPLY, "stray_reply", "addressed to the switch: a NetFC reply")                 \
	X(NOT_NETFC, "not_netfc", "addressed to the switch: on the NetFC port, but no request") \
	X(NO_SERVICE, "no_service", "addressed to the switch: for something it does not offer") \
	X(MALFORMED, "malformed", "addressed to the switch: damaged or incomplete")

enum drop_reason {
#define DROP_ENUM_(symbol, name, meaning) DROP_##symbol,
	DROP_REASONS(DROP_ENUM_)
#undef DROP_ENUM_
	DROP_REASON_COUNT
};

/** Packet counters of one lcore, which alone writes them. */
struct packet_counters {
	uint64_t rx_packets;
	uint64_t tx_packets;
	uint64_t copies; /**< made to leave by more than one port */
	uint64_t
		answers; /**< sent by the switch itself, of the transmitted: ARP, ND, ping, NetFC */
	uint64_t drops[DROP_REASON_COUNT];
};

#endif /* COUNTERS_H */

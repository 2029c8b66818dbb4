/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNTERS_H
#define COUNTERS_H

/** @file What happens to packets: received + copies = transmitted + taken up + dropped. */

#include <stddef.h>
#include <stdint.h>

/**
 * Why a packet is dropped: X(symbol, name, meaning). Everything that lists the reasons comes from
 * here.
 */
#define DROP_REASONS(X)                                                                            \
	X(TX_FULL, "tx_full",                                                                      \
		"the port refused it: its queue stayed full, or the packet is too long")           \
	X(PORT_GONE, "port_gone", "the device of the port where it should leave has vanished")     \
	X(NO_MBUF, "no_mbuf", "no packet buffer for a copy")                                       \
	X(OVERSIZE, "oversize", "longer than the MTU of the port where it should leave")           \
	X(RUNT, "runt", "too short for an Ethernet header")                                        \
	X(SAME_PORT, "same_port", "its destination is behind the port that it came from")          \
	X(LINK_LOCAL, "link_local", "addressed to this link only")                                 \
	X(BAD_VLAN, "bad_vlan", "in VLAN 4095, which is reserved")                                 \
	X(STRAY_REPLY, "stray_reply", "addressed to the switch: a NetFC reply")                    \
	X(NOT_NETFC, "not_netfc", "addressed to the switch: on the NetFC port, but no request")    \
	X(NO_SERVICE, "no_service",                                                                \
		"addressed to the switch: for a service that it does not offer")                   \
	X(MALFORMED, "malformed", "addressed to the switch: damaged, incomplete, or from no host") \
	X(AGGREGATE_DENIED, "aggregate_denied", "to an aggregation, but from none of its workers") \
	X(AGGREGATE_INBOX, "aggregate_inbox",                                                      \
		"the lcore that aggregates had too many packets waiting")                          \
	X(SLOWLORIS_DESTINATION, "slowloris_destination", "its destination is under attack")       \
	X(SLOWLORIS_CONNECTION, "slowloris_connection",                                            \
		"a slow connection to a destination under attack")

enum drop_reason {
#define DROP_ENUM_(symbol, name, meaning) DROP_##symbol,
	DROP_REASONS(DROP_ENUM_)
#undef DROP_ENUM_
	DROP_REASON_COUNT
};

/**
 * What became of a packet that an aggregation has taken up, without a fault of anyone's:
 * X(symbol, name, meaning).
 */
#define TAKEN_REASONS(X)                                                    \
	X(AGGREGATED, "aggregated", "values that an aggregation has added") \
	X(AGGREGATE_REPEATED, "aggregate_repeated",                         \
		"values that an aggregation has already, or needs no more") \
	X(PARENT, "parent", "from an aggregation's parent, or an answer where it is")

enum taken_reason {
#define TAKEN_ENUM_(symbol, name, meaning) TAKEN_##symbol,
	TAKEN_REASONS(TAKEN_ENUM_)
#undef TAKEN_ENUM_
	TAKEN_REASON_COUNT
};

/** Other counters of an lcore: X(name, meaning). */
#define PACKET_COUNTERS(X)                                                              \
	X(rx_packets, "packets received")                                               \
	X(tx_packets, "packets sent")                                                   \
	X(copies, "made to leave by more than one port")                                \
	X(answers, "sent by the switch itself, of the sent ones: ARP, ND, ping, NetFC") \
	X(polls, "polls of receive queues")                                             \
	X(busy_polls, "polls that found packets")                                       \
	X(cycles, "TSC cycles of polling and sleeping")                                 \
	X(busy_cycles, "those of rounds over the queues that found packets")            \
	X(sleep_cycles, "those of sleep while nothing came")                            \
	X(interrupts, "sleeps that a receive interrupt or a signal ended")

/** Packet counters of one lcore, which alone writes them. */
struct packet_counters {
#define COUNTER_FIELD_(name, meaning) uint64_t name; /**< meaning */
	PACKET_COUNTERS(COUNTER_FIELD_)
#undef COUNTER_FIELD_
	uint64_t taken_up[TAKEN_REASON_COUNT];
	uint64_t drops[DROP_REASON_COUNT];
};

/** What a device counts: X(name, field of struct rte_eth_stats, meaning). */
#define DEVICE_TRAFFIC(X)                           \
	X(rx_packets, ipackets, "packets received") \
	X(tx_packets, opackets, "packets sent")     \
	X(rx_bytes, ibytes, "bytes received")       \
	X(tx_bytes, obytes, "bytes sent")

/** Packets that a device loses, before lcores receive or after they send; in the same form. */
#define DEVICE_LOSSES(X)                                                    \
	X(rx_missed, imissed, "arrived while the receive queue was full")   \
	X(rx_errors, ierrors, "arrived damaged")                            \
	X(rx_no_mbuf, rx_nombuf, "arrived while no packet buffer was free") \
	X(tx_errors, oerrors, "not sent, though the device had accepted them")

#define DEVICE_COUNTERS(X) DEVICE_TRAFFIC(X) DEVICE_LOSSES(X)

/** Add counters, so many bytes of uint64_t, to a sum. */
static inline void
counters_add(void *sum, const void *counters, size_t bytes)
{
	for (size_t c = 0; c < bytes / sizeof(uint64_t); c++)
		((uint64_t *)sum)[c] += ((const uint64_t *)counters)[c];
}

#endif /* COUNTERS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNTERS_H
#define COUNTERS_H

/** @file What becomes of packets: received = transmitted + dropped, by reason. */

#include <stdint.h>

/**
 * Why a packet is dropped: X(symbol, name, meaning). Everything that lists the reasons comes from
 * here.
 */
#define DROP_REASONS(X) X(TX_FULL, "tx_full", "the transmit queue stayed full")

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
	uint64_t drops[DROP_REASON_COUNT];
};

#endif /* COUNTERS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_H
#define BENCH_H

/** @file The application: one struct for all of it. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "workload/deck.h"
#include "run/flight.h"
#include "histogram.h"
#include "check/mismatch.h"
#include "options/options.h"
#include "run/tally.h"

#define PROGRAM "netfc-bench"

/** Packets per burst. */
#define BENCH_BURST 32

/** A DPDK port that is sent from, received at, or both. */
struct port {
	uint16_t id;
	uint16_t rx_descriptors, tx_descriptors;
	struct rte_eth_dev_info info;
	bool started;
};

/** Why sending ended. */
enum run_end {
	END_PACKETS, /**< as many as wanted */
	END_SECONDS, /**< as long as wanted */
	END_SIGNAL,
	END_STUCK, /**< the port took no more packets */
};

/** What the run writes; one lcore does. */
struct run {
	struct flight flight;
	struct tally tally;
	struct mismatches mismatches;
	struct histogram latency; /**< TSC cycles */
	enum run_end end;
	uint32_t next_card;
	uint32_t newest_id; /**< of those answered */
	unsigned int unsent_count;
	struct rte_mbuf *unsent[BENCH_BURST]; /**< made, but not taken by the port yet */
	struct slot *unsent_slots[BENCH_BURST];
	uint8_t scratch[UINT16_MAX];
};

/** The switch in this process. */
struct inside;

/** The application. */
struct bench {
	struct options options;
	struct netfc_set *set;
	struct operands operands;
	struct inside *inside; /**< NULL: the switch is elsewhere */
	unsigned int port_count;
	struct port port[2];
	uint16_t tx_port, rx_port; /**< ids */
	struct rte_mempool *pool;
	struct deck deck;
	struct run run;
	bool quit; /**< set by a signal */
	unsigned int buffers_lost;
};

static inline bool
bench_should_quit(const struct bench *bench)
{
	return __atomic_load_n(&bench->quit, __ATOMIC_RELAXED);
}

#endif /* BENCH_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_H
#define BENCH_H

/** @file The application: one struct for all of it. */

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "check/check.h"
#include "embedded.h"
#include "histogram.h"
#include "options/options.h"
#include "run/in_flight.h"
#include "workload/workload.h"

/*
 * What has become of packets. In the end, sent = answered + lost, and
 * received = answered + late + duplicates + ids never sent + others.
 */

/** What is counted, in the order of --json: X(name, meaning). */
#define RUN_COUNTERS(X)                                                         \
	X(received, "packets of all kinds")                                     \
	X(right, "of those answered in time")                                   \
	X(wrong, "replies of any kind with something wrong")                    \
	X(lost, "not answered in time")                                         \
	X(late, "replies to those lost")                                        \
	X(duplicates, "further replies to those answered")                      \
	X(reordered, "answered after one that was sent later")                  \
	X(reorder_extent, "by how many packets one was overtaken at most")      \
	X(others, "received, but no NetFC")                                     \
	X(held_back, "packets that the rate asked for, but that were not sent") \
	X(refused, "times the port did not take a packet")                      \
	X(no_buffer, "times there was no packet buffer")

/** Written by the lcore that sends and receives; others may read at any time. */
struct run_counters {
#define RUN_FIELD_(name, meaning) uint64_t name;
	RUN_COUNTERS(RUN_FIELD_)
#undef RUN_FIELD_
	uint64_t sent;
	uint64_t answered;                        /**< in time */
	uint64_t start, last_sent, last_received; /**< TSC */
};

/* The application: one struct for all of it. */

#define PROGRAM "netfc-bench"

/** Packets per burst. */
#define BENCH_BURST 32

/** A DPDK port that is sent from, received at, or both. */
struct port {
	uint16_t id;
	uint16_t queues; /**< of either direction */
	uint16_t rx_descriptors, tx_descriptors;
	struct rte_eth_dev_info info;
	bool started;
};

/** Why sending ended. */
enum run_end {
	END_PACKETS, /**< --packets were sent */
	END_SECONDS, /**< --seconds have passed */
	END_SIGNAL,
	END_STUCK, /**< the port took no more packets */
};

/** State of the run, which one lcore writes. */
struct run {
	struct in_flight in_flight;
	struct run_counters counters;
	struct mismatches mismatches;
	struct histogram latency; /**< TSC cycles */
	enum run_end end;
	uint32_t next_request;
	uint32_t newest_id; /**< answered so far */
	unsigned int unsent_count;
	struct rte_mbuf *unsent[BENCH_BURST]; /**< made, but not taken by the port yet */
	struct sent_packet *unsent_packets[BENCH_BURST];
	uint8_t scratch[UINT16_MAX];
};

/** The application. */
struct bench {
	struct options options;
	struct netfc_set *set;
	struct function_table *function; /**< NULL: --op is none */
	struct operands operands;
	struct embedded *embedded; /**< NULL: the switch is elsewhere */
	unsigned int port_count;
	struct port port[2];
	uint16_t tx_port, rx_port;   /**< ids */
	uint16_t tx_queue, rx_queue; /**< in turn */
	struct rte_mempool *pool;
	struct workload workload;
	struct run run;
	bool quit; /**< set by a signal */
	unsigned int buffers_lost;
	struct accuracies accuracies; /**< of the right replies, after the run */
};

/** The queue of a port after this one. */
static inline uint16_t
bench_next_queue(const struct bench *bench, uint16_t queue)
{
	return queue + 1 < bench->port[0].queues ? (uint16_t)(queue + 1) : 0;
}

static inline bool
bench_should_quit(const struct bench *bench)
{
	return __atomic_load_n(&bench->quit, __ATOMIC_RELAXED);
}

#endif /* BENCH_H */

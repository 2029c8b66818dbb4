/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APP_H
#define APP_H

/** @file The application: one struct for all of it, one per lcore. */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mempool.h>

#include "observe/counters.h"
#include "capture/capture_tap.h"
#include "endpoint/endpoint.h"
#include "histogram.h"
#include "options/options.h"
#include "pipeline.h"
#include "program.h"
#include "ctrl_thread.h"
#include "tables/tables.h"
#include "sleep/sleeper.h"
#include "slowloris.h"
#include "forward/fdb.h"

struct aggregation;
struct alerts;
struct shard;
struct trace_slot;

/** Receive queues that one lcore may serve. */
#define MAX_RX_QUEUES 256u

/** A port that packets go through. */
struct port {
	uint16_t id;  /**< the ethdev's */
	bool gone;    /**< its device has vanished: lcores leave it alone */
	uint16_t out; /**< index of the port where its packets leave; not used by a bridge */
	uint16_t rx_queues, tx_queues;
	uint16_t rx_descriptors, tx_descriptors;
	uint32_t max_frame; /**< bytes of a frame that may leave; UINT32_MAX without --mtu, 0: gone
			     */
	char name[RTE_ETH_NAME_MAX_LEN];   /**< the ethdev's */
	char device[RTE_DEV_NAME_MAX_LEN]; /**< on its bus */
	struct rte_eth_dev_info info;
	struct endpoint endpoint;
	unsigned int rules; /**< for steering, that the device has taken */
	bool owns_mac;      /**< its MAC address is the switch's alone */
	bool started;
	bool removed; /**< the EAL's interrupt thread has heard that it goes */
	bool counted; /**< gone, and `last` is what its device had counted */
	struct rte_eth_stats last;
};

/** A receive queue that an lcore polls. */
struct rx_queue {
	uint16_t port; /**< index */
	uint16_t queue;
};

/** Packets that wait for the end of the burst, by port. */
struct tx_buffer {
	uint16_t count;
	uint64_t untaken; /**< packets that the port did not take, once for each try */
	struct rte_mbuf *mbuf[PIPELINE_BURST];
};

/**
 * The state of one lcore. While it runs, only that lcore writes here, except where tables_put()
 * does. Processors prefetch cache lines in pairs, so alignment to one line is not enough.
 */
struct lcore {
	struct packet_counters counters;
	struct pipeline_worker *worker;     /**< put in place by tables_put() */
	struct pipeline_counters retired;   /**< sum over its earlier workers; likewise */
	struct slowloris_worker *slowloris; /**< NULL without --slowloris */
	struct capture_tap *capture;        /**< NULL: none; put in place by capture_start() */
	struct trace_slot *trace;           /**< NULL: none; put in place by trace_json() */
	struct shard *shard;                /**< of aggregations; NULL: none */
	struct tx_buffer *tx_buffer;        /**< by port's index */
	struct rte_mempool *pool;           /**< of its socket */
	struct histogram *latency;          /**< TSC cycles; NULL without --latency */
	bool aggregates;                    /**< the queue assignment gives it a shard */
	uint16_t shard_index;               /**< which */
	uint64_t polled;                    /**< TSC after the last round over its queues */
	uint64_t rounds;                    /**< of them: one passes at least every 10 ms */
	struct sleeper sleeper;             /**< where it finds nothing */
	unsigned int rx_queue_count;
	struct rx_queue rx_queue[MAX_RX_QUEUES];
	uint16_t tx_queue[RTE_MAX_ETHPORTS]; /**< by port's index: this lcore's own */
} __rte_aligned(2 * RTE_CACHE_LINE_SIZE);

/** The application. Lcores only read the fields before their own structs. */
struct app {
	struct options options;
	struct sets sets;
	struct functions functions;
	struct pipeline *pipeline[RTE_MAX_NUMA_NODES]; /**< by socket; NULL: not in use */
	struct rte_mempool *pool[RTE_MAX_NUMA_NODES];  /**< likewise */
	struct rte_rcu_qsbr *qsbr;       /**< each lcore with rx queues reports between bursts */
	struct fdb *fdb;                 /**< NULL: no bridge */
	struct slowloris *slowloris;     /**< NULL without --slowloris */
	struct alerts *alerts;           /**< likewise */
	struct aggregation *aggregation; /**< NULL without --aggregate */
	uint32_t shard_count;            /**< of aggregations */
	struct capture *capture;         /**< running, or the last one; NULL: none yet */
	unsigned int port_count;
	bool quit; /**< set once, by a signal or when idle */
	struct port port[RTE_MAX_ETHPORTS];
	struct lcore lcore[RTE_MAX_LCORE];
	struct ticker port_watch;
	bool deserted;             /**< the last port has gone */
	uint64_t started, stopped; /**< TSC when polling began and ended; 0: not yet */
	/** Held by a trace, which waits, and to change what it uses; taken before the state's. */
	pthread_mutex_t trace_lock;
	pthread_mutex_t state_lock;  /**< held to show or change the state; never by lcores */
	pthread_mutex_t change_lock; /**< held to change tables and settings; never by lcores */
	bool commanded;  /**< threads take commands: no signal ends what they wait for */
	int reload;      /**< written to where --init is to be done again; -1: there is none */
	bool observable; /**< guarded by the first two: the state is complete and may be shown */
	unsigned int mbufs_leaked;
	unsigned int mbufs_kept; /**< by drivers that free none when their port is closed */
};

/** Whether a port has vanished; lcores ask before each use. */
static inline bool
port_is_gone(const struct port *port)
{
	return __atomic_load_n(&port->gone, __ATOMIC_RELAXED);
}

/** Whether an lcore polls rx queues or aggregates. */
static inline bool
lcore_works(const struct lcore *lcore)
{
	return lcore->rx_queue_count > 0 || lcore->aggregates;
}

/** Whether an lcore needs memory of its socket. The main one always does, for housekeeping. */
static inline bool
lcore_in_use(const struct app *app, unsigned int lcore_id)
{
	return lcore_works(&app->lcore[lcore_id]) || lcore_id == rte_get_main_lcore();
}

/** Any of the pipelines: they differ only in their NUMA node. */
static inline const struct pipeline *
app_pipeline(const struct app *app)
{
	return app->pipeline[rte_lcore_to_socket_id(rte_get_main_lcore())];
}

static inline bool
app_should_quit(const struct app *app)
{
	return __atomic_load_n(&app->quit, __ATOMIC_RELAXED);
}

static inline void
app_quit(struct app *app)
{
	__atomic_store_n(&app->quit, true, __ATOMIC_RELAXED);
}

/** How long packets have been polled for. */
static inline double
app_seconds(const struct app *app)
{
	uint64_t end = app->stopped != 0 ? app->stopped : rte_rdtsc();

	return app->started != 0 ? (double)(end - app->started) / (double)rte_get_tsc_hz() : 0;
}

#endif /* APP_H */

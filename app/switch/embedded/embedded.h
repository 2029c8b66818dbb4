/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EMBEDDED_H
#define EMBEDDED_H

/**
 * @file
 * dpdk-netfc in the process of a load generator: all of its data path, on the main lcore and those
 * that follow, behind a port made of rings. The load has the lcore after those. For machines that
 * have neither NICs nor hugepages.
 */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "match.h"
#include "pipeline.h"

/** Greatest number of lcores. Each has a queue, and the driver has no more of them. */
#define EMBEDDED_MAX_LCORES 16

struct embedded_config {
	const char *tables;    /**< as --tables takes them */
	const char *functions; /**< as --functions takes them; NULL: none */
	enum match_kind match;
	uint16_t udp_port;
	uint16_t mtu; /**< 0: the port's own */
	unsigned int lcores;
	bool yields;             /**< lcores may share their CPUs with the load */
	uint32_t packets;        /**< packets that may wait in either direction of a queue */
	const char *address;     /**< of aggregations; NULL: there are none */
	uint16_t aggregate_port; /**< the first UDP port, and what follows: as its keys */
	uint32_t slots, workers, bytes;
	const char *key;     /**< file of the cluster's key; empty: none */
	unsigned int digits; /**< formats of exact sums, a set of bits 1 << format */
	const char *parent;  /**< of a leaf, behind any other port; NULL: it is none */
};

/** The switch in this process. */
struct embedded;

/**
 * Load table sets and functions. Errors, now or later, are reported on stderr.
 *
 * @return 0 or -1; embedded_free() frees in both cases
 */
int embedded_load(const struct embedded_config *config, struct embedded **embedded);

/** Make the pipeline alone, of a switch that is not to run. 0 or -1. */
int embedded_create_pipeline(struct embedded *embedded);

const struct pipeline *embedded_pipeline(const struct embedded *embedded);

/** The loaded table set of a format; NULL: none. */
const struct netfc_set *embedded_set(const struct embedded *embedded, unsigned int format);

/** Make rings, ports, and the whole switch. 0 or -1. */
int embedded_create(struct embedded *embedded);

/** The DPDK port that is connected to it. */
uint16_t embedded_port(const struct embedded *embedded);

/** Packet buffers for those that are in flight. */
unsigned int embedded_buffers(const struct embedded *embedded);

/** The lcore that the load gets. */
unsigned int embedded_load_lcore(const struct embedded *embedded);

/** Start its port. 0 or -1. */
int embedded_start(struct embedded *embedded);

/** Run the switch, on this lcore, too, while the load runs on its own. 0 or -1. */
int embedded_run(struct embedded *embedded, void (*load)(void));

/** Stop it, and free what is in its rings; NULL is allowed. */
void embedded_stop(struct embedded *embedded);

/** What it has done. */
struct embedded_totals {
	uint64_t packets; /**< received */
	double seconds;   /**< of its threads, with packets to work on, over all lcores */
	unsigned int mbufs_leaked;
};

void embedded_totals(const struct embedded *embedded, struct embedded_totals *totals);

/** What became of an aggregation's packets, by name; the caller owns it. */
json_t *embedded_actions(const struct embedded *embedded);

/** Free it, after all ports have been stopped; NULL is allowed. */
void embedded_free(struct embedded *embedded);

#endif /* EMBEDDED_H */

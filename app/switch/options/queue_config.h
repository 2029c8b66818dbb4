/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUEUE_CONFIG_H
#define QUEUE_CONFIG_H

/** @file --config: which lcore polls which receive queue, written as DPDK's l3fwd takes it. */

#include <stdint.h>
#include <stdio.h>

/** Maximum number of receive queues, over all ports. */
#define MAX_QUEUE_PLACES 1024

/** A receive queue, and the lcore that polls it. */
struct queue_place {
	uint16_t port; /**< the ethdev's id */
	uint16_t queue;
	uint16_t lcore;
};

/** All of them; none: the switch spreads the queues itself. */
struct queue_config {
	unsigned int count;
	struct queue_place place[MAX_QUEUE_PLACES];
};

/** Reads (PORT,QUEUE,LCORE)[,...]; an option_parse, `field` is a struct queue_config. */
int queue_config_parse(FILE *errors, const char *option, const char *text, void *field);

#endif /* QUEUE_CONFIG_H */

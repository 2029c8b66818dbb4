/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INSIDE_H
#define INSIDE_H

/**
 * @file
 * The switch in this process: the pipeline of dpdk-netfc on an lcore of its own, which reflects
 * what comes over a pair of rings. For machines that have neither NICs nor hugepages.
 */

#include "bench.h"

/** Make the switch, its rings and ports. 0, or -1 (said on stderr). */
int inside_create(struct bench *bench);

/** The DPDK port that leads to it. */
uint16_t inside_port(const struct inside *inside);

/** Packet buffers that its rings hold. */
unsigned int inside_buffers(const struct inside *inside);

/** Start it, with bench->pool's buffers. 0, or -1 (said on stderr). */
int inside_start(struct bench *bench);

/** Stop it, and free what is in its rings; NULL is allowed. */
void inside_stop(struct inside *inside);

/** Free it, after all ports have been stopped; NULL is allowed. */
void inside_free(struct inside *inside);

#endif /* INSIDE_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INLINE_SWITCH_H
#define INLINE_SWITCH_H

/**
 * @file
 * The switch in this process, for --inline: the pipeline of dpdk-netfc on an lcore of its own,
 * which reflects what comes over a pair of rings. For machines that have neither NICs nor
 * hugepages.
 */

#include "bench.h"

/** Make the switch, its rings and ports. 0, or -1 (said on stderr). */
int inline_switch_create(struct bench *bench);

/** The DPDK port that is connected to it. */
uint16_t inline_switch_port(const struct inline_switch *inline_switch);

/** Packet buffers that its rings hold. */
unsigned int inline_switch_buffers(const struct inline_switch *inline_switch);

/** Start it, with bench->pool's buffers. 0, or -1 (said on stderr). */
int inline_switch_start(struct bench *bench);

/** Stop it, and free what is in its rings; NULL is allowed. */
void inline_switch_stop(struct inline_switch *inline_switch);

/** Free it, after all ports have been stopped; NULL is allowed. */
void inline_switch_free(struct inline_switch *inline_switch);

#endif /* INLINE_SWITCH_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_RTT_H
#define ALLREDUCE_RTT_H

/**
 * @file
 * The time from a chunk to its result, and how long to wait for it (RFC 6298). Samples are of
 * chunks that were sent once only (Karn and Partridge, 1987).
 *
 * A sample contains the time until the slowest worker's packet came. One late worker is no reason
 * to wait long for lost packets ever after: a sample counts as twice the present time-out at most.
 */

#include <stdbool.h>
#include <stdint.h>

struct rtt {
	uint64_t smoothed; /* ns; 0: not measured yet */
	uint64_t variation;
	uint64_t least;
	uint64_t timeout;
	uint64_t timeout_min, timeout_max;
};

/* Nothing measured; time-outs within these bounds, ns. */
void rtt_init(struct rtt *rtt, uint64_t timeout_min, uint64_t timeout_max);

void rtt_sample(struct rtt *rtt, uint64_t ns);

/* How long to wait after `backoff` times in vain. */
uint64_t rtt_timeout(const struct rtt *rtt, unsigned int backoff);

#endif /* ALLREDUCE_RTT_H */

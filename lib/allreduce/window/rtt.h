/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_RTT_H
#define ALLREDUCE_RTT_H

/**
 * @file
 * The time from a chunk to its result, and how long to wait for it (RFC 6298). Samples are of
 * chunks that were sent once only (Karn and Partridge, 1987).
 *
 * A sample contains the time until the slowest worker's packet came, who may have had a loss to
 * mend: if time-outs followed that, workers would wait for each other's time-outs, longer and
 * longer. So they follow the lower samples. Where those are not all there is to wait for, results
 * come twice: then time-outs become longer, as the reordering window of RFC 8985 does
 * (section 6.2.4).
 */

#include <stdbool.h>
#include <stdint.h>

struct rtt {
	uint64_t smoothed; /* ns; 0: not measured yet */
	uint64_t variation;
	uint64_t least;
	uint64_t low;         /* what the lower samples are about */
	uint64_t full;        /* what a full window has taken; 0: not measured yet */
	unsigned int stretch; /* of the time-out, in quarters */
	unsigned int results; /* since the stretch has changed */
	uint64_t timeout;
	uint64_t timeout_min, timeout_max;
};

/* Nothing measured; time-outs within these bounds, ns. */
void rtt_init(struct rtt *rtt, uint64_t timeout_min, uint64_t timeout_max);

void rtt_sample(struct rtt *rtt, uint64_t ns);

/*
 * A full window has taken that long, on average: a slow link's queue is empty before it, so that
 * the lower samples are only about its first chunks.
 */
void rtt_full_window(struct rtt *rtt, uint64_t ns);

/* A duplicate result has come: its request was retransmitted unnecessarily. */
void rtt_too_short(struct rtt *rtt);

/* That much more of what packets are sent again by: time, or packets that overtake others. */
uint64_t rtt_stretched(const struct rtt *rtt, uint64_t amount);

/* The time-out after `backoff` time-outs in a row. */
uint64_t rtt_timeout(const struct rtt *rtt, unsigned int backoff);

#endif /* ALLREDUCE_RTT_H */

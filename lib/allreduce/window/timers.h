/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_TIMERS_H
#define ALLREDUCE_TIMERS_H

/**
 * @file
 * Timers: retransmission, keep-alives and deadlines.
 */

#include "internal.h"

/* A slot's chunk has been sent: its result is due. */
void timers_note(struct channel *channel, const struct slot *slot);

/* When the next of it is due, ns; NEVER. */
uint64_t timers_next(const struct netfc_allreduce *comm);

/* Do what is due. Returns OK, or has said what went wrong. */
int timers_run(struct netfc_allreduce *comm, uint64_t now);

#endif /* ALLREDUCE_TIMERS_H */

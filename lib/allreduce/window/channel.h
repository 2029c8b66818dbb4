/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_CHANNEL_H
#define ALLREDUCE_CHANNEL_H

/**
 * @file
 * A channel: which chunks are to be sent on it, which are in flight, and sending them.
 */

#include "internal.h"

/* The channel of a slot. */
struct channel *channel_of(struct peer *peer, uint32_t slot);

/* Have a slot's chunk sent (again). */
void channel_queue(struct channel *channel, uint32_t slot);

/* A slot's chunk is no longer in flight. */
void channel_land(struct channel *channel, uint32_t slot);

/* Whether few are in flight: too few later results would reveal their loss. */
bool channel_is_ending(const struct channel *channel);

/*
 * Send what is queued, as far as the socket takes it. Returns OK, or has said what went wrong.
 */
int channel_send(struct netfc_allreduce *comm, struct channel *channel, uint64_t now);

#endif /* ALLREDUCE_CHANNEL_H */

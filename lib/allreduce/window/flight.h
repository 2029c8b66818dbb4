/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_FLIGHT_H
#define ALLREDUCE_FLIGHT_H

/** @file What parts of a window do for each other: the ledger of what is in flight. */

#include "window/window.h"

/* Have a slot's chunk sent (again). */
void channel_queue(struct channel *channel, uint32_t at);

/* A slot's chunk is no longer in flight. */
void channel_land(struct channel *channel, uint32_t at);

/* How many chunks the congestion window allows, about. */
uint32_t channel_window(const struct channel *channel);

/* Whether few are in flight: too few later results would reveal their loss. */
bool channel_is_ending(const struct channel *channel);

/* The channel of a slot. */
struct channel *channel_of(const struct window *window, uint32_t at);

/* A slot's chunk has been sent: its result is due. */
void channel_expect(struct channel *channel, const struct slot *slot);

#endif /* ALLREDUCE_FLIGHT_H */

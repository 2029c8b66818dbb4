/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIAR_H
#define LIAR_H

/**
 * @file
 * A switch for one worker that lies: it answers as a right one would, with its own values as the
 * sum, but what the test says is changed in each reply, and sent as often as the test says.
 */

#include <stddef.h>
#include <stdint.h>

#include <aggregate_wire.h>

#define LIAR_BYTES 65536

/*
 * Change a reply, LIAR_BYTES of room, where it is. Returns its new length; 0: it is not sent.
 *
 * `request` is what it answers; `times` how many requests of that kind were answered before.
 */
typedef size_t (*liar_change)(void *context, const struct aggregate_message *request,
	unsigned int times, uint8_t *reply, size_t length);

struct liar;

/* Start one, at a port of 127.0.0.1; 0: any. NULL: it can't be. */
struct liar *liar_start(uint16_t port, liar_change change, void *context);

uint16_t liar_port(const struct liar *liar);

void liar_stop(struct liar *liar);

#endif /* LIAR_H */

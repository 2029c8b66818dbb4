/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_MEMIF_H
#define ALLREDUCE_MEMIF_H

/**
 * @file
 * Memory shared with a switch on the same machine, as DPDK's memif ports have it (version 2.0 of
 * FD.io's memif): a ring of frames each way, and no kernel between. This is the side that connects
 * and that the memory is of.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMIF_MTU 9000
#define MEMIF_MOST_BYTES (MEMIF_MTU + 14) /* of a frame */
#define MEMIF_PREFIX "memif:" /* of option interface; then the socket's path, and maybe ",id=N" */

struct memif;

/* Connect to a port that serves there. NULL: it can't be; errno says why. */
struct memif *memif_connect(const char *where);

void memif_close(struct memif *memif);

/* The i-th place for a frame that is to be sent from now on; NULL: there is none yet. */
uint8_t *memif_place(struct memif *memif, unsigned int i);

/* How long the frame in the i-th place is. */
void memif_set_length(struct memif *memif, unsigned int i, size_t length);

/* The first `count` places are to be sent. */
void memif_send(struct memif *memif, unsigned int count);

/* How many frames have come; there may be others when these have been released. */
unsigned int memif_count(struct memif *memif);

/* The i-th of them, and its length. */
const uint8_t *memif_look(const struct memif *memif, unsigned int i, size_t *length);

/* The first `count` are done with. */
void memif_release(struct memif *memif, unsigned int count);

/* Have memif_fd() become readable when a frame comes. False: one is there already. */
bool memif_arm(struct memif *memif);

void memif_disarm(struct memif *memif);

int memif_fd(const struct memif *memif);

#endif /* ALLREDUCE_MEMIF_H */

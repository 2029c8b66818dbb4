/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_WAY_H
#define ALLREDUCE_WAY_H

/**
 * @file
 * The transport to a switch: a socket for each channel, or memory shared with the switch for all of
 * them.
 */

#include <time.h>

#include "internal.h"

/*
 * Open the transport past the kernel that options interface and bind_address name. `from` is the
 * local address. Returns OK, or has said what went wrong.
 */
int way_open_memory(struct netfc_allreduce *comm, struct peer *peer, const char *interface,
	const struct address *from);

/* Close a peer's channels. */
void way_close(struct peer *peer);

/* Send one packet. As send(). */
ssize_t way_send(const struct channel *channel, const uint8_t *payload, size_t bytes);

/* Receive one packet without waiting. As recv(). */
ssize_t way_receive(const struct channel *channel, uint8_t *payload, size_t bytes);

/* The file descriptor to poll() for packets. */
int way_fd(const struct channel *channel);

/*
 * Sleep until a packet comes on a peer's first channel, somebody wakes us, or for so long. False: a
 * signal came.
 */
bool way_sleep(struct peer *peer, int wake, const struct timespec *time);

/* The longest packet that leaves this host, IP header included; 0: unknown. */
unsigned int way_mtu(const struct peer *peer);

/* Arm way_fd() for packets from now on. False: something is there already. */
bool way_arm(struct peer *peer);

void way_disarm(struct peer *peer);

/* Whether it is shared memory. */
static inline bool
way_is_memory(const struct peer *peer)
{
	return peer->memif != NULL;
}

/* The peer's channel that a datagram is for; NULL: none. */
struct channel *way_channel(const struct peer *peer, const struct frame_datagram *datagram);

#endif /* ALLREDUCE_WAY_H */

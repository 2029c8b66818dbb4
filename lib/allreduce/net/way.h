/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_WAY_H
#define ALLREDUCE_WAY_H

/**
 * @file
 * The transport to a switch: a socket for each channel, or rings of frames for all of them.
 */

#include <time.h>

#include "internal.h"
#include "net/rings.h"

/* The transport that option interface names, which may be NULL. */
enum netfc_allreduce_path way_named(const char *interface);

/*
 * Open a peer's next channel by options->interface. Returns OK, or has said what went wrong.
 *
 * `to`: a port of the peer's address. `from`: the local address; NULL: any
 */
int way_open(struct netfc_allreduce *comm, struct channel *channel,
	const struct netfc_allreduce_options *options, const struct address *to,
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

/* Whether it has rings. */
static inline bool
way_has_rings(const struct peer *peer)
{
	return peer->rings != NULL;
}

/* Whether datagrams of the peer's have come where its rings are not. */
bool way_misses(const struct peer *peer);

/* The peer's channel that a datagram is for; NULL: none. */
struct channel *way_channel(const struct peer *peer, const struct frame_datagram *datagram);

#endif /* ALLREDUCE_WAY_H */

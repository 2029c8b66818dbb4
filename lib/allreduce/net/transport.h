/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_TRANSPORT_H
#define ALLREDUCE_TRANSPORT_H

/**
 * @file
 * The transport to a switch: a socket for each channel, or rings of frames for all of them.
 */

#include <time.h>

#include "internal.h"
#include "net/rings.h"

/* The transport that option interface names, which may be NULL. */
enum netfc_allreduce_path transport_named(const char *interface);

/*
 * Open a peer's next channel by options->interface. Returns OK, or has said what went wrong.
 *
 * `to`: a port of the peer's address. `from`: the local address; NULL: any
 */
int transport_open(struct netfc_allreduce *comm, struct channel *channel,
	const struct netfc_allreduce_options *options, const struct address *to,
	const struct address *from);

/* Close a peer's channels. */
void transport_close(struct peer *peer);

/* Send one packet. As send(). */
ssize_t transport_send(const struct channel *channel, const uint8_t *payload, size_t bytes);

/* Receive one packet without waiting. As recv(). */
ssize_t transport_receive(const struct channel *channel, uint8_t *payload, size_t bytes);

/* The file descriptor to poll() for packets. */
int transport_fd(const struct channel *channel);

/*
 * Sleep until a packet comes on a peer's first channel, somebody wakes us, or for so long. False: a
 * signal came.
 */
bool transport_sleep(struct peer *peer, int wake, const struct timespec *time);

/* The longest packet that leaves this host, IP header included; 0: unknown. */
unsigned int transport_mtu(const struct peer *peer);

/* Arm transport_fd() for packets from now on. False: something is there already. */
bool transport_arm(struct peer *peer);

void transport_disarm(struct peer *peer);

/* Whether it has rings. */
static inline bool
transport_has_rings(const struct peer *peer)
{
	return peer->rings != NULL;
}

/* Whether datagrams of the peer's have come where its rings are not. */
bool transport_misses(const struct peer *peer);

/* The peer's channel that a datagram is for; NULL: none. */
struct channel *transport_channel(const struct peer *peer, const struct frame_datagram *datagram);

#endif /* ALLREDUCE_TRANSPORT_H */

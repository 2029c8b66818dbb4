/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_SOCKET_H
#define ALLREDUCE_SOCKET_H

/**
 * @file
 * Sockets, each connected to one UDP port of a switch.
 */

#include "internal.h"

/*
 * Open one. Returns it, or -1 and has said what went wrong; *status is why.
 *
 * `to` is a port of the peer's address.
 */
int socket_open(struct netfc_allreduce *comm, const struct peer *peer, const struct address *to,
	const struct address *bind_to, const char *interface, int *status);

/* Let it hold that many packets of that many bytes, as far as the system allows. */
void socket_reserve(int fd, unsigned int packets, size_t bytes);

/*
 * Let the kernel hand over packets that came together as one datagram (UDP_GRO), if it can: what
 * receives them has to know that.
 */
void socket_join_packets(int fd);

/* Bytes of a packet, IP header included, that the path takes; 0: unknown. */
unsigned int socket_mtu(int fd, int family);

#endif /* ALLREDUCE_SOCKET_H */

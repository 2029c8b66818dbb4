/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_PEERS_H
#define ALLREDUCE_PEERS_H

/**
 * @file
 * The switches of a communicator: their sockets and slots.
 */

#include "internal.h"

/* Shards of a switch. */
#define PEERS_MAX_SHARDS 64

/*
 * Make a peer of each address, with the socket to its first shard. Returns OK, or has said what
 * went wrong; peers_close() is for both.
 */
int peers_open(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options);

/* All have been joined: open the sockets to the other shards, make slots. */
int peers_complete(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options);

/* Close and free all there is of them. */
void peers_close(struct netfc_allreduce *comm);

#endif /* ALLREDUCE_PEERS_H */

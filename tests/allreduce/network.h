/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETWORK_H
#define NETWORK_H

/** @file A server, and a bad network before it. */

#include "relay.h"
#include "server.h"
#include "workers.h"

struct network {
	struct server *server;
	struct relay *relay; /* NULL: none */
	struct place place;  /* where workers join */
};

/*
 * Start both, or the server alone: `bad` is NULL. Where the relay sends to, and how many shards
 * there are, is filled in. Ends the program where it can't.
 */
struct network network_start(const struct server_options *options, const struct relay_options *bad);

void network_stop(struct network *network);

#endif /* NETWORK_H */

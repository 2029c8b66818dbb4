/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LEAF_H
#define LEAF_H

/** @file What a server that is a leaf says to its parent, on this machine. */

#include <netinet/in.h>

#include <aggregate.h>

/* The parent at that UDP port. */
struct aggregate_parent leaf_parent(uint16_t port);

/* Send an outcome's sums upwards. */
void leaf_send(int fd, struct aggregate_shard *shard, const struct aggregate_outcome *outcome);

/* Send the joins and leaves that are due; shard 0. */
void leaf_poll(int fd, struct aggregate_shard *shard, uint16_t port, uint64_t now);

/*
 * A packet that is no request. Returns whether its outcome has results for all workers; then
 * `request` is what they are built from.
 */
bool leaf_take(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	const struct sockaddr_in6 *from, uint64_t now, struct aggregate_message *request,
	struct aggregate_outcome *outcome);

#endif /* LEAF_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_JOIN_H
#define ALLREDUCE_JOIN_H

/**
 * @file
 * Joining a switch's job and leaving it.
 */

#include "internal.h"

/*
 * Join one switch, over its first channel, which is open. Afterwards the peer has what was
 * granted. Returns OK, or has said what went wrong. Without the lock.
 *
 * `until`: ns
 */
int join_peer(struct netfc_allreduce *comm, struct peer *peer, uint64_t until);

/* Leave it. Returns OK, or has said what went wrong. Without the lock. */
int join_leave(struct netfc_allreduce *comm, struct peer *peer);

/*
 * Send a join or a leave. As sendmsg(), for what there is to tell.
 *
 * `cookie`: a join's; 0: ask for one
 * `twice`: as two segments of one datagram, ids `id` and `id + 1`: a reply to the second shows
 * that segments arrive as datagrams
 */
int join_send(struct netfc_allreduce *comm, struct peer *peer, uint8_t op, uint32_t id,
	uint64_t cookie, bool twice);

#endif /* ALLREDUCE_JOIN_H */

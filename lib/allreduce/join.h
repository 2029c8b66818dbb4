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
 * Send a join or a leave with a new id. Returns as sendmsg().
 *
 * `secret`: a join's cookie, 0: ask for one; or the session: a member is alive; a leave's session
 * `twice`: as two segments of one datagram, ids `id` and `id + 1`: a reply to the second shows
 * that segments arrive as datagrams
 */
int
join_send(struct netfc_allreduce *comm, struct peer *peer, uint8_t op, uint64_t secret, bool twice);

/*
 * Send a join as long as a chunk's packet with so many bytes of values, at most 65480. It has no
 * cookie, so it cannot create a member that never learns of it.
 */
int join_send_long(struct netfc_allreduce *comm, struct peer *peer, unsigned int values_bytes);

#endif /* ALLREDUCE_JOIN_H */

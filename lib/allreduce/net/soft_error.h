/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_SOFT_ERROR_H
#define ALLREDUCE_SOFT_ERROR_H

/**
 * @file
 * Soft errors (RFC 1122): what a system call reports of a packet that was sent earlier.
 */

#include "internal.h"

/*
 * A call on a socket to the peer has failed with that errno. A soft error costs no more than a
 * packet: it may come from an ICMP message, which anybody can send, a link that is down for a
 * while, or a firewall. It is recorded, in case the peer stays silent. False: not a soft error, but
 * a bug or a missing resource.
 */
bool soft_error_record(struct peer *peer, int error, uint64_t now);

/* Clear it: the peer has been heard. */
static inline void
soft_error_clear(struct peer *peer)
{
	peer->soft_error = 0;
}

#endif /* ALLREDUCE_SOFT_ERROR_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_TROUBLE_H
#define ALLREDUCE_TROUBLE_H

/**
 * @file
 * What a system call on a socket says of a packet that was sent some time ago.
 */

#include "internal.h"

/*
 * A call on a socket to the peer has failed with that errno: a packet is lost, no more. ICMP
 * messages say such things, and anybody can send those; links go down and come back; firewalls
 * forbid. It is remembered, for when the peer stays silent. False: it is no such thing, but a
 * mistake of ours or a resource that is missing.
 */
bool trouble_is_loss(struct peer *peer, int error, uint64_t now);

/* Forget it: the peer has been heard. */
static inline void
trouble_forget(struct peer *peer)
{
	peer->trouble = 0;
}

#endif /* ALLREDUCE_TROUBLE_H */

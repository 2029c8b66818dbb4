/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_PATH_H
#define ALLREDUCE_PATH_H

/**
 * @file
 * Path MTU discovery to a switch. The kernel knows the MTU of its own device, and at best of some
 * after it; so a join probes the size, and an answer as long shows that it passes both ways. ICMP
 * messages are not trusted: anybody can send them.
 */

#include "comm/comm.h"

/* How few bytes of values in a chunk would do, unless the user wants a certain number. */
#define PATH_MIN_BYTES 8

/* A size that is being probed. */
struct path {
	unsigned int trying; /* bytes of values; 0: nothing is tried */
	unsigned int times;  /* sent */
};

/* Bytes of values in a chunk for which the local device has room. */
unsigned int path_bytes(const struct netfc_allreduce *comm, const struct peer *peer);

/* The switch would grant so many bytes: probe them, if not every path takes them. */
void path_begin(const struct netfc_allreduce *comm, const struct peer *peer, struct path *path,
	unsigned int granted);

static inline bool
path_is_tried(const struct path *path)
{
	return path->trying != 0;
}

/* A packet of that size has been answered with one. */
static inline void
path_is_good(struct path *path)
{
	path->trying = 0;
}

/*
 * No answer has come in time. After a few times smaller chunks are asked for. Returns OK, or has
 * said that what the user wants does not pass.
 */
int path_is_silent(struct netfc_allreduce *comm, struct peer *peer, struct path *path);

/* Whether chunks of the granted size fit the local device. Returns OK, or has said what to do. */
int path_check(struct netfc_allreduce *comm, const struct peer *peer);

#endif /* ALLREDUCE_PATH_H */

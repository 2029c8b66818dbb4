/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_DRIVE_H
#define ALLREDUCE_DRIVE_H

/**
 * @file
 * The progress engine. One thread at a time sends and receives: one that waits, or else the
 * communicator's own.
 */

#include "internal.h"

/* All here are called with the communicator's lock held, which they release while they sleep. */

/* Send what is queued, and nothing else. */
void drive_send(struct netfc_allreduce *comm, uint64_t now);

/*
 * Send and receive until an allreduce is done, or until then (ns, or NEVER). The caller must be the
 * only thread that drives.
 */
void
drive_for(struct netfc_allreduce *comm, const struct netfc_allreduce_handle *handle, uint64_t then);

/* Wake the thread that sleeps until packets come: there is more to do. */
void drive_wake(struct netfc_allreduce *comm);

/* Start the communicator's thread. Returns 0 or an errno. */
int drive_start(struct netfc_allreduce *comm);

/* End it; without the lock. */
void drive_stop(struct netfc_allreduce *comm);

#endif /* ALLREDUCE_DRIVE_H */

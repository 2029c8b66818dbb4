/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_ERROR_H
#define ALLREDUCE_ERROR_H

/**
 * @file
 * Failures: recording and describing them.
 */

#include <aggregate_wire.h>

#include "comm/comm.h"

/* Record an error that concerns no particular switch. Returns the status. */
int error_set(struct netfc_allreduce *comm, enum netfc_allreduce_status status, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* The same of a switch. */
int error_set_for(struct netfc_allreduce *comm, const struct peer *peer,
	enum netfc_allreduce_status status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A system call on a socket to the switch failed: `error` is its errno, `what` the attempted
 * action. */
int
error_of_call(struct netfc_allreduce *comm, const struct peer *peer, const char *what, int error);

/* No link to the switch could be opened, by option interface, which may be NULL. */
int error_of_link(struct netfc_allreduce *comm, const struct peer *peer, const char *interface,
	const struct link_problem *problem);

/* What its member says has gone wrong. */
int error_of_member(struct netfc_allreduce *comm, const struct peer *peer);

/* Record why a switch is silent, if this host knows it. Returns the status; OK: it does not. */
int error_of_silence(struct netfc_allreduce *comm, const struct peer *peer);

/*
 * Record a refusal, from its code and reason, and what to do about it. Not for WAITING and COOKIE,
 * which are no failures.
 */
int error_of_reply(struct netfc_allreduce *comm, const struct peer *peer, unsigned int code,
	unsigned int reason);

/* Record whose values are missing: a worker that is silent, has left or has failed. */
int error_of_absence(struct netfc_allreduce *comm, const struct peer *peer,
	const struct aggregate_message *reply);

/* The deadline has passed, and the switch has reported a late worker. */
int error_of_lateness(struct netfc_allreduce *comm, const struct peer *peer, double seconds);

/* After one of the above: all allreduces end with the status, and the communicator is broken. */
void error_break(struct netfc_allreduce *comm, int status);

#endif /* ALLREDUCE_ERROR_H */

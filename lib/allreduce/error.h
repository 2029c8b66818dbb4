/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_ERROR_H
#define ALLREDUCE_ERROR_H

/**
 * @file
 * Failures: what is remembered and said of them.
 */

#include <aggregate_wire.h>

#include "internal.h"

/* Write down what went wrong, of no switch in particular. Returns the status. */
int error_say(struct netfc_allreduce *comm, enum netfc_allreduce_status status, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* The same of a switch. */
int error_say_of(struct netfc_allreduce *comm, const struct peer *peer,
	enum netfc_allreduce_status status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A system call on a socket to the switch failed: `error` is its errno, `what` it was to do. */
int
error_of_call(struct netfc_allreduce *comm, const struct peer *peer, const char *what, int error);

/*
 * A reply that refuses: its code and reason. The sentence goes on as far as what to do.
 * WAITING and COOKIE are no failures and not for this function.
 */
int error_of_reply(struct netfc_allreduce *comm, const struct peer *peer, unsigned int code,
	unsigned int reason);

/* A reply that says whose values are missing: the worker is silent, has left or has failed. */
int error_of_absence(struct netfc_allreduce *comm, const struct peer *peer,
	const struct aggregate_message *reply);

/* The deadline has passed, and a worker has been late, says the switch. */
int error_of_lateness(struct netfc_allreduce *comm, const struct peer *peer, double seconds);

/* After one of the above: all allreduces end with the status, and the communicator is broken. */
void error_break(struct netfc_allreduce *comm, int status);

#endif /* ALLREDUCE_ERROR_H */

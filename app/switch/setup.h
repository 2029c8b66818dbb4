/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SETUP_H
#define SETUP_H

/**
 * @file
 * Set-up of the switch from its options: ports, queues, pools of buffers, steering; and polling.
 */

#include "app.h"

/* Set-up of the switch from its options, before any port starts. */

/** Load the table sets and functions that the options name. 0, or -1, reported on stderr. */
int prepare_load(struct app *app);

/** Free them. */
void prepare_unload(struct app *app);

/**
 * Find the ports, choose their queues, and make everything that lcores need. The EAL has started.
 *
 * @return EXIT_DONE, or the status to exit with, reported on stderr; prepare_free() frees in both
 *   cases
 */
enum exit_status prepare(struct app *app);
void prepare_free(struct app *app);

/* Ports: found, configured, started, stopped. Errors are reported on stderr. */

/**
 * Find all ports and decide where their packets leave.
 *
 * @return EXIT_DONE; EXIT_LATER: there is none, or not one that was asked for; EXIT_CONFIGURATION:
 *   the options do not suit them
 */
enum exit_status ports_find(struct app *app);

/** Configure and start all ports. 0 or -1. */
int ports_start(struct app *app);

/** Stop and close the ports, and count the mbufs that did not come back. */
void ports_stop(struct app *app);

/* Queue assignment: which lcore serves which queues. */

/**
 * Spread the receive queues of all ports over the lcores, and give each lcore a transmit queue of
 * its own on every port it sends to, so that nothing needs a lock. Where a device has too few
 * queues for that, fewer lcores are used. With --config, as it says.
 *
 * @return 0, or -1 (reported on stderr) if an lcore would get more queues than it can hold, or
 *   --config does not suit the ports
 */
int queues_assign(struct app *app);

/** Print the assignment, and which lcores have nothing to do. */
void queues_print(const struct app *app);

/** Packet buffers of all pools, and how many of them are not in their pool. */
unsigned int pools_size(const struct app *app);
unsigned int pools_in_use(const struct app *app);

/*
 * Steering: rules of a device (rte_flow) that direct packets for the switch to a queue of the right
 * lcore. A shard's UDP port leads to a queue of its lcore, requests to an address with a queue
 * (--address IP@PORT:QUEUE) to that one. Where a device refuses, it spreads packets as it does all
 * others (RSS), and lcores hand over what is not theirs (aggregation.h).
 */

/** Check that addresses name queues that there are. 0, or -1 (reported on stderr). */
int steer_check(const struct app *app);

/** Install the rules of the started ports, and print the outcome for each port. */
void steer_start(struct app *app);

/** Remove the rules of a port, before it is stopped. */
void steer_stop(struct port *port);

/* The data path: receive, compute, forward, until told to stop. */

/**
 * Poll on all lcores with rx queues, the calling main lcore among them, until app_quit() or, with
 * --idle-exit, until nothing has been received for that long.
 */
void poll_run(struct app *app);

#endif /* SETUP_H */

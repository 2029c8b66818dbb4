/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICE_H
#define SERVICE_H

/**
 * @file
 * The switch as a service: what its manager (systemd) is told, and what is checked before a start.
 *
 * A manager that wants to know names a socket in $NOTIFY_SOCKET; sd_notify(3) documents what is
 * written there. Without one nothing is said.
 */

#include "app.h"

/* The service manager's socket. */

/**
 * Tell the manager something: lines of NAME=VALUE.
 *
 * @return 0; -1 (reported on stderr) if it cannot be told
 */
int notify(const char *lines);

/** Whether there is a manager that wants to be told. */
bool notify_wanted(void);

/** How long the manager waits for signs of life, in microseconds ($WATCHDOG_USEC); 0: no matter. */
uint64_t notify_watchdog_us(void);

/* Signs of life. */

/** What the manager was told last, by lcore: the cycles that its rounds had taken. */
struct heartbeat {
	uint64_t cycles[RTE_MAX_LCORE];
};

/**
 * Look whether each lcore that has something to do has made a round since the last time that all
 * had; if so, this is such a time.
 *
 * @return the first that has not; RTE_MAX_LCORE: all have
 */
unsigned int heartbeat_missing(struct heartbeat *heartbeat, const struct app *app);

/* The service. */

/** The thread that tells the manager; NULL: there is none. */
struct service;

/**
 * Tell the manager that packets are served, and from now on how it goes.
 *
 * @param result NULL where nobody wants to know
 * @return 0, or -1 (reported on stderr)
 */
int service_start(struct app *app, struct service **result);

/** Tell it that the switch ends. `service` is freed; it may be NULL. */
void service_stop(struct service *service);

/**
 * Where the group may enter the runtime folder that the manager has made ($RUNTIME_DIRECTORY), let
 * it use telemetry and the control channel there. The EAL's other sockets remain the user's.
 *
 * @return 0, or -1 (reported on stderr)
 */
int service_share(const struct options *options);

/**
 * --check: look at what a start would need, and open nothing: the files of the options, and memory.
 *
 * @return EXIT_DONE, or the status to exit with (reported on stderr)
 */
enum exit_status service_check(const struct options *options, int eal_argc, char **eal_argv);

#endif /* SERVICE_H */

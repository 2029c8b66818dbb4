/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_WATCH_H
#define PORT_WATCH_H

/**
 * @file
 * Ports that vanish while they are in use: a NIC that is pulled out or taken away (device_del), an
 * interface that is deleted. Such a port is closed, and the others go on; packets for it are
 * dropped as DROP_PORT_GONE. When the last one has gone, the switch ends. The speed of links is
 * watched as well, on which depends how long lcores sleep.
 */

#include "app.h"

/**
 * Begin to watch all ports, which have been started, once a second. From now on, a port may be
 * used only by lcores, between two quiescent states (app->qsbr), or with the lock of the state, and
 * unless port_is_gone().
 *
 * @return 0, or -1 (reported on stderr)
 */
int port_watch_start(struct app *app);

/** Watch no longer, if it was started: when this returns, no port is being closed. */
void port_watch_stop(struct app *app);

#endif /* PORT_WATCH_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of devices were experimental in DPDK 22.11. */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "dpdk/eal.h"
#include "dpdk/quirks.h"
#include "forward/fdb.h"
#include "interface.h"
#include "observe/state.h"
#include "port_watch.h"
#include "setup.h"
#include "sleep/limits.h"

#define WATCH_NS UINT64_C(1000000000)

/* ---- who has gone ---------------------------------------------------------------------------- */

static void
mark(struct port *port)
{
	__atomic_store_n(&port->removed, true, __ATOMIC_RELAXED);
}

/* NULL: it is no port of the switch, or not any more. */
static struct port *
find_port(struct app *app, uint16_t id)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (app->port[p].id == id && !port_is_gone(&app->port[p]))
			return &app->port[p];
	}
	return NULL;
}

/* In the EAL's interrupt thread, which may close nothing: a bus takes a device back. */
static void
hear_bus(const char *device, enum rte_dev_event_type event, void *arg)
{
	struct app *app = arg;

	for (unsigned int p = 0; p < app->port_count && event == RTE_DEV_EVENT_REMOVE; p++) {
		if (strcmp(app->port[p].device, device) == 0)
			mark(&app->port[p]);
	}
}

/* Likewise: a driver misses its device. */
static int
hear_driver(uint16_t id, enum rte_eth_event_type event, void *arg, void *result)
{
	struct port *port = find_port(arg, id);

	(void)event;
	(void)result;
	if (port != NULL)
		mark(port);
	return 0;
}

/* Likewise: it was reset, as a virtual function is with its NIC. */
static int
hear_reset(uint16_t id, enum rte_eth_event_type event, void *arg, void *result)
{
	(void)event;
	(void)result;
	if (find_port(arg, id) != NULL)
		REPORT("port %u was reset from outside: if no packets come through it any more, "
		       "start the switch anew\n",
			id);
	return 0;
}

static bool
has_vanished(const struct port *port)
{
	return __atomic_load_n(&port->removed, __ATOMIC_RELAXED) ||
		interface_state(port) == INTERFACE_DELETED;
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

static unsigned int
count_left(const struct app *app)
{
	unsigned int left = 0;

	for (unsigned int p = 0; p < app->port_count; p++)
		left += !port_is_gone(&app->port[p]);
	return left;
}

static void
say_gone(struct app *app, const struct port *port)
{
	unsigned int left = count_left(app);

	if (left > 0) {
		REPORT("port %u, %s, has gone; %u port%s left\n", port->id, port->name, left,
			left == 1 ? " is" : "s are");
		return;
	}
	REPORT("port %u, %s, has gone, and no port is left: this is the end\n", port->id,
		port->name);
	app->deserted = true;
	app_quit(app);
}

/* A device may have several ports, as NICs of mlx4 have: with it, all of them are freed. */
static bool
has_another_port(const struct app *app, const struct port *port)
{
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (&app->port[p] != port && app->port[p].info.device == port->info.device)
			return true;
	}
	return false;
}

/* Lcores first leave it alone: once each has passed a quiescent state, none holds on to it. */
static void
take_out(struct app *app, unsigned int index)
{
	struct port *port = &app->port[index];

	__atomic_store_n(&port->max_frame, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&port->gone, true, __ATOMIC_RELEASE);
	if (app->fdb != NULL)
		fdb_forget_port(app->fdb, (uint16_t)index);
	rte_rcu_qsbr_synchronize(app->qsbr, RTE_QSBR_THRID_INVALID);
	port->counted = rte_eth_stats_get(port->id, &port->last) == 0;
	say_gone(app, port);
	steer_stop(port);
	app->mbufs_kept += quirk_close(port->id, port->started);
	port->started = false;
	/* A NIC's kernel driver waits for this. */
	if (!has_another_port(app, port))
		rte_dev_remove(port->info.device);
	port->info.device = NULL;
}

static void
look(void *arg)
{
	struct app *app = arg;

	pthread_mutex_lock(&app->state_lock);
	for (unsigned int p = 0; p < app->port_count; p++) {
		if (!port_is_gone(&app->port[p]) && has_vanished(&app->port[p]))
			take_out(app, p);
	}
	if (!app->options.poll)
		limits_set(app);
	pthread_mutex_unlock(&app->state_lock);
}

/* ---- start and stop -------------------------------------------------------------------------- */

int
port_watch_start(struct app *app)
{
	rte_dev_event_callback_register(NULL, hear_bus, app);
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RMV, hear_driver, app);
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RESET, hear_reset, app);
	return ticker_start(&app->port_watch, "netfc-ports", WATCH_NS, look, app);
}

void
port_watch_stop(struct app *app)
{
	ticker_stop(&app->port_watch);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RMV, hear_driver, app);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RESET, hear_reset, app);
	while (rte_dev_event_callback_unregister(NULL, hear_bus, app) == -EAGAIN)
		sched_yield();
}

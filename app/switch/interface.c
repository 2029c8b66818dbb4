/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors of interrupts were experimental in DPDK 22.11. */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "dpdk/eal.h"
#include "interface.h"

/*
 * Its name may be that of another one by now, and it may be in another network namespace; but who
 * has its descriptor may write as long as it is up.
 */
static enum interface_state
tap_state(const struct port *port)
{
	struct pollfd tap = {
		.fd = rte_eth_dev_rx_intr_ctl_q_get_fd(port->id, 0),
		.events = POLLOUT,
	};

	if (tap.fd < 0 || poll(&tap, 1, 0) < 0)
		return INTERFACE_UNKNOWN;
	if (tap.revents & POLLERR)
		return INTERFACE_DELETED;
	return tap.revents & POLLOUT ? INTERFACE_UP : INTERFACE_DOWN;
}

/* Of an interface by its name. */
static enum interface_state
ask_flags(struct ifreq *request)
{
	const int asked = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error;

	if (asked < 0)
		return INTERFACE_UNKNOWN;
	error = ioctl(asked, SIOCGIFFLAGS, request);
	close(asked);
	if (error != 0)
		return INTERFACE_UNKNOWN;
	return request->ifr_flags & IFF_RUNNING ? INTERFACE_UP : INTERFACE_DOWN;
}

/* Sockets do not follow an interface that is moved to another network namespace. */
static enum interface_state
socket_state(const struct port *port)
{
	struct ifreq request = {0};

	if (port->info.if_index == 0)
		return INTERFACE_UNKNOWN;
	if (if_indextoname(port->info.if_index, request.ifr_name) == NULL)
		return errno == ENXIO ? INTERFACE_DELETED : INTERFACE_UNKNOWN;
	return ask_flags(&request);
}

enum interface_state
interface_state(const struct port *port)
{
	if (!ethdev_is_virtual(&port->info))
		return INTERFACE_UNKNOWN;
	return strcmp(port->info.driver_name, "net_tap") == 0 ? tap_state(port)
							      : socket_state(port);
}

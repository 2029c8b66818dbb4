/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors of interrupts were experimental in DPDK 22.11. */
#define ALLOW_EXPERIMENTAL_API

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_kvargs.h>

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

/* Of the interface that sockets are bound to: 0, or a negative errno value. */
static int
ask(const struct port *port, unsigned long what, struct ifreq *request)
{
	int asked, error = 0;

	if (if_indextoname(port->info.if_index, request->ifr_name) == NULL)
		return -errno;
	asked = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (asked < 0)
		return -errno;
	if (ioctl(asked, what, request) != 0)
		error = -errno;
	close(asked);
	return error;
}

/* Sockets do not follow an interface that is moved to another network namespace. */
static enum interface_state
socket_state(const struct port *port)
{
	struct ifreq request = {0};
	int error;

	if (port->info.if_index == 0)
		return INTERFACE_UNKNOWN;
	error = ask(port, SIOCGIFFLAGS, &request);
	if (error != 0)
		return error == -ENXIO ? INTERFACE_DELETED : INTERFACE_UNKNOWN;
	return request.ifr_flags & IFF_RUNNING ? INTERFACE_UP : INTERFACE_DOWN;
}

enum interface_state
interface_state(const struct port *port)
{
	if (!ethdev_is_virtual(&port->info))
		return INTERFACE_UNKNOWN;
	return strcmp(port->info.driver_name, "net_tap") == 0 ? tap_state(port)
							      : socket_state(port);
}

/* ---- frames that are cut --------------------------------------------------------------------- */

/* What net_af_packet's rings have for a frame unless told, and what no packet can have of it. */
#define RING_FRAME 2048
#define RING_FRAME_HEADERS (66 + RTE_ETHER_HDR_LEN)

static int
read_size(const char *key, const char *value, void *size)
{
	(void)key;
	*(uint32_t *)size = (uint32_t)strtoul(value, NULL, 10);
	return 0;
}

/* As --vdev says. */
static uint32_t
ring_frame(const struct port *port)
{
	const struct rte_devargs *told = rte_dev_devargs(port->info.device);
	struct rte_kvargs *arguments = told != NULL ? rte_kvargs_parse(told->args, NULL) : NULL;
	uint32_t size = RING_FRAME;

	if (arguments != NULL)
		rte_kvargs_process(arguments, "framesz", read_size, &size);
	rte_kvargs_free(arguments);
	return size;
}

bool
interface_is_cut(const struct port *port, uint32_t *mtu, uint32_t *most)
{
	struct ifreq request = {0};

	if (strcmp(port->info.driver_name, "net_af_packet") != 0 ||
		ask(port, SIOCGIFMTU, &request) != 0)
		return false;
	*mtu = (uint32_t)request.ifr_mtu;
	*most = RTE_MAX(ring_frame(port), (uint32_t)RING_FRAME_HEADERS) - RING_FRAME_HEADERS;
	return *mtu > *most;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/link.h"

#include <ctype.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link/rings.h"
#include "link/socket.h"
#include "link/xdp.h"

/* Of UDP ports to send from, where no kernel chooses them. */
#define FIRST_PORT 49152

static bool
failed(struct link_problem *problem, enum link_fault fault, const char *what)
{
	problem->fault = fault;
	problem->error = errno;
	problem->what = what;
	return false;
}

/* What a port is opened by. */
struct way {
	const char *name;         /* of option interface, behind the kind's prefix */
	const struct address *to; /* the port's */
	const struct address *from;
};

static bool
open_udp(struct link *link, struct link_port *port, const struct way *way,
	struct link_problem *problem)
{
	const char *what = socket_open(&port->fd, way->to, way->from, way->name);

	(void)link;
	return what == NULL || failed(problem, LINK_CALL, what);
}

/* The other's MAC address is not known yet: what it sends will say it. */
static void
set_ends(struct link *link, const struct address *local)
{
	link->ends.v6 = local->storage.ss_family == AF_INET6;
	address_ip((const struct sockaddr *)&local->storage, link->ends.local);
	address_ip((const struct sockaddr *)&link->address.storage, link->ends.remote);
	memset(link->ends.remote_mac, UINT8_MAX, sizeof(link->ends.remote_mac));
}

static bool
open_memif(struct link *link, struct link_port *port, const struct way *way,
	struct link_problem *problem)
{
	port->from = (uint16_t)(FIRST_PORT + link->ports);
	port->to = address_port(way->to);
	if (link_has_rings(link))
		return true;
	link->rings = memif_connect(way->name);
	if (link->rings == NULL)
		return failed(problem, LINK_NO_MEMIF, NULL);
	set_ends(link, way->from);
	return frame_draw_mac(link->ends.local_mac) ||
		failed(problem, LINK_CALL, "draw a MAC address for packets to");
}

/* `local`: what the kernel sends from by that device */
static bool
take_queue(struct link *link, int fd, uint32_t queue, const struct address *local,
	struct link_problem *problem)
{
	const char *what;

	set_ends(link, local);
	memcpy(problem->local, local->text, sizeof(problem->local));
	if (!device_has(problem->device, link->ends.local, frame_address_bytes(&link->ends)))
		return failed(problem, LINK_FOREIGN, NULL);
	if (!device_mac(fd, problem->device, link->ends.local_mac))
		return failed(problem, LINK_NO_ETHERNET, NULL);
	link->rings = xdp_open(if_nametoindex(problem->device), queue, &link->ends,
		socket_mtu(fd, local->storage.ss_family), &what);
	return link_has_rings(link) || failed(problem, LINK_NO_XDP, what);
}

/*
 * The port has a socket, too. It keeps a UDP port for it, finds the other end's MAC address, and
 * tells of ICMP messages.
 */
static bool
open_xdp(struct link *link, struct link_port *port, const struct way *way,
	struct link_problem *problem)
{
	struct address local;
	const char *what;
	uint32_t queue;

	rings_read_name(way->name, XDP_QUEUE, problem->device, &queue);
	what = socket_open(&port->fd, way->to, way->from, problem->device);
	if (what != NULL)
		return failed(problem, LINK_CALL, what);
	if (!address_of_socket(&local, port->fd))
		return failed(problem, LINK_CALL, "find the local address for");
	port->from = address_port(&local);
	port->to = address_port(way->to);
	if (!link_has_rings(link) && !take_queue(link, port->fd, queue, &local, problem))
		return false;
	return xdp_admit(link->rings, port->to, port->from) ||
		failed(problem, LINK_CALL, "let in packets of");
}

/* What option interface begins with says which. */
static const struct kind {
	const char *prefix;
	enum netfc_allreduce_path path;
	bool (*open)(struct link *link, struct link_port *port, const struct way *way,
		struct link_problem *problem);
} kinds[] = {
	{MEMIF_PREFIX, NETFC_ALLREDUCE_MEMIF, open_memif},
	{XDP_PREFIX, NETFC_ALLREDUCE_XDP, open_xdp},
	{"", NETFC_ALLREDUCE_UDP, open_udp},
};

static const struct kind *
kind_of(const char *interface)
{
	const struct kind *kind = kinds;

	while (strncmp(interface != NULL ? interface : "", kind->prefix, strlen(kind->prefix)) != 0)
		kind++;
	return kind;
}

enum netfc_allreduce_path
link_named(const char *interface)
{
	return kind_of(interface)->path;
}

enum netfc_allreduce_path
link_path(const struct link *link)
{
	return link_has_rings(link) ? link->rings->path : NETFC_ALLREDUCE_UDP;
}

bool
link_device(const char *interface, char device[LINK_NAME_BYTES])
{
	uint32_t queue;

	return rings_read_name(interface + strlen(XDP_PREFIX), XDP_QUEUE, device, &queue);
}

static void
close_port(struct link_port *port)
{
	if (port->fd >= 0)
		close(port->fd);
	port->fd = -1;
}

bool
link_open(struct link *link, const char *interface, const struct address *from,
	struct link_problem *problem)
{
	const struct kind *kind = kind_of(interface);
	struct link_port *port = &link->port[link->ports];
	struct address to = link->address;
	const struct way way = {
		.name = interface != NULL ? interface + strlen(kind->prefix) : NULL,
		.to = &to,
		.from = from,
	};

	*problem = (struct link_problem){.fault = LINK_FINE};
	port->fd = -1;
	address_set_port(&to, (uint16_t)(address_port(&to) + link->ports));
	if (kind->open(link, port, &way, problem))
		link->ports++;
	else
		close_port(port);
	return problem->fault == LINK_FINE;
}

void
link_close(struct link *link)
{
	if (link_has_rings(link))
		link->rings->kind->close(link->rings);
	link->rings = NULL;
	while (link->ports > 0)
		close_port(&link->port[--link->ports]);
}

void
link_reserve(const struct link *link, unsigned int port, unsigned int packets, size_t bytes)
{
	if (!link_has_rings(link))
		socket_reserve(link->port[port].fd, packets, bytes);
}

void
link_join_packets(const struct link *link, unsigned int port)
{
	const int on = 1;

	if (!link_has_rings(link))
		setsockopt(link->port[port].fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
}

ssize_t
link_send(struct link *link, const uint8_t *payload, size_t bytes, bool moved)
{
	const struct link_port *port = &link->port[0];
	struct rings *rings = link->rings;
	uint8_t *frame;

	if (!link_has_rings(link) || (port->fd >= 0 && (moved || !frame_knows_remote(&link->ends))))
		return send(port->fd, payload, bytes, MSG_DONTWAIT);
	errno = EMSGSIZE;
	if (bytes + frame_header_bytes(&link->ends) > sizeof(struct ether_header) + rings->mtu)
		return -1;
	errno = EAGAIN;
	frame = rings->kind->place(rings, 0);
	if (frame == NULL)
		return -1;
	memcpy(frame + frame_header_bytes(&link->ends), payload, bytes);
	frame_finish(&link->ends, frame, bytes, port->from, port->to);
	rings->kind->set_length(rings, 0, frame_header_bytes(&link->ends) + bytes);
	rings->kind->send(rings, 1);
	return (ssize_t)bytes;
}

/* What an ICMP message says, which the port's socket knows. */
static void
find_soft_error(const struct link_port *port)
{
	int error = 0;
	socklen_t length = sizeof(error);

	if (port->fd >= 0)
		getsockopt(port->fd, SOL_SOCKET, SO_ERROR, &error, &length);
	errno = error != 0 ? error : EAGAIN;
}

ssize_t
link_receive(struct link *link, uint8_t *payload, size_t bytes)
{
	const struct link_port *port = &link->port[0];
	struct rings *rings = link->rings;
	struct frame_datagram datagram;
	const uint8_t *frame;
	size_t length;
	bool mine;

	if (!link_has_rings(link))
		return recv(port->fd, payload, bytes, MSG_DONTWAIT);
	while (rings->kind->count(rings) > 0) {
		frame = rings->kind->look(rings, 0, &length);
		mine = frame_read(&link->ends, frame, length, &datagram) &&
			rings_port(link, &datagram) == 0 && datagram.length <= bytes;
		if (mine) {
			memcpy(payload, datagram.payload, datagram.length);
			frame_learn(&link->ends, frame);
		}
		rings->kind->release(rings, 1);
		if (mine)
			return (ssize_t)datagram.length;
	}
	find_soft_error(port);
	return -1;
}

int
link_fd(const struct link *link, unsigned int port)
{
	return link_has_rings(link) ? link->rings->fd : link->port[port].fd;
}

unsigned int
link_mtu(const struct link *link)
{
	int fd = link->port[0].fd;
	unsigned int mtu = fd >= 0 ? socket_mtu(fd, link->address.storage.ss_family) : 0;

	if (link_has_rings(link) && (mtu == 0 || mtu > link->rings->mtu))
		return link->rings->mtu;
	return mtu;
}

bool
link_misses(const struct link *link)
{
	bool misses = false;
	uint8_t byte;

	for (unsigned int s = 0; s < link->ports && link_has_rings(link); s++)
		misses |= link->port[s].fd >= 0 &&
			recv(link->port[s].fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
	return misses;
}

bool
link_sleep(struct link *link, int wake, const struct timespec *time)
{
	struct pollfd fds[] = {
		{.fd = link_fd(link, 0), .events = POLLIN},
		{.fd = wake, .events = POLLIN},
	};
	bool interrupted = link_arm(link) && ppoll(fds, 2, time, NULL) < 0 && errno == EINTR;

	link_disarm(link);
	return !interrupted;
}

bool
link_arm(struct link *link)
{
	return !link_has_rings(link) || link->rings->kind->arm(link->rings);
}

void
link_disarm(struct link *link)
{
	if (link_has_rings(link))
		link->rings->kind->disarm(link->rings);
}

static bool
is_of_a_packet(int error)
{
	switch (error) {
	case ECONNREFUSED:
	case ECONNRESET:
	case EHOSTUNREACH:
	case EHOSTDOWN:
	case ENETUNREACH:
	case ENETDOWN:
	case ENETRESET:
	case ENONET:
	case ENOPROTOOPT:
	case EPROTO:
	case EOPNOTSUPP:
	case EMSGSIZE:
	case EADDRNOTAVAIL:
	case ENODEV:
	case ENXIO:
	case EPERM:
	case EACCES:
	case ENOBUFS:
	case ENOMEM:
		return true;
	default:
		return false;
	}
}

bool
link_softens(struct link *link, int error)
{
	if (!is_of_a_packet(error))
		return false;
	link->soft_error = error;
	return true;
}

int
rings_port(const struct link *link, const struct frame_datagram *datagram)
{
	for (unsigned int s = 0; s < link->ports; s++) {
		if (link->port[s].to == datagram->from && link->port[s].from == datagram->to)
			return (int)s;
	}
	return -1;
}

bool
rings_read_name(const char *text, const char *key, char name[LINK_NAME_BYTES], uint32_t *number)
{
	const char *comma = strstr(text, key);
	const char *digits = comma != NULL ? comma + strlen(key) : "0";
	size_t length = comma != NULL ? (size_t)(comma - text) : strlen(text);
	unsigned long value;
	char *end;

	value = strtoul(digits, &end, 10);
	if (length == 0 || length >= LINK_NAME_BYTES || !isdigit((unsigned char)*digits) ||
		*end != '\0' || value > UINT32_MAX)
		return false;
	memcpy(name, text, length);
	name[length] = '\0';
	*number = (uint32_t)value;
	return true;
}

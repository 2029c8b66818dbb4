/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#include "error.h"

/* What the kernel adds to a packet when it counts a socket's memory, halved: it doubles limits. */
#define PACKET_OVERHEAD 768

static const char *
prepare(int fd, const struct address *to, const struct address *bind_to, const char *interface)
{
	/* No fragments; and no ICMP message, which anybody can send, says what is too large. */
	const int discover = IP_PMTUDISC_PROBE;
	bool v6 = to->storage.ss_family == AF_INET6;

	if (setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER,
		    &discover, sizeof(discover)) != 0)
		return "forbid fragments of packets to";
	if (interface != NULL &&
		setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface,
			(socklen_t)strlen(interface) + 1) != 0)
		return "choose the network device to";
	if (bind_to != NULL &&
		bind(fd, (const struct sockaddr *)&bind_to->storage, bind_to->length) != 0)
		return "take the local address (option bind_address) for packets to";
	if (connect(fd, (const struct sockaddr *)&to->storage, to->length) != 0)
		return "connect to";
	return NULL;
}

int
socket_open(struct netfc_allreduce *comm, const struct peer *peer, const struct address *to,
	const struct address *bind_to, const char *interface, int *status)
{
	const char *problem = "open a socket for";
	int fd = socket(to->storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		problem = prepare(fd, to, bind_to, interface);
		if (problem == NULL)
			return fd;
	}
	*status = error_of_call(comm, peer, problem, errno);
	if (fd >= 0)
		close(fd);
	return -1;
}

void
socket_reserve(int fd, unsigned int packets, size_t bytes)
{
	size_t need = packets * (bytes + PACKET_OVERHEAD);
	int size = need > INT32_MAX / 2 ? INT32_MAX / 2 : (int)need;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) != 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

void
socket_join_packets(int fd)
{
	const int on = 1;

	setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof(on));
}

unsigned int
socket_mtu(int fd, int family)
{
	int mtu = 0;
	socklen_t length = sizeof(mtu);

	if (getsockopt(fd, family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP,
		    family == AF_INET6 ? IPV6_MTU : IP_MTU, &mtu, &length) != 0)
		return 0;
	return mtu > 0 ? (unsigned int)mtu : 0;
}

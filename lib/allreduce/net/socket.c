/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
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
soft_error_record(struct peer *peer, int error, uint64_t now)
{
	if (!is_of_a_packet(error))
		return false;
	peer->soft_error = error;
	peer->soft_error_time = now;
	return true;
}

int
unix_socket_connect(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	socklen_t length = sizeof(to);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return -1;
	strncpy(to.sun_path, path, sizeof(to.sun_path) - 1);
	if (path[0] == '@') {
		to.sun_path[0] = '\0';
		length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	}
	if (connect(fd, (const struct sockaddr *)&to, length) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool
unix_socket_send(int socket, const void *message, size_t bytes, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(fd))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(fd)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS}};
	struct iovec part = {.iov_base = (void *)(uintptr_t)message, .iov_len = bytes};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		header.msg_control = &control;
		header.msg_controllen = sizeof(control.bytes);
	}
	return sendmsg(socket, &header, MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <ip_headers.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"

#define HOST_BYTES 256
#define UDP_BYTES 8
#define IPV4_ADDR_BYTES 20
#define IPV6_ADDR_BYTES 40

static const char *
parse_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || number == 0 || number > UINT16_MAX)
		return "the port is not a number from 1 to 65535";
	*port = (uint16_t)number;
	return NULL;
}

/* Split "host", "host:port", "[host]:port" and IPv6 addresses without brackets. */
static const char *
split(const char *text, char host[HOST_BYTES], uint16_t *port)
{
	const char *end = text + strlen(text);
	const char *colon = strrchr(text, ':');

	if (text[0] == '[') {
		const char *bracket = strchr(text, ']');

		if (bracket == NULL)
			return "the closing bracket is missing";
		if (bracket[1] != '\0' && bracket[1] != ':')
			return "a colon is missing after the bracket";
		colon = bracket[1] == ':' ? bracket + 1 : NULL;
		text++;
		end = bracket;
	} else if (colon != NULL && strchr(text, ':') == colon) {
		end = colon;
	} else {
		colon = NULL;
	}
	if (end == text)
		return "the address is missing";
	if (end - text >= HOST_BYTES)
		return "the name is too long";
	memcpy(host, text, (size_t)(end - text));
	host[end - text] = '\0';
	return colon == NULL ? NULL : parse_port(colon + 1, port);
}

static void
write_text(struct address *address)
{
	/* With the interface that an address may name. */
	char host[INET6_ADDRSTRLEN + IF_NAMESIZE] = "";
	bool v6 = address->storage.ss_family == AF_INET6;

	getnameinfo((const struct sockaddr *)&address->storage, address->length, host, sizeof(host),
		NULL, 0, NI_NUMERICHOST);
	snprintf(address->text, sizeof(address->text), v6 ? "[%s]:%u" : "%s:%u", host,
		address_port(address));
}

static bool
lacks_interface(const struct address *address)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->storage;

	return v6->sin6_family == AF_INET6 && v6->sin6_scope_id == 0 &&
		IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr);
}

/* An IPv4 address that is written as one of IPv6: what sockets of IPv6 are told is not for it. */
static void
unmap(struct address *address)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->storage;
	struct sockaddr_in v4 = {.sin_family = AF_INET};

	if (v6->sin6_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		return;
	memcpy(&v4.sin_addr, &v6->sin6_addr.s6_addr[12], sizeof(v4.sin_addr));
	memcpy(&address->storage, &v4, sizeof(v4));
	address->length = sizeof(v4);
}

const char *
address_parse(struct address *address, const char *text, uint16_t port)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
	struct addrinfo *found;
	char host[HOST_BYTES];
	const char *problem = split(text, host, &port);
	int error;

	if (problem != NULL)
		return problem;
	error = getaddrinfo(host, NULL, &hints, &found);
	if (error != 0)
		return gai_strerror(error);
	memcpy(&address->storage, found->ai_addr, found->ai_addrlen);
	address->length = found->ai_addrlen;
	freeaddrinfo(found);
	unmap(address);
	address_set_port(address, port);
	if (lacks_interface(address))
		return "a link-local address needs its interface, as in fe80::1%eth0";
	return NULL;
}

uint16_t
address_port(const struct address *address)
{
	if (address->storage.ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)&address->storage)->sin6_port);
	return ntohs(((const struct sockaddr_in *)&address->storage)->sin_port);
}

void
address_set_port(struct address *address, uint16_t port)
{
	if (address->storage.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&address->storage)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)&address->storage)->sin_port = htons(port);
	write_text(address);
}

size_t
address_ip(const struct sockaddr *from, uint8_t to[16])
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4;

	if (from->sa_family == AF_INET6) {
		memcpy(&v6, from, sizeof(v6));
		memcpy(to, &v6.sin6_addr, sizeof(v6.sin6_addr));
		return sizeof(v6.sin6_addr);
	}
	if (from->sa_family != AF_INET)
		return 0;
	memcpy(&v4, from, sizeof(v4));
	memcpy(to, &v4.sin_addr, sizeof(v4.sin_addr));
	return sizeof(v4.sin_addr);
}

bool
address_of_socket(struct address *address, int fd)
{
	address->length = sizeof(address->storage);
	if (getsockname(fd, (struct sockaddr *)&address->storage, &address->length) != 0)
		return false;
	write_text(address);
	return true;
}

unsigned int
address_header_bytes(const struct address *address)
{
	return UDP_BYTES +
		(address->storage.ss_family == AF_INET6 ? IPV6_ADDR_BYTES : IPV4_ADDR_BYTES);
}

bool
device_mac(int fd, const char *name, uint8_t mac[6])
{
	struct ifreq request = {0};

	strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
	if (ioctl(fd, SIOCGIFHWADDR, &request) != 0)
		return false;
	memcpy(mac, request.ifr_hwaddr.sa_data, 6);
	errno = EPROTOTYPE;
	return request.ifr_hwaddr.sa_family == ARPHRD_ETHER;
}

static bool
is_same(const struct sockaddr *found, const uint8_t *ip, size_t bytes)
{
	uint8_t other[16];

	return found != NULL && address_ip(found, other) == bytes && memcmp(other, ip, bytes) == 0;
}

bool
device_has(const char *name, const uint8_t *ip, size_t bytes)
{
	struct ifaddrs *all, *each;
	bool has = false;

	if (getifaddrs(&all) != 0)
		return false;
	for (each = all; each != NULL && !has; each = each->ifa_next)
		has = strcmp(each->ifa_name, name) == 0 && is_same(each->ifa_addr, ip, bytes);
	freeifaddrs(all);
	return has;
}

/* What the kernel adds to a packet when it counts a socket's memory, halved: it doubles limits. */
#define PACKET_OVERHEAD 768

/* Packets may be marked by routers that are congested (RFC 3168), and it is said of those received.
 */
static void
socket_say_marks(int fd, bool v6)
{
	const int level = v6 ? IPPROTO_IPV6 : IPPROTO_IP, capable = IP_ECN_CAPABLE, on = 1;

	setsockopt(fd, level, v6 ? IPV6_TCLASS : IP_TOS, &capable, sizeof(capable));
	setsockopt(fd, level, v6 ? IPV6_RECVTCLASS : IP_RECVTOS, &on, sizeof(on));
}

static const char *
prepare(int fd, const struct address *to, const struct address *bind_to, const char *interface)
{
	/* No fragments; and no ICMP message, which anybody can send, says what is too large. */
	const int discover = IP_PMTUDISC_PROBE;
	bool v6 = to->storage.ss_family == AF_INET6;

	if (setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER,
		    &discover, sizeof(discover)) != 0)
		return "forbid fragments of packets to";
	socket_say_marks(fd, v6);
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

const char *
socket_open(int *fd, const struct address *to, const struct address *bind_to, const char *interface)
{
	const char *problem;
	int error;

	*fd = socket(to->storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return "open a socket for";
	problem = prepare(*fd, to, bind_to, interface);
	if (problem != NULL) {
		error = errno;
		close(*fd);
		errno = error;
		*fd = -1;
	}
	return problem;
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

/* Who does not accept has room for few that wait; a signal ends waiting for it. */
static bool
connect_until(int fd, const struct sockaddr_un *to, socklen_t length, uint64_t until)
{
	do {
		const uint64_t us = clock_until(clock_now(), until) / NS_PER_US;
		const struct timeval left = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};

		errno = EAGAIN;
		if (us == 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof(left)) != 0)
			break;
		if (connect(fd, (const struct sockaddr *)to, length) == 0)
			return true;
	} while (errno == EINTR);
	if (errno == EAGAIN)
		errno = ETIMEDOUT;
	return false;
}

int
unix_socket_connect(const char *path, uint64_t until)
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
	if (connect_until(fd, &to, length, until))
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

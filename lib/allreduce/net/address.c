/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define HOST_BYTES 256
#define UDP_BYTES 8
#define IPV4_BYTES 20
#define IPV6_BYTES 40

static const char *
parse_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || number == 0 || number > UINT16_MAX)
		return "the port is no number of 1 to 65535";
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
			return "a colon is missing behind the bracket";
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
	char host[INET6_ADDRSTRLEN] = "";
	bool v6 = address->storage.ss_family == AF_INET6;
	const void *bytes = v6
		? (const void *)&((const struct sockaddr_in6 *)&address->storage)->sin6_addr
		: (const void *)&((const struct sockaddr_in *)&address->storage)->sin_addr;

	inet_ntop(address->storage.ss_family, bytes, host, sizeof(host));
	snprintf(address->text, sizeof(address->text), v6 ? "[%s]:%u" : "%s:%u", host,
		address_port(address));
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
	address_set_port(address, port);
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
	return UDP_BYTES + (address->storage.ss_family == AF_INET6 ? IPV6_BYTES : IPV4_BYTES);
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

/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ip_headers.h>

#include "endpoint/addresses.h"
#include "option.h"

#define OPTION "--address"

static int
refuse(const char *text, const char *why)
{
	return REPORT(OPTION " '%s': %s\n", text, why);
}

static bool
parse_number(const char *text, unsigned long greatest, unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 &&
		*number <= greatest;
}

static unsigned int
address_bits(const struct address *address)
{
	return address->family == 4 ? 32 : 128;
}

static bool
parse_ip(const char *text, struct address *address)
{
	address->family = 4;
	if (inet_pton(AF_INET, text, address->bytes) == 1)
		return true;
	address->family = 6;
	return inet_pton(AF_INET6, text, address->bytes) == 1;
}

/* Whether all bits after the prefix are `bit`. */
static bool
host_bits_are(const struct address *address, unsigned int length, unsigned int bit)
{
	for (unsigned int i = length; i < address_bits(address); i++) {
		if ((address->bytes[i / 8] >> (7 - i % 8) & 1u) != bit)
			return false;
	}
	return true;
}

bool
address_is_host(const struct address *address)
{
	return ip_is_host(address->bytes, address->family == 6);
}

/* The first and the last address of an IPv4 network mean all of its hosts (RFC 1122, 3.2.1.3). */
static bool
is_network(const struct address *address, unsigned long length)
{
	return address->family == 4 && length < 31 &&
		(host_bits_are(address, (unsigned int)length, 0) ||
			host_bits_are(address, (unsigned int)length, 1));
}

static bool
is_on_link(const struct address *own, const struct address *to)
{
	unsigned int bytes = own->length / 8u, rest = own->length % 8u;

	return memcmp(own->bytes, to->bytes, bytes) == 0 &&
		(rest == 0 || (own->bytes[bytes] ^ to->bytes[bytes]) >> (8 - rest) == 0);
}

bool
address_is_link(const struct address *own, const struct address *other)
{
	return own->family == other->family && is_on_link(own, other) &&
		is_network(other, own->length);
}

bool
addresses_same_host(const struct address *a, const struct address *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, address_bits(a) / 8) == 0;
}

static bool
same(const struct address *a, const struct address *b)
{
	return addresses_same_host(a, b) &&
		(a->port == b->port || a->port == EVERY_PORT || b->port == EVERY_PORT);
}

/* "PORT" or "PORT:QUEUE" */
static bool
parse_port(char *text, struct address *address)
{
	char *queue = strchr(text, ':');
	unsigned long number;

	if (queue != NULL) {
		*queue++ = '\0';
		if (!parse_number(queue, ANY_QUEUE - 1, &number))
			return false;
		address->queue = (uint16_t)number;
	}
	if (!parse_number(text, EVERY_PORT - 1, &number))
		return false;
	address->port = (uint16_t)number;
	return true;
}

/* Take "@PORT" and "/LEN" off the end of `ip`, which is a copy of `text`. */
static int
parse_parts(const char *text, char *ip, struct address *address)
{
	char *port = strchr(ip, '@'), *slash;
	unsigned long length;

	address->port = EVERY_PORT;
	address->queue = ANY_QUEUE;
	if (port != NULL) {
		*port++ = '\0';
		if (!parse_port(port, address))
			return refuse(
				text, "expected the number of a port after the '@', or PORT:QUEUE");
	}
	slash = strchr(ip, '/');
	if (slash != NULL)
		*slash++ = '\0';
	if (!parse_ip(ip, address))
		return refuse(text, "expected an IPv4 or IPv6 address, as in 192.0.2.1/24@0");
	length = address_bits(address);
	if (slash != NULL && !parse_number(slash, address_bits(address), &length))
		return refuse(text, "expected a prefix length after the '/'");
	if (!address_is_host(address) || is_network(address, length))
		return refuse(text, "no host can have this address");
	address->length = (uint8_t)length;
	return 0;
}

int
addresses_add(struct addresses *addresses, const char *text)
{
	struct address *address = &addresses->address[addresses->count];
	char ip[80];

	if (addresses->count == MAX_ADDRESSES)
		return refuse(text, "too many addresses");
	if (strlen(text) >= sizeof(ip))
		return refuse(text, "expected an IPv4 or IPv6 address");
	memcpy(ip, text, strlen(text) + 1);
	memset(address, 0, sizeof(*address));
	if (parse_parts(text, ip, address) != 0)
		return -1;
	for (unsigned int a = 0; a < addresses->count; a++) {
		if (same(&addresses->address[a], address))
			return refuse(text, "the switch has this address already");
	}
	addresses->count++;
	return 0;
}

bool
address_read(const char *text, struct address *address)
{
	*address = (struct address){.port = EVERY_PORT, .queue = ANY_QUEUE};
	if (!parse_ip(text, address))
		return false;
	address->length = (uint8_t)address_bits(address);
	return address_is_host(address);
}

const struct address *
addresses_towards(const struct addresses *addresses, const struct address *to)
{
	const struct address *best = NULL;

	for (unsigned int a = 0; a < addresses->count; a++) {
		const struct address *own = &addresses->address[a];

		if (own->family != to->family)
			continue;
		if (is_on_link(own, to))
			return own;
		if (best == NULL)
			best = own;
	}
	return best;
}

void
address_print(const struct address *address, char *text, unsigned int size)
{
	char ip[INET6_ADDRSTRLEN];

	inet_ntop(address->family == 4 ? AF_INET : AF_INET6, address->bytes, ip, sizeof(ip));
	if (address->port == EVERY_PORT)
		snprintf(text, size, "%s", ip);
	else if (address->queue == ANY_QUEUE)
		snprintf(text, size, "%s@%u", ip, address->port);
	else
		snprintf(text, size, "%s@%u:%u", ip, address->port, address->queue);
}

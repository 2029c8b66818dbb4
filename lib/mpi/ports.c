/* SPDX-License-Identifier: BSD-3-Clause */
#include "ports.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "memif:"
#define ID ",id="

bool
ports_are_meant(const char *interface)
{
	return interface != NULL && strncmp(interface, PREFIX, sizeof(PREFIX) - 1) == 0;
}

/* Up to five digits. Returns what follows; NULL: there is no number. */
static const char *
read_number(const char *text, unsigned int *number)
{
	const size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 5)
		return NULL;
	*number = (unsigned int)strtoul(text, NULL, 10);
	return text + digits;
}

/* "3" or "3-6". */
static bool
read_range(const char *text, unsigned int *first, unsigned int *last)
{
	const char *end = read_number(text, first);

	*last = *first;
	if (end != NULL && *end == '-')
		end = read_number(end + 1, last);
	return end != NULL && *end == '\0' && *first <= *last;
}

/* The least 32 bits of an address count up. */
static bool
address_after(const char *first, unsigned int n, char text[INET6_ADDRSTRLEN])
{
	const int family = strchr(first, ':') == NULL ? AF_INET : AF_INET6;
	unsigned char bytes[sizeof(struct in6_addr)] = {0};
	unsigned char *low = bytes + (family == AF_INET ? 0 : 12);
	uint32_t number;

	if (inet_pton(family, first, bytes) != 1)
		return false;
	memcpy(&number, low, sizeof(number));
	number = htonl(ntohl(number) + n);
	memcpy(low, &number, sizeof(number));
	return inet_ntop(family, bytes, text, INET6_ADDRSTRLEN) != NULL;
}

const char *
ports_get(const char *interface, const char *first_address, unsigned int n, struct port *port)
{
	const char *id = strstr(interface, ID);
	const size_t length = id == NULL ? strlen(interface) : (size_t)(id - interface);
	unsigned int first = 0, last = 0;

	if (id != NULL && !read_range(id + sizeof(ID) - 1, &first, &last))
		return "NETFC_MPI_INTERFACE: after id= there has to be a number, or two: 0-3";
	if (first_address == NULL || !address_after(first_address, n, port->address))
		return "NETFC_MPI_BIND_ADDRESS has to be an address that nobody else has, as "
		       "NETFC_MPI_INTERFACE is memory shared with the switch (memif)";
	if (n > last - first)
		return "";
	if ((size_t)snprintf(port->interface, sizeof(port->interface), "%.*s" ID "%u", (int)length,
		    interface, first + n) >= sizeof(port->interface))
		return "NETFC_MPI_INTERFACE is too long";
	return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ADDRESSES_H
#define ADDRESSES_H

/** @file IP addresses that the switch answers to, from the command line. */

#include <stdbool.h>
#include <stdint.h>

/** Maximum number of addresses, over all ports. */
#define MAX_ADDRESSES 64

/** All ports. */
#define EVERY_PORT UINT16_MAX

/** Any receive queue: the device chooses. */
#define ANY_QUEUE UINT16_MAX

/** An address of the switch. */
struct address {
	uint8_t family;    /**< 4 or 6 */
	uint8_t length;    /**< bits of the link's prefix; else all bits */
	uint8_t bytes[16]; /**< in network order; 4 of them for IPv4 */
	uint16_t port;     /**< the ethdev's id, or EVERY_PORT */
	uint16_t queue;    /**< of that port, to which requests are to be steered, or ANY_QUEUE */
};

/** All of them. */
struct addresses {
	unsigned int count;
	struct address address[MAX_ADDRESSES];
};

/**
 * Add an address: IP[/LEN][@PORT[:QUEUE]].
 *
 * @return 0, or -1 (reported on stderr): it does not parse, is no address of a host, is there
 * already, or there are too many
 */
int addresses_add(struct addresses *addresses, const char *text);

/** Read the address of another host: IP, without anything after it. False: it is none. */
bool address_read(const char *text, struct address *address);

/**
 * Whether a host can have the address: not if it is multicast, unspecified, loopback or limited
 * broadcast, to which nobody can send as to one host, or an IPv4 address mapped to IPv6
 * (::ffff:0:0/96), which no packet has (RFC 6890).
 */
bool address_is_host(const struct address *address);

/** Whether another IPv4 address means all hosts of the link of one of ours. */
bool address_is_link(const struct address *own, const struct address *other);

/** Whether two addresses are the same, whatever their ports. */
bool addresses_same_host(const struct address *a, const struct address *b);

/**
 * Choose the source address for packets to another address: one on its link, else the first of its
 * family; NULL: there is none.
 */
const struct address *
addresses_towards(const struct addresses *addresses, const struct address *to);

/** Write an address as addresses_add() reads it, without LEN; 64 characters are enough. */
void address_print(const struct address *address, char *text, unsigned int size);

#endif /* ADDRESSES_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_SOCKET_H
#define ALLREDUCE_SOCKET_H

/**
 * @file
 * Sockets, each connected to one UDP port of a switch; and Unix sockets.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

/* Addresses, from text and back, and those of network devices. */

/*
 * Read "host", "host:port" or "[IPv6]:port"; `port` where there is none.
 * Returns NULL, or what is wrong with it, without a full stop.
 */
const char *address_parse(struct address *address, const char *text, uint16_t port);

uint16_t address_port(const struct address *address);
void address_set_port(struct address *address, uint16_t port);

/* Copy the IP address. Returns its bytes; 0: it is neither IPv4 nor IPv6. */
size_t address_ip(const struct sockaddr *from, uint8_t to[16]);

/* The local address of a socket. False: errno says why. */
bool address_of_socket(struct address *address, int fd);

/* Bytes of the IP and UDP headers of packets to it. */
unsigned int address_header_bytes(const struct address *address);

/* A network device's MAC address, asked by any socket. False: errno says why, EPROTOTYPE: none. */
bool device_mac(int fd, const char *name, uint8_t mac[6]);

/* Whether an IP address of so many bytes is one of the device's. */
bool device_has(const char *name, const uint8_t *ip, size_t bytes);

/*
 * Open one. Returns it, or -1 and has said what went wrong; *status is why.
 *
 * `to` is a port of the peer's address.
 */
int socket_open(struct netfc_allreduce *comm, const struct peer *peer, const struct address *to,
	const struct address *bind_to, const char *interface, int *status);

/* Let it hold that many packets of that many bytes, as far as the system allows. */
void socket_reserve(int fd, unsigned int packets, size_t bytes);

/*
 * Let the kernel hand over packets that came together as one datagram (UDP_GRO), if it can: what
 * receives them has to know that.
 */
void socket_join_packets(int fd);

/* Bytes of a packet, IP header included, that the path takes; 0: unknown. */
unsigned int socket_mtu(int fd, int family);

/*
 * A call on a socket to the peer has failed with that errno. A soft error (RFC 1122) is what a
 * system call reports of a packet that was sent earlier, and costs no more than that packet: it may
 * come from an ICMP message, which anybody can send, a link that is down for a while, or a
 * firewall. It is recorded, in case the peer stays silent. False: not a soft error, but a bug or a
 * missing resource.
 */
bool soft_error_record(struct peer *peer, int error, uint64_t now);

/* Soft errors that are read in a row: what comes each time is of no packet sent earlier. */
#define MAX_SOFT_ERRORS 8

/* Clear it: the peer has been heard. */
static inline void
soft_error_clear(struct peer *peer)
{
	peer->soft_error = 0;
}

/*
 * Connect to another process of this machine, keeping messages apart; "@NAME" is an abstract name.
 * Returns the socket, or -1 and errno.
 */
int unix_socket_connect(const char *path);

/* Send a message, with a file unless that is -1. False: errno says why. */
bool unix_socket_send(int socket, const void *message, size_t bytes, int fd);

#endif /* ALLREDUCE_SOCKET_H */

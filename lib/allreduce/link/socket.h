/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_SOCKET_H
#define ALLREDUCE_SOCKET_H

/**
 * @file
 * Sockets, each connected to one UDP port of the other end; what they say of addresses and network
 * devices; and Unix sockets.
 */

#include "link/link.h"

/* Copy the IP address. Returns its bytes; 0: it is neither IPv4 nor IPv6. */
size_t address_ip(const struct sockaddr *from, uint8_t to[16]);

/* The local address of a socket. False: errno says why. */
bool address_of_socket(struct address *address, int fd);

/* A network device's MAC address, asked by any socket. False: errno says why, EPROTOTYPE: none. */
bool device_mac(int fd, const char *name, uint8_t mac[6]);

/* Whether an IP address of so many bytes is one of the device's. */
bool device_has(const char *name, const uint8_t *ip, size_t bytes);

/* Open one. Returns NULL, and its *fd; or what went wrong, and errno. */
const char *socket_open(
	int *fd, const struct address *to, const struct address *bind_to, const char *interface);

/* Let it hold that many packets of that many bytes, as far as the system allows. */
void socket_reserve(int fd, unsigned int packets, size_t bytes);

/* Bytes of a packet, IP header included, that the path takes; 0: unknown. */
unsigned int socket_mtu(int fd, int family);

/*
 * Connect to another process of this machine, keeping messages apart; "@NAME" is an abstract name.
 * Returns the socket, or -1 and errno.
 *
 * `until`: ns
 */
int unix_socket_connect(const char *path, uint64_t until);

/* Send a message, with a file unless that is -1. False: errno says why. */
bool unix_socket_send(int socket, const void *message, size_t bytes, int fd);

#endif /* ALLREDUCE_SOCKET_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_ADDRESS_H
#define ALLREDUCE_ADDRESS_H

/**
 * @file
 * Addresses, from text and back, and those of network devices.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal.h"

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

#endif /* ALLREDUCE_ADDRESS_H */

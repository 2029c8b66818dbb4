/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_ADDRESS_H
#define ALLREDUCE_ADDRESS_H

/**
 * @file
 * Addresses from text and back.
 */

#include "internal.h"

/*
 * Read "host", "host:port" or "[IPv6]:port"; `port` where there is none.
 * Returns NULL, or what is wrong with it, without a full stop.
 */
const char *address_parse(struct address *address, const char *text, uint16_t port);

uint16_t address_port(const struct address *address);
void address_set_port(struct address *address, uint16_t port);

/* Bytes of the IP and UDP headers of packets to it. */
unsigned int address_header_bytes(const struct address *address);

#endif /* ALLREDUCE_ADDRESS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_PORTS_H
#define NETFC_MPI_PORTS_H

/**
 * @file
 * The ports of a switch on this machine that a node's communicators share memory with (memif).
 *
 * Each serves one communicator at a time, with an address that nobody else has: "memif:PATH,id=2-5"
 * are four, whose addresses are the given one and those that follow it.
 */

#include <netinet/in.h>
#include <stdbool.h>

#define PORTS_INTERFACE_BYTES 160

struct port {
	char interface[PORTS_INTERFACE_BYTES]; /**< as libnetfc-allreduce takes it */
	char address[INET6_ADDRSTRLEN];
};

/** Whether an interface is one of these. */
bool ports_are_meant(const char *interface);

/**
 * The n-th port, from 0.
 *
 * @param first_address of the first one; NULL: none is given
 * @return NULL; "": there are fewer; else what is wrong with the interface or the address
 */
const char *
ports_get(const char *interface, const char *first_address, unsigned int n, struct port *port);

#endif /* NETFC_MPI_PORTS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/* How cg.c and elements.c join a job of the switch's: a rank is a worker. */
#ifndef WORKERS_H
#define WORKERS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <netfc_allreduce.h>

static struct netfc_allreduce *comm;

/* mpirun ends the others, too. */
static void
check(int status)
{
	if (status == NETFC_ALLREDUCE_OK)
		return;
	fprintf(stderr, "%s\n", netfc_allreduce_error(comm));
	exit(EXIT_FAILURE);
}

/*
 * NETFC_SWITCH in the environment has the switch's address. NETFC_MEMIF=SOCKET and
 * NETFC_NETWORK=10.1.0: each rank shares memory with the switch, by the port of its number.
 */
static void
join(int rank, int ranks, uint64_t token)
{
	const char *switches[] = {getenv("NETFC_SWITCH")};
	const char *socket = getenv("NETFC_MEMIF"), *network = getenv("NETFC_NETWORK");
	struct netfc_allreduce_options options;
	char interface[128], address[32];

	netfc_allreduce_options_init(&options, sizeof(options));
	options.switches = switches;
	options.switch_count = 1;
	options.token = token;
	options.worker = rank;
	options.workers = ranks;
	if (socket != NULL && network != NULL) {
		snprintf(interface, sizeof(interface), "memif:%s,id=%d", socket, rank);
		snprintf(address, sizeof(address), "%s.%d", network, rank + 1);
		options.interface = interface;
		options.bind_address = address;
	}
	comm = netfc_allreduce_new();
	check(netfc_allreduce_join(comm, &options));
}

static void
leave(void)
{
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
}

#endif /* WORKERS_H */

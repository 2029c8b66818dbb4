/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RELAY_H
#define RELAY_H

/**
 * @file
 * A bad network: passes datagrams on between clients and a server on this machine, and loses,
 * repeats and delays some, both ways, by seed.
 */

#include <stdint.h>

struct relay_options {
	uint16_t port;       /* to listen on, that of shard 0; 0: any */
	const char *server;  /* its address; NULL: 127.0.0.1 */
	uint16_t to;         /* its port, that of shard 0 */
	unsigned int shards; /* ports in a row */
	uint64_t seed;
	double lost, repeated, delayed; /* shares of the packets */
	unsigned int delay_us;          /* at the most; that changes their order */
};

struct relay;

/* Start one. NULL: it can't be, and has said so on standard error. */
struct relay *relay_start(const struct relay_options *options);

uint16_t relay_port(const struct relay *relay);

/* From now on as these say; ports stay. */
void relay_change(struct relay *relay, double lost, double repeated, double delayed);

void relay_stop(struct relay *relay);

#endif /* RELAY_H */

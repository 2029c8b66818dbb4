/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RELAY_H
#define RELAY_H

/**
 * @file
 * A bad network: passes datagrams on between clients and a server on this machine, and loses,
 * repeats and delays some, both ways, by seed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What becomes of a packet before chance has its say. */
enum relay_verdict {
	RELAY_PASS,
	RELAY_LOSE,
	RELAY_KEEP, /* pass, and keep a double for relay_say_again() */
};

/* Asked about each packet, in the relay's thread. */
typedef enum relay_verdict (*relay_judge)(
	void *context, bool from_server, uint8_t *payload, size_t length);

struct relay_options {
	uint16_t port;       /* to listen on, that of shard 0; 0: any */
	const char *server;  /* its address; NULL: 127.0.0.1 */
	uint16_t to;         /* its port, that of shard 0 */
	unsigned int shards; /* ports in a row */
	uint64_t seed;
	double lost, repeated, delayed; /* shares of the packets */
	unsigned int delay_us;          /* at most; that changes their order */
	bool marked;       /* replies are, as if a router on their way was congested (RFC 3168) */
	relay_judge judge; /* NULL: all pass */
	void *context;
};

struct relay;

/* Start one. NULL: it can't be, and has said so on standard error. */
struct relay *relay_start(const struct relay_options *options);

uint16_t relay_port(const struct relay *relay);

/*
 * Close the ports that clients send to, so that their host is told that nothing listens, or open
 * them again. Returns when that is done.
 */
void relay_close(struct relay *relay, bool closed);

/* Send the doubles that were kept, once. Returns how many there were. */
unsigned int relay_say_again(struct relay *relay);

void relay_stop(struct relay *relay);

#endif /* RELAY_H */

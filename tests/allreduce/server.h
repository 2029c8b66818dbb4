/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVER_H
#define SERVER_H

/**
 * @file
 * An aggregation server on UDP sockets of this machine: lib/aggregate behind recvmmsg() and
 * sendmmsg(). One thread serves all shards.
 */

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include <aggregate.h>

struct server_options {
	const char *address; /* to listen on; NULL: 127.0.0.1 and ::1 alike */
	uint16_t port;       /* of shard 0; 0: any */
	unsigned int shards;
	unsigned int jobs;
	unsigned int slots;
	unsigned int bytes;
	unsigned int stall_ms;
	unsigned int idle_ms;
	unsigned int slow_us; /* shards but the first take one packet in so long; 0: any */
	const uint8_t *key;   /* the cluster's; NULL: no tags */
	bool no_digits;       /* members send values only */
	uint16_t parent;      /* the UDP port of the one above; 0: there is none. No key then */
	bool renumbers;       /* server_advance() is going to be called */
	bool joins;           /* results to one worker go as one datagram, cut by who takes them */
};

/* One shard, 16 jobs, 512 slots, 1448 bytes, stall and idle 10 minutes, any port. */
extern const struct server_options server_defaults;

struct server;

/* Start one; what is 0 is as in server_defaults. NULL: it can't be, and has said so on standard
 * error. */
struct server *server_start(const struct server_options *options);

uint16_t server_port(const struct server *server);

/* Take no packets, and send none, until told otherwise. */
void server_freeze(struct server *server, bool frozen);

/* Number what all entries hold as if that many chunks had been before; clients are idle. */
void server_advance(struct server *server, uint32_t chunks);

/* How many chunks of zeros came. */
uint64_t server_zeros(const struct server *server);

/* What was counted under that name, of all shards. */
uint64_t server_count(const struct server *server, enum aggregate_action action);

/* Jobs there are. */
unsigned int server_jobs(const struct server *server);

/* End it, and close its sockets. */
void server_stop(struct server *server);

/* What a server that is a leaf says to its parent, on this machine. */

/* The parent at that UDP port. */
struct aggregate_parent leaf_parent(uint16_t port);

/* Send an outcome's sums upwards. */
void leaf_send(int fd, struct aggregate_shard *shard, const struct aggregate_outcome *outcome);

/* Send the joins and leaves that are due; shard 0. */
void leaf_poll(int fd, struct aggregate_shard *shard, uint16_t port, uint64_t now);

/*
 * A packet that is no request. Returns whether its outcome has results for all workers; then
 * `request` is what they are built from.
 */
bool leaf_take(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	const struct sockaddr_in6 *from, uint64_t now, struct aggregate_message *request,
	struct aggregate_outcome *outcome);

#endif /* SERVER_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_FIXTURE_H
#define SLOWLORIS_FIXTURE_H

/** @file A detector, a server, its clients, and a clock, for tests. */

#include <rte_ip.h>
#include <rte_mempool.h>
#include <rte_tcp.h>

#include "cases.h"
#include "slowloris.h"

/** Workers of a detector. */
#define FIXTURE_WORKERS 4

/** The server's address, in host order. */
#define SERVER RTE_IPV4(10, 0, 0, 2)

#define SYN RTE_TCP_SYN_FLAG
#define ACK RTE_TCP_ACK_FLAG
#define FIN RTE_TCP_FIN_FLAG

struct fixture {
	struct rte_mempool *pool;
	struct rte_rcu_qsbr *qsbr;
	struct slowloris_config config;
	struct slowloris *detector;
	struct slowloris_worker *worker[FIXTURE_WORKERS];
	uint64_t now; /**< TSC */
};

/** An attack is 10 connections of over 0.001 per byte for a second; slow ones are dropped. */
extern const struct slowloris_config fixture_usual;

/** Make a detector; its sizes of the machine are filled in. */
struct fixture *fixture_create(const struct slowloris_config *config);

/** Free it, and see that no packet is missing. */
void fixture_destroy(struct fixture *f);

/**
 * Send a packet from a client, by its number, or to it.
 *
 * @param worker who receives it
 * @param answer from the server to the client
 * @param payload bytes, up to 100
 * @return whether it is dropped
 */
bool fixture_send(struct fixture *f, unsigned int worker, uint32_t client, bool answer,
	uint8_t flags, uint16_t payload);

/** The same from a client to worker 0. */
bool fixture_send_from(struct fixture *f, uint32_t client, uint8_t flags, uint16_t payload);

/** Let a client connect: three packets, none of which is dropped. */
void fixture_open(struct fixture *f, uint32_t client);

/** The server's registers; zeroes where it is not known. */
struct slowloris_registers fixture_registers(const struct fixture *f);

/** Let time pass as an lcore sees it that looks after the detector every few milliseconds. */
void fixture_pass(struct fixture *f, unsigned int ms);

#endif /* SLOWLORIS_FIXTURE_H */

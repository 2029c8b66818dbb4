/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_ring.h>

#include "run/idle.h"
#include "run/inside.h"
#include "pipeline.h"
#include "run/port.h"
#include "dpdk/reflect.h"

/* Packets per ring where a rate, not a window, decides how many there may be. */
#define RATE_RING 4096
#define LEAST_RING 1024

struct inside {
	struct pipeline *pipeline;
	struct pipeline_worker *worker;
	struct rte_ring *requests, *replies;
	uint16_t port_id; /* ours, which leads to the switch */
	struct port switch_port;
	unsigned int lcore_id;
	bool running;
	bool quit;
};

static int
say_failure(const char *what, int error)
{
	fprintf(stderr, PROGRAM ": --inline: cannot make %s: %s%s\n", what, rte_strerror(error),
		error == ENOMEM ? "; give the EAL more memory (-m 512 is enough)" : "");
	return -1;
}

static int
create_pipeline(const struct bench *bench, struct inside *inside)
{
	struct pipeline_config config = {
		.match = bench->options.match,
		.isa = vector_isa_best(),
		.udp_port = bench->options.route.dst_udp,
		.socket_id = SOCKET_ID_ANY,
	};
	int error;

	config.sets[netfc_format_id(netfc_set_format(bench->set))] = bench->set;
	error = pipeline_create(&config, &inside->pipeline);
	if (error != 0)
		return say_failure("the match stages", -error);
	inside->worker = pipeline_worker_create(
		inside->pipeline, (int)rte_lcore_to_socket_id(inside->lcore_id));
	return inside->worker != NULL ? 0 : say_failure("the pipeline", ENOMEM);
}

static struct rte_ring *
create_ring(const char *name, const struct options *options)
{
	uint32_t size = options->rate != 0 ? RATE_RING : rte_align32pow2(2 * options->window);

	return rte_ring_create(name, RTE_MAX(size, (uint32_t)LEAST_RING), SOCKET_ID_ANY,
		RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static int
create_rings(const struct bench *bench, struct inside *inside)
{
	inside->requests = create_ring("netfc_requests", &bench->options);
	inside->replies = create_ring("netfc_replies", &bench->options);
	if (inside->requests == NULL || inside->replies == NULL)
		return say_failure("its rings", rte_errno);
	return 0;
}

static int
create_ports(struct inside *inside)
{
	int ours, its;

	ours = rte_eth_from_rings("bench", &inside->replies, 1, &inside->requests, 1, 0);
	if (ours < 0)
		return say_failure("its ports", rte_errno);
	inside->port_id = (uint16_t)ours;
	its = rte_eth_from_rings("switch", &inside->requests, 1, &inside->replies, 1, 0);
	if (its < 0)
		return say_failure("its ports", rte_errno);
	return port_examine(&inside->switch_port, (uint16_t)its);
}

int
inside_create(struct bench *bench)
{
	struct inside *inside;

	if (rte_lcore_count() < 2) {
		fprintf(stderr,
			PROGRAM ": --inline: the switch needs a second lcore; on any machine:\n"
				"  " PROGRAM " --lcores '(0-1)@(0-1)' ... -- --inline ...\n");
		return -1;
	}
	inside = calloc(1, sizeof(*inside));
	if (inside == NULL)
		return say_failure("the switch", ENOMEM);
	bench->inside = inside;
	inside->lcore_id = rte_get_next_lcore((unsigned int)-1, 1, 0);
	if (create_pipeline(bench, inside) != 0 || create_rings(bench, inside) != 0)
		return -1;
	return create_ports(inside);
}

uint16_t
inside_port(const struct inside *inside)
{
	return inside->port_id;
}

unsigned int
inside_buffers(const struct inside *inside)
{
	return rte_ring_get_capacity(inside->requests) + rte_ring_get_capacity(inside->replies);
}

/* The data path of the switch; what its ring does not take is dropped, as by a full queue. */
static int
switch_main(void *arg)
{
	struct inside *inside = arg;
	uint16_t port = inside->switch_port.id;
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];
	bool yield = idle_should_yield(inside->lcore_id);

	while (!__atomic_load_n(&inside->quit, __ATOMIC_RELAXED)) {
		uint16_t count = rte_eth_rx_burst(port, 0, mbufs, PIPELINE_BURST), sent;

		if (count == 0) {
			idle(yield);
			continue;
		}
		pipeline_process(inside->worker, mbufs, frames, count);
		reflect(mbufs, frames, count);
		sent = rte_eth_tx_burst(port, 0, mbufs, count);
		rte_pktmbuf_free_bulk(mbufs + sent, (unsigned int)(count - sent));
	}
	return 0;
}

int
inside_start(struct bench *bench)
{
	struct inside *inside = bench->inside;
	int error;

	if (port_start(&inside->switch_port, &bench->options, bench->pool) != 0)
		return -1;
	error = rte_eal_remote_launch(switch_main, inside, inside->lcore_id);
	if (error != 0)
		return say_failure("the switch run", -error);
	inside->running = true;
	return 0;
}

static void
drain(struct rte_ring *ring)
{
	void *mbuf;

	while (rte_ring_dequeue(ring, &mbuf) == 0)
		rte_pktmbuf_free(mbuf);
}

void
inside_stop(struct inside *inside)
{
	if (inside == NULL || !inside->running)
		return;
	__atomic_store_n(&inside->quit, true, __ATOMIC_RELAXED);
	rte_eal_wait_lcore(inside->lcore_id);
	inside->running = false;
	drain(inside->requests);
	drain(inside->replies);
}

void
inside_free(struct inside *inside)
{
	if (inside == NULL)
		return;
	if (inside->switch_port.info.driver_name != NULL)
		port_stop(&inside->switch_port);
	pipeline_worker_free(inside->worker);
	pipeline_free(inside->pipeline);
	rte_ring_free(inside->requests);
	rte_ring_free(inside->replies);
	free(inside);
}

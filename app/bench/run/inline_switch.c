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
#include "run/inline_switch.h"
#include "pipeline.h"
#include "run/port.h"
#include "dpdk/reflect.h"
#include "options/option_values.h"

/* Packets per ring where a rate, not a window, decides how many there may be. */
#define RATE_RING 4096
#define LEAST_RING 1024

struct inline_switch {
	struct pipeline *pipeline;
	struct pipeline_worker *worker;
	struct rte_ring *requests, *replies;
	uint16_t port_id; /* the bench's, connected to the switch */
	struct port switch_port;
	unsigned int lcore_id;
	bool running;
	bool quit;
};

static int
say_failure(const char *what, int error)
{
	fprintf(stderr, PROGRAM ": --inline: cannot make %s: %s%s\n", what, rte_strerror(error),
		error == ENOMEM ? "; give the EAL more memory (-m 512 is enough; fp32_exact with "
				  "lpm: -m 704)"
				: "");
	return -1;
}

static int
create_pipeline(const struct bench *bench, struct inline_switch *inline_switch)
{
	struct pipeline_config config = {
		.match = bench->options.match,
		.isa = vector_isa_best(),
		.udp_port = bench->options.flow.dst_udp,
		.socket_id = SOCKET_ID_ANY,
	};
	const struct pipeline_function function = {
		.name = value_op_name(bench->options.op),
		.number = (uint8_t)bench->options.op,
		.format = (uint8_t)netfc_format_id(netfc_set_format(bench->set)),
		.z = bench->function != NULL ? bench->function->z : NULL,
		.flags = bench->function != NULL ? bench->function->flags : NULL,
	};
	int error;

	config.sets[netfc_format_id(netfc_set_format(bench->set))] = bench->set;
	if (bench->function != NULL) {
		config.functions = &function;
		config.function_count = 1;
	}
	error = pipeline_create(&config, &inline_switch->pipeline);
	if (error != 0)
		return say_failure("the match stages", -error);
	inline_switch->worker = pipeline_worker_create(
		inline_switch->pipeline, (int)rte_lcore_to_socket_id(inline_switch->lcore_id));
	return inline_switch->worker != NULL ? 0 : say_failure("the pipeline", ENOMEM);
}

static struct rte_ring *
create_ring(const char *name, const struct options *options)
{
	uint32_t size = options->rate != 0 ? RATE_RING : rte_align32pow2(2 * options->window);

	return rte_ring_create(name, RTE_MAX(size, (uint32_t)LEAST_RING), SOCKET_ID_ANY,
		RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static int
create_rings(const struct bench *bench, struct inline_switch *inline_switch)
{
	inline_switch->requests = create_ring("netfc_requests", &bench->options);
	inline_switch->replies = create_ring("netfc_replies", &bench->options);
	if (inline_switch->requests == NULL || inline_switch->replies == NULL)
		return say_failure("its rings", rte_errno);
	return 0;
}

static int
create_ports(struct inline_switch *inline_switch)
{
	int ours, its;

	ours = rte_eth_from_rings(
		"bench", &inline_switch->replies, 1, &inline_switch->requests, 1, 0);
	if (ours < 0)
		return say_failure("its ports", rte_errno);
	inline_switch->port_id = (uint16_t)ours;
	its = rte_eth_from_rings(
		"switch", &inline_switch->requests, 1, &inline_switch->replies, 1, 0);
	if (its < 0)
		return say_failure("its ports", rte_errno);
	return port_examine(&inline_switch->switch_port, (uint16_t)its);
}

int
inline_switch_create(struct bench *bench)
{
	struct inline_switch *inline_switch;

	if (rte_lcore_count() < 2) {
		fprintf(stderr,
			PROGRAM ": --inline: the switch needs a second lcore; on any machine:\n"
				"  " PROGRAM " --lcores '(0-1)@(0-1)' ... -- --inline ...\n");
		return -1;
	}
	inline_switch = calloc(1, sizeof(*inline_switch));
	if (inline_switch == NULL)
		return say_failure("the switch", ENOMEM);
	bench->inline_switch = inline_switch;
	inline_switch->lcore_id = rte_get_next_lcore((unsigned int)-1, 1, 0);
	if (create_pipeline(bench, inline_switch) != 0 || create_rings(bench, inline_switch) != 0)
		return -1;
	return create_ports(inline_switch);
}

uint16_t
inline_switch_port(const struct inline_switch *inline_switch)
{
	return inline_switch->port_id;
}

unsigned int
inline_switch_buffers(const struct inline_switch *inline_switch)
{
	return rte_ring_get_capacity(inline_switch->requests) +
		rte_ring_get_capacity(inline_switch->replies);
}

/* The data path of the switch; what its ring does not take is dropped, as by a full queue. */
static int
switch_main(void *arg)
{
	struct inline_switch *inline_switch = arg;
	uint16_t port = inline_switch->switch_port.id;
	struct rte_mbuf *mbufs[PIPELINE_BURST];
	struct frame frames[PIPELINE_BURST];
	bool yield = idle_should_yield(inline_switch->lcore_id);

	while (!__atomic_load_n(&inline_switch->quit, __ATOMIC_RELAXED)) {
		uint16_t count = rte_eth_rx_burst(port, 0, mbufs, PIPELINE_BURST), sent;

		if (count == 0) {
			idle(yield);
			continue;
		}
		pipeline_process(inline_switch->worker, mbufs, frames, count);
		reflect(mbufs, frames, count);
		sent = rte_eth_tx_burst(port, 0, mbufs, count);
		rte_pktmbuf_free_bulk(mbufs + sent, (unsigned int)(count - sent));
	}
	return 0;
}

int
inline_switch_start(struct bench *bench)
{
	struct inline_switch *inline_switch = bench->inline_switch;
	int error;

	if (port_start(&inline_switch->switch_port, &bench->options, bench->pool) != 0)
		return -1;
	error = rte_eal_remote_launch(switch_main, inline_switch, inline_switch->lcore_id);
	if (error != 0)
		return say_failure("the switch run", -error);
	inline_switch->running = true;
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
inline_switch_stop(struct inline_switch *inline_switch)
{
	if (inline_switch == NULL || !inline_switch->running)
		return;
	__atomic_store_n(&inline_switch->quit, true, __ATOMIC_RELAXED);
	rte_eal_wait_lcore(inline_switch->lcore_id);
	inline_switch->running = false;
	drain(inline_switch->requests);
	drain(inline_switch->replies);
}

void
inline_switch_free(struct inline_switch *inline_switch)
{
	if (inline_switch == NULL)
		return;
	if (inline_switch->switch_port.info.driver_name != NULL)
		port_stop(&inline_switch->switch_port);
	pipeline_worker_free(inline_switch->worker);
	pipeline_free(inline_switch->pipeline);
	rte_ring_free(inline_switch->requests);
	rte_ring_free(inline_switch->replies);
	free(inline_switch);
}

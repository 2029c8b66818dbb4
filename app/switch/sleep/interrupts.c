/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_log.h>

#include "sleep/interrupts.h"

/*
 * Those of net_tap also tell whether its interface is there; net_virtio_user (DPDK 22.11, 24.11)
 * connects anew for them, with another MAC address.
 */
bool
interrupts_wanted(const struct app *app, const struct port *port)
{
	const char *driver = port->info.driver_name;

	if (app->options.poll)
		return strcmp(driver, "net_tap") == 0;
	return strcmp(driver, "net_virtio_user") != 0;
}

/* The descriptor at which a queue's interrupts arrive; -1: it has none. */
static int
queue_fd(const struct app *app, const struct rx_queue *queue)
{
	int fd = rte_eth_dev_rx_intr_ctl_q_get_fd(app->port[queue->port].id, queue->queue);

	/* A device without interrupts may have descriptors of 0. */
	return fd > STDERR_FILENO ? fd : -1;
}

static bool
has_fd(const struct app *app, const struct lcore *lcore, int fd)
{
	for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
		if (queue_fd(app, &lcore->rx_queue[i]) == fd)
			return true;
	}
	return false;
}

/* Some devices have one interrupt for all queues: who disables it, disables it for all lcores. */
static bool
others_have(const struct app *app, const struct lcore *lcore, int fd)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		if (&app->lcore[lcore_id] != lcore && has_fd(app, &app->lcore[lcore_id], fd))
			return true;
	}
	return false;
}

static bool
can_wait(const struct app *app, const struct lcore *lcore)
{
	if (lcore->rx_queue_count == 0 || (lcore->shard != NULL && app->shard_count > 1))
		return false;
	for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
		int fd = queue_fd(app, &lcore->rx_queue[i]);

		if (fd < 0 || others_have(app, lcore, fd))
			return false;
	}
	return true;
}

/* An event at an edge needs no reading of the descriptor, which only its driver knows how to do. */
static int
add_queues(const struct app *app, const struct lcore *lcore, int epoll)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, queue_fd(app, &lcore->rx_queue[i]), &event) !=
				0 &&
			errno != EEXIST)
			return -1;
	}
	return 0;
}

static void
open_lcore(const struct app *app, struct lcore *lcore)
{
	int epoll;

	if (!can_wait(app, lcore))
		return;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return;
	if (add_queues(app, lcore, epoll) != 0) {
		close(epoll);
		return;
	}
	lcore->sleeper.epoll = epoll;
	lcore->sleeper.has_epoll = true;
	lcore->sleeper.interrupts = true;
}

void
interrupts_open(struct app *app)
{
	/* It calls every queue without interrupts an error. */
	const int type = rte_log_register("lib.ethdev");
	const int level = rte_log_get_level((uint32_t)type);
	unsigned int lcore_id;

	rte_log_set_level((uint32_t)type, RTE_LOG_CRIT);
	RTE_LCORE_FOREACH (lcore_id)
		open_lcore(app, &app->lcore[lcore_id]);
	rte_log_set_level((uint32_t)type, (uint32_t)level);
}

void
interrupts_close(struct app *app)
{
	unsigned int lcore_id;

	RTE_LCORE_FOREACH (lcore_id) {
		struct sleeper *sleeper = &app->lcore[lcore_id].sleeper;

		if (sleeper->has_epoll)
			close(sleeper->epoll);
		sleeper->has_epoll = false;
		sleeper->interrupts = false;
	}
}

int
interrupts_enable(const struct app *app, const struct lcore *lcore)
{
	for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
		const struct rx_queue *queue = &lcore->rx_queue[i];
		int error;

		if (port_is_gone(&app->port[queue->port]))
			continue;
		error = rte_eth_dev_rx_intr_enable(app->port[queue->port].id, queue->queue);
		/* A descriptor of the kernel's needs no enabling (net_tap). */
		if (error != 0 && error != -ENOTSUP)
			return error;
	}
	return 0;
}

void
interrupts_disable(const struct app *app, const struct lcore *lcore)
{
	for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
		const struct rx_queue *queue = &lcore->rx_queue[i];

		if (!port_is_gone(&app->port[queue->port]))
			rte_eth_dev_rx_intr_disable(app->port[queue->port].id, queue->queue);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/if_packet.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_log.h>

#include "descriptors.h"
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

/* An event at an edge needs no reading of the descriptor, which only its driver knows how to do. */
static int
watch(int epoll, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0 || errno == EEXIST ? 0 : -1;
}

/* Sockets at an interface, and how many of them are watched. */
struct packet_sockets {
	int epoll, if_index, found;
};

static void
watch_packet_socket(int descriptor, void *arg)
{
	struct packet_sockets *sockets = arg;
	struct sockaddr_ll at;
	socklen_t length = sizeof(at);

	if (getsockname(descriptor, (struct sockaddr *)&at, &length) == 0 &&
		at.sll_family == AF_PACKET && at.sll_ifindex == sockets->if_index &&
		watch(sockets->epoll, descriptor) == 0)
		sockets->found++;
}

/* net_af_packet (DPDK 22.11, 24.11) tells no descriptors. Those of the interface's other queues
 * wake the lcore, too. */
static int
watch_packet_sockets(const struct port *port, int epoll)
{
	struct packet_sockets sockets = {.epoll = epoll, .if_index = (int)port->info.if_index};

	descriptors_visit(watch_packet_socket, &sockets);
	return sockets.found > 0 ? 0 : -1;
}

static int
watch_queue(
	const struct app *app, const struct lcore *lcore, const struct rx_queue *queue, int epoll)
{
	const struct port *port = &app->port[queue->port];
	int fd;

	if (strcmp(port->info.driver_name, "net_af_packet") == 0)
		return watch_packet_sockets(port, epoll);
	fd = queue_fd(app, queue);
	return fd >= 0 && !others_have(app, lcore, fd) ? watch(epoll, fd) : -1;
}

/* Whatever may bring the lcore packets: -1 if something cannot be watched. */
static int
watch_all(const struct app *app, struct lcore *lcore, int epoll)
{
	for (unsigned int i = 0; i < lcore->rx_queue_count; i++) {
		if (watch_queue(app, lcore, &lcore->rx_queue[i], epoll) != 0)
			return -1;
	}
	return lcore->shard != NULL ? watch(epoll, lcore->sleeper.bell) : 0;
}

static void
open_lcore(const struct app *app, struct lcore *lcore)
{
	struct sleeper *sleeper = &lcore->sleeper;

	if (!lcore_works(lcore))
		return;
	sleeper->epoll = epoll_create1(EPOLL_CLOEXEC);
	sleeper->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	sleeper->opened = true;
	sleeper->interrupts = sleeper->epoll >= 0 && sleeper->bell >= 0 &&
		watch_all(app, lcore, sleeper->epoll) == 0;
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

		if (!sleeper->opened)
			continue;
		close(sleeper->epoll);
		close(sleeper->bell);
		sleeper->opened = false;
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

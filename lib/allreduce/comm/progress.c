/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/comm.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "clock.h"

/* How long to sleep while frames that are to be sent have no place in a ring. */
#define FULL_RING (50 * NS_PER_US)

#define MAX_POLLED (1 + NETFC_ALLREDUCE_MAX_SWITCHES * 64)

typedef int (*channel_step)(
	struct netfc_allreduce *comm, struct peer *peer, struct channel *channel, void *context);

static int
for_each_channel(struct netfc_allreduce *comm, channel_step step, void *context)
{
	int status = NETFC_ALLREDUCE_OK;

	for (unsigned int k = 0; k < comm->peers; k++) {
		struct peer *peer = &comm->peer[k];

		for (unsigned int s = 0; s < peer->window.channels && status == NETFC_ALLREDUCE_OK;
			s++)
			status = step(comm, peer, &peer->window.channel[s], context);
	}
	return status;
}

static int
send_step(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel, void *now)
{
	return send_chunks(comm, peer, channel, *(const uint64_t *)now);
}

void
progress_send(struct netfc_allreduce *comm, uint64_t now)
{
	int status = for_each_channel(comm, send_step, &now);

	if (status != NETFC_ALLREDUCE_OK)
		error_break(comm, status);
	if (comm->local != NULL)
		local_round(comm);
}

/* A channel to receive from. */
static bool
is_listening(
	const struct netfc_allreduce *comm, const struct peer *peer, const struct channel *channel)
{
	if (link_has_rings(&peer->link))
		return channel->number == 0; /* for all */
	return channel->flying > 0 || comm->keepalive_until != 0;
}

static int
receive_step(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel, void *count)
{
	if (!is_listening(comm, peer, channel))
		return NETFC_ALLREDUCE_OK;
	return receive_packets(comm, peer, channel, count);
}

/* Receive, handle timers, send. Returns whether anything came. */
static bool
round_once(struct netfc_allreduce *comm)
{
	unsigned int received = 0;
	int status = for_each_channel(comm, receive_step, &received);
	uint64_t now = clock_now();

	if (comm->keepalive_until <= now)
		comm->keepalive_until = 0;
	if (status == NETFC_ALLREDUCE_OK)
		status = timers_run(comm, now);
	if (status == NETFC_ALLREDUCE_OK)
		status = for_each_channel(comm, send_step, &now);
	if (status != NETFC_ALLREDUCE_OK)
		error_break(comm, status);
	return received > 0;
}

struct polled {
	struct pollfd fds[MAX_POLLED];
	nfds_t count;
	uint64_t until; /* ns */
};

static int
poll_step(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel, void *context)
{
	struct polled *polled = context;
	const bool sends = channel_may_send(channel, 1) > 0;
	short events = is_listening(comm, peer, channel) ? POLLIN : 0;

	if (sends && link_has_rings(&peer->link))
		polled->until = clock_now() + FULL_RING;
	else if (sends)
		events |= POLLOUT;
	if (events != 0)
		polled->fds[polled->count++] = (struct pollfd){
			.fd = link_fd(&peer->link, channel->number), .events = events};
	return NETFC_ALLREDUCE_OK;
}

/* Arm wake-ups by all switches' packets. False: something is there already. */
static bool
arm(struct netfc_allreduce *comm)
{
	bool armed = true;

	for (unsigned int k = 0; k < comm->peers; k++)
		armed &= link_arm(&comm->peer[k].link);
	return armed;
}

/* Sleep until a packet comes, somebody wakes us, or then. */
static void
sleep_until(struct netfc_allreduce *comm, uint64_t then)
{
	struct polled polled;
	struct timespec timeout;
	eventfd_t value;

	polled.fds[0] = (struct pollfd){.fd = comm->worker.wake, .events = POLLIN};
	polled.count = 1;
	polled.until = then;
	for_each_channel(comm, poll_step, &polled);
	if (!arm(comm))
		polled.until = 0;
	timeout = clock_timespec(clock_until(clock_now(), polled.until));
	comm->sleeping = true;
	pthread_mutex_unlock(&comm->lock);
	ppoll(polled.fds, polled.count, polled.until == NEVER ? NULL : &timeout, NULL);
	pthread_mutex_lock(&comm->lock);
	comm->sleeping = false;
	for (unsigned int k = 0; k < comm->peers; k++)
		link_disarm(&comm->peer[k].link);
	eventfd_read(comm->worker.wake, &value);
}

/* Yield the lock and the processor. */
static void
yield(struct netfc_allreduce *comm)
{
	pthread_mutex_unlock(&comm->lock);
	sched_yield();
	pthread_mutex_lock(&comm->lock);
}

static bool
is_over(const struct netfc_allreduce *comm, const struct netfc_allreduce_handle *handle)
{
	if (handle != NULL)
		return handle->status != NETFC_ALLREDUCE_PENDING;
	return comm->stop || comm->life != ALLREDUCE_JOINED ||
		(comm->eager == 0 && comm->keepalive_until == 0);
}

void
progress_until(
	struct netfc_allreduce *comm, const struct netfc_allreduce_handle *handle, uint64_t then)
{
	uint64_t spin = comm->options.spin_us * NS_PER_US;
	uint64_t now, next, heard = clock_now();

	comm->driving = true;
	while (!is_over(comm, handle)) {
		bool received = comm->local != NULL ? local_round(comm) : round_once(comm);

		now = clock_now();
		if (received)
			heard = now;
		if (is_over(comm, handle) || now >= then)
			break;
		lock_let_in(comm);
		if (comm->local != NULL) {
			if (!received)
				local_sleep(comm, then);
			continue;
		}
		if (now - heard < spin) {
			if (!received)
				yield(comm);
			continue;
		}
		next = timers_next(comm);
		sleep_until(comm, next < then ? next : then);
		heard = clock_now();
	}
	comm->driving = false;
	lock_wake(comm);
	if (comm->eager > 0 || comm->life == ALLREDUCE_BROKEN)
		pthread_cond_signal(&comm->work);
}

void
progress_wake(struct netfc_allreduce *comm)
{
	if (!comm->sleeping)
		return;
	if (comm->local != NULL)
		local_wake(comm);
	else
		eventfd_write(comm->worker.wake, 1);
}

/* Idle: wait for work, and send keep-alives to the switches. */
static void
idle(struct netfc_allreduce *comm)
{
	uint64_t due = keepalive_due(comm);
	struct timespec until;

	if (due == NEVER) {
		pthread_cond_wait(&comm->work, &comm->lock);
		return;
	}
	if (due <= clock_now()) {
		keepalive_send(comm);
		if (!comm->driving) {
			progress_until(comm, NULL, comm->keepalive_until);
			return;
		}
		progress_wake(comm);
		due = comm->keepalive_until;
	}
	until = clock_timespec(due);
	pthread_cond_timedwait(&comm->work, &comm->lock, &until);
}

static void *
run(void *argument)
{
	struct netfc_allreduce *comm = argument;

	pthread_mutex_lock(&comm->lock);
	while (!comm->stop) {
		if (failure_is_due(comm))
			failure_tell(comm);
		else if (comm->eager > 0 && !comm->driving)
			progress_until(comm, NULL, NEVER);
		else
			idle(comm);
	}
	pthread_mutex_unlock(&comm->lock);
	return NULL;
}

int
progress_start(struct netfc_allreduce *comm)
{
	sigset_t all, before;
	int error;

	if (comm->has_thread)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&comm->thread, NULL, run, comm);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error == 0) {
		comm->has_thread = true;
		pthread_setname_np(comm->thread, "netfc-allreduce");
	}
	return error;
}

void
progress_stop(struct netfc_allreduce *comm)
{
	if (!comm->has_thread)
		return;
	lock_enter(comm);
	comm->stop = true;
	pthread_cond_signal(&comm->work);
	progress_wake(comm);
	lock_leave(comm);
	pthread_join(comm->thread, NULL);
	comm->has_thread = false;
	comm->stop = false;
}

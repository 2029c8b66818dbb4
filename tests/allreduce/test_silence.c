/* SPDX-License-Identifier: BSD-3-Clause */
/* Who goes silent, a worker or a switch, is named to all others in time. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "plays.h"

/* Far more than anything here takes, and half of the deadline that is not waited for. */
#define HANGS_NS (100 * NS_PER_S)

static int
without_one(unsigned int w, unsigned int n, void *context)
{
	const struct play *play = context;
	struct netfc_allreduce *comm = play_join(play, w, n);
	int wrong;

	if (comm == NULL)
		return 1;
	wrong = play_reduce(comm, n) != NETFC_ALLREDUCE_OK;
	if ((int)w == play->worker) { /* killed: it does not leave either */
		netfc_allreduce_free(comm);
		return wrong;
	}
	return play_leave(comm, wrong + play_fails(play, comm, w, n));
}

TEST(test_silent_worker)
{
	for (int worker = 0; worker < 3; worker++) {
		struct server *server = server_start(&(struct server_options){.stall_ms = 300});
		struct play play = play_of(server);

		play.expected = NETFC_ALLREDUCE_SILENT;
		play.worker = worker;
		assert_int_equal(workers_run(3, without_one, &play), 0);
		server_stop(server);
	}
}

static int
late_worker(unsigned int w, unsigned int n, void *context)
{
	const struct play *play = context;
	struct netfc_allreduce *comm = play_join(play, w, n);

	if (comm == NULL)
		return 1;
	if ((int)w == play->worker)
		usleep(700000);
	return play_leave(comm, play_reduce(comm, n) != NETFC_ALLREDUCE_OK);
}

/* Who has patience waits for a worker that is late. */
TEST(test_patience)
{
	struct server *server = server_start(&(struct server_options){.stall_ms = 200});
	struct play play = play_of(server);

	play.worker = 1;
	play.options.patience_ms = 5000;
	assert_int_equal(workers_run(3, late_worker, &play), 0);
	assert_true(server_count(server, AGGREGATE_STALLED) > 0);
	server_stop(server);
}

static void *
stop_soon(void *server)
{
	usleep(300000);
	server_stop(server);
	return NULL;
}

static void *
freeze_soon(void *server)
{
	usleep(300000);
	server_freeze(server, true);
	return NULL;
}

static int
reduce_for_ever(unsigned int w, unsigned int n, void *context)
{
	const struct play *play = context;
	struct netfc_allreduce *comm = play_join(play, w, n);
	uint64_t began = clock_now();
	int status = NETFC_ALLREDUCE_OK;

	if (comm == NULL)
		return 1;
	while (status == NETFC_ALLREDUCE_OK && clock_now() - began < HANGS_NS)
		status = play_reduce(comm, n);
	if (status != play->expected)
		fprintf(stderr, "worker %u: %d: %s\n", w, status, netfc_allreduce_error(comm));
	netfc_allreduce_free(comm);
	return status != play->expected;
}

/* The switch's process ends: its host says that nothing listens. */
TEST(test_killed_switch)
{
	struct server *server = server_start(&server_defaults);
	struct play play = play_of(server);
	pthread_t killer;

	play.expected = NETFC_ALLREDUCE_REFUSED;
	play.options.silence_ms = 2000;
	assert_int_equal(pthread_create(&killer, NULL, stop_soon, server), 0);
	assert_int_equal(workers_run(3, reduce_for_ever, &play), 0);
	pthread_join(killer, NULL);
}

/* It goes silent. */
SERVER_TEST(test_silent_switch)
{
	struct play play = play_of(server);
	pthread_t killer;

	play.expected = NETFC_ALLREDUCE_TIMEOUT;
	play.options.deadline_ms = 500;
	assert_int_equal(pthread_create(&killer, NULL, freeze_soon, server), 0);
	assert_int_equal(workers_run(3, reduce_for_ever, &play), 0);
	pthread_join(killer, NULL);
}

/* It goes silent, which is noticed long before the deadline. */
SERVER_TEST(test_silence_before_the_deadline)
{
	struct play play = play_of(server);
	uint64_t began = clock_now();
	pthread_t killer;

	play.expected = NETFC_ALLREDUCE_TIMEOUT;
	play.options.deadline_ms = 2 * HANGS_NS / NS_PER_MS;
	play.options.silence_ms = 400;
	assert_int_equal(pthread_create(&killer, NULL, freeze_soon, server), 0);
	assert_int_equal(workers_run(3, reduce_for_ever, &play), 0);
	assert_true(clock_now() - began < HANGS_NS);
	pthread_join(killer, NULL);
}

/* A worker says more often that it is alive than it would ask whether the switch is. */
SERVER_TEST(test_silence_among_keepalives)
{
	struct play play = play_of(server);
	struct netfc_allreduce *comm;
	uint64_t began = clock_now();
	int32_t value = 1;

	play.options.deadline_ms = 2 * HANGS_NS / NS_PER_MS;
	play.options.silence_ms = 900;
	play.options.keepalive_ms = 20;
	comm = play_join(&play, 0, 1);
	assert_non_null(comm);
	server_freeze(server, true);
	assert_int_equal(
		netfc_allreduce(comm, &value, 1, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_TIMEOUT);
	assert_true(clock_now() - began < HANGS_NS);
	netfc_allreduce_free(comm);
}

/* The switch waits for a late worker without a word, but says that it is there when it is asked. */
SERVER_TEST(test_late_worker_is_no_silence)
{
	struct play play = play_of(server);

	play.worker = 1;
	play.options.silence_ms = 200;
	assert_int_equal(workers_run(3, late_worker, &play), 0);
	assert_int_equal(server_count(server, AGGREGATE_STALLED), 0);
}

/* Which of several switches is silent is said. */
TEST(test_silent_switch_of_two)
{
	struct server *servers[2] = {
		server_start(&server_defaults), server_start(&server_defaults)};
	const uint16_t ports[2] = {server_port(servers[0]), server_port(servers[1])};
	struct place place = place_of(2, ports);
	struct netfc_allreduce_options options = worker_options(&place, 0, 1);
	struct netfc_allreduce *comm = netfc_allreduce_new();

	options.deadline_ms = 300;
	assert_int_equal(netfc_allreduce_join(comm, &options), NETFC_ALLREDUCE_OK);
	assert_int_equal(play_reduce(comm, 1), NETFC_ALLREDUCE_OK);
	server_freeze(servers[1], true);
	assert_int_equal(play_reduce(comm, 1), NETFC_ALLREDUCE_TIMEOUT);
	assert_int_equal(netfc_allreduce_failed_switch(comm), 1);
	assert_non_null(strstr(netfc_allreduce_error(comm), place.text[1]));
	netfc_allreduce_free(comm);
	server_stop(servers[0]);
	server_stop(servers[1]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever fails is told to everybody in time, with who and why, and never as a result.
 */
#include <setjmp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "server.h"
#include "workers.h"

#define COUNT 5000

/* What each worker does, and what it ought to hear. */
struct play {
	struct place place;
	struct netfc_allreduce_options options; /* but for switches and worker */
	int expected;
	int worker;          /* that is silent, or does something else; -1 */
	uint64_t within_ms;  /* from the allreduce to the failure */
	const char *mention; /* in the error's text */
};

static struct play
play_of(struct server *server)
{
	const uint16_t port = server_port(server);
	struct play play = {.place = place_of(1, &port), .worker = -1};

	play.options = worker_options(&play.place, 0, 1);
	play.within_ms = 3000;
	return play;
}

static struct netfc_allreduce *
join(const struct play *play, unsigned int w, unsigned int n)
{
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options = worker_options(&play->place, w, n);

	options.deadline_ms = play->options.deadline_ms;
	options.patience_ms = play->options.patience_ms;
	options.keepalive_ms = play->options.keepalive_ms;
	options.slots = play->options.slots;
	if (netfc_allreduce_join(comm, &options) != NETFC_ALLREDUCE_OK) {
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
		netfc_allreduce_free(comm);
		return NULL;
	}
	return comm;
}

static int
leave(struct netfc_allreduce *comm, int wrong)
{
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	return wrong;
}

/* The sum of ones: `n` of them in every value. */
static int
reduce(struct netfc_allreduce *comm, unsigned int n)
{
	int32_t values[COUNT];
	int status;

	for (unsigned int i = 0; i < COUNT; i++)
		values[i] = 1;
	status = netfc_allreduce(comm, values, COUNT, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	for (unsigned int i = 0; i < COUNT && status == NETFC_ALLREDUCE_OK; i++) {
		if (values[i] != (int32_t)n)
			status = -1;
	}
	return status;
}

/* It fails as expected, in time, and says so; whatever is called next fails, too. */
static int
fails(const struct play *play, struct netfc_allreduce *comm, unsigned int w, unsigned int n)
{
	uint64_t began = clock_now();
	int status = reduce(comm, n);
	uint64_t took = (clock_now() - began) / NS_PER_MS;
	const char *text = netfc_allreduce_error(comm);
	int wrong = status != play->expected || took > play->within_ms ||
		(play->mention != NULL && strstr(text, play->mention) == NULL) ||
		reduce(comm, n) != NETFC_ALLREDUCE_BROKEN;

	if (play->expected == NETFC_ALLREDUCE_SILENT)
		wrong |= netfc_allreduce_silent_worker(comm) != play->worker;
	if (wrong)
		fprintf(stderr, "worker %u: %s after %llu ms: %s\n", w,
			status < 0 ? "WRONG VALUES" : netfc_allreduce_status_name(status),
			(unsigned long long)took, text);
	return wrong;
}

static int
without_one(unsigned int w, unsigned int n, void *context)
{
	const struct play *play = context;
	struct netfc_allreduce *comm = join(play, w, n);
	int wrong;

	if (comm == NULL)
		return 1;
	wrong = reduce(comm, n) != NETFC_ALLREDUCE_OK;
	if ((int)w == play->worker) { /* killed: it does not leave either */
		netfc_allreduce_free(comm);
		return wrong;
	}
	return leave(comm, wrong + fails(play, comm, w, n));
}

static void
test_silent_worker(void **state)
{
	struct server_options options = server_defaults;
	struct play play;

	(void)state;
	options.stall_ms = 300;
	for (int worker = 0; worker < 3; worker++) {
		struct server *server = server_start(&options);

		play = play_of(server);
		play.expected = NETFC_ALLREDUCE_SILENT;
		play.worker = worker;
		play.within_ms = 1000;
		assert_int_equal(workers_run(3, without_one, &play), 0);
		server_stop(server);
	}
}

static int
late_worker(unsigned int w, unsigned int n, void *context)
{
	const struct play *play = context;
	struct netfc_allreduce *comm = join(play, w, n);

	if (comm == NULL)
		return 1;
	if ((int)w == play->worker)
		usleep(700000);
	return leave(comm, reduce(comm, n) != NETFC_ALLREDUCE_OK);
}

/* Who has patience waits for a worker that is late. */
static void
test_patience(void **state)
{
	struct server_options options = server_defaults;
	struct server *server;
	struct play play;

	(void)state;
	options.stall_ms = 200;
	server = server_start(&options);
	play = play_of(server);
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
	struct netfc_allreduce *comm = join(play, w, n);
	uint64_t began = clock_now();
	int status = NETFC_ALLREDUCE_OK;

	if (comm == NULL)
		return 1;
	while (status == NETFC_ALLREDUCE_OK && clock_now() - began < 5 * NS_PER_S)
		status = reduce(comm, n);
	if (status != play->expected)
		fprintf(stderr, "worker %u: %d: %s\n", w, status, netfc_allreduce_error(comm));
	netfc_allreduce_free(comm);
	return status != play->expected;
}

/* The switch's process ends: its host says that nothing listens. */
static void
test_killed_switch(void **state)
{
	struct server *server = server_start(&server_defaults);
	struct play play = play_of(server);
	pthread_t killer;

	(void)state;
	play.expected = NETFC_ALLREDUCE_REFUSED;
	assert_int_equal(pthread_create(&killer, NULL, stop_soon, server), 0);
	assert_int_equal(workers_run(3, reduce_for_ever, &play), 0);
	pthread_join(killer, NULL);
}

/* It goes silent. */
static void
test_silent_switch(void **state)
{
	struct server *server = server_start(&server_defaults);
	struct play play = play_of(server);
	pthread_t killer;

	(void)state;
	play.expected = NETFC_ALLREDUCE_TIMEOUT;
	play.options.deadline_ms = 500;
	assert_int_equal(pthread_create(&killer, NULL, freeze_soon, server), 0);
	assert_int_equal(workers_run(3, reduce_for_ever, &play), 0);
	pthread_join(killer, NULL);
	server_stop(server);
}

/* Which of several switches is silent is said. */
static void
test_silent_switch_of_two(void **state)
{
	struct server *servers[2] = {
		server_start(&server_defaults), server_start(&server_defaults)};
	const uint16_t ports[2] = {server_port(servers[0]), server_port(servers[1])};
	struct place place = place_of(2, ports);
	struct netfc_allreduce_options options = worker_options(&place, 0, 1);
	struct netfc_allreduce *comm = netfc_allreduce_new();

	(void)state;
	options.deadline_ms = 300;
	assert_int_equal(netfc_allreduce_join(comm, &options), NETFC_ALLREDUCE_OK);
	assert_int_equal(reduce(comm, 1), NETFC_ALLREDUCE_OK);
	server_freeze(servers[1], true);
	assert_int_equal(reduce(comm, 1), NETFC_ALLREDUCE_TIMEOUT);
	assert_int_equal(netfc_allreduce_failed_switch(comm), 1);
	assert_non_null(strstr(netfc_allreduce_error(comm), place.text[1]));
	netfc_allreduce_free(comm);
	server_stop(servers[0]);
	server_stop(servers[1]);
}

static void
test_idle_job(void **state)
{
	struct server_options options = server_defaults;
	struct server *server;
	struct play play;
	struct netfc_allreduce *comm;
	struct netfc_allreduce_stats stats;

	(void)state;
	options.idle_ms = 300;
	server = server_start(&options);
	play = play_of(server);
	/* Kept alive. */
	play.options.keepalive_ms = 100;
	comm = join(&play, 0, 1);
	assert_non_null(comm);
	assert_int_equal(reduce(comm, 1), NETFC_ALLREDUCE_OK);
	usleep(1000000);
	assert_int_equal(reduce(comm, 1), NETFC_ALLREDUCE_OK);
	netfc_allreduce_stats(comm, &stats);
	assert_in_range(stats.keepalives, 5, 12);
	leave(comm, 0);
	/* Not. */
	play.options.keepalive_ms = 0;
	comm = join(&play, 0, 1);
	assert_non_null(comm);
	usleep(600000);
	play.expected = NETFC_ALLREDUCE_NO_JOB;
	play.mention = "does not know job 7";
	assert_int_equal(fails(&play, comm, 0, 1), 0);
	leave(comm, 0);
	server_stop(server);
}

struct restart {
	struct play play;
	struct server_options options;
	struct server *server;
	pthread_barrier_t barrier;
};

static int
through_restart(unsigned int w, unsigned int n, void *context)
{
	struct restart *restart = context;
	struct netfc_allreduce *comm = join(&restart->play, w, n);
	struct netfc_allreduce_options options = worker_options(&restart->play.place, w, n);
	int wrong;

	if (comm == NULL)
		abort();
	wrong = reduce(comm, n) != NETFC_ALLREDUCE_OK;
	pthread_barrier_wait(&restart->barrier);
	if (w == 0) {
		server_stop(restart->server);
		restart->server = server_start(&restart->options);
		usleep(300000); /* time for keep-alives */
	}
	pthread_barrier_wait(&restart->barrier);
	wrong |= reduce(comm, n) == NETFC_ALLREDUCE_OK;
	pthread_barrier_wait(&restart->barrier);
	options.token = 99;
	if (netfc_allreduce_join(comm, &options) != NETFC_ALLREDUCE_OK ||
		reduce(comm, n) != NETFC_ALLREDUCE_OK) {
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
		wrong = 1;
	}
	return leave(comm, wrong);
}

/* A switch that was started anew does not go on with half of it; joining again mends that. */
static void
test_restarted_switch(void **state)
{
	struct restart restart = {.options = server_defaults};

	(void)state;
	restart.options.stall_ms = 200;
	restart.server = server_start(&restart.options);
	restart.options.port = server_port(restart.server);
	restart.play = play_of(restart.server);
	restart.play.options.keepalive_ms = 50;
	pthread_barrier_init(&restart.barrier, NULL, 3);
	assert_int_equal(workers_run(3, through_restart, &restart), 0);
	pthread_barrier_destroy(&restart.barrier);
	server_stop(restart.server);
}

static int
differing(unsigned int w, unsigned int n, void *context)
{
	static const struct {
		unsigned int count, format, op;
	} calls[] = {
		{100, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM},
		{101, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM},
		{100, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM},
		{100, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_MAX},
	};
	const struct play *play = context;
	struct netfc_allreduce *comm = join(play, w, n);
	unsigned int i = w == 0 ? 0 : (unsigned int)play->worker;
	float values[128] = {0};
	int status;

	if (comm == NULL)
		return 1;
	status = netfc_allreduce(comm, values, calls[i].count, calls[i].format, calls[i].op);
	/* Who comes second hears it at once, the other that nobody else came. */
	return leave(comm,
		status == NETFC_ALLREDUCE_MISMATCH         ? 1
			: status == NETFC_ALLREDUCE_SILENT ? 100
							   : 10000);
}

/* Workers that do not call the same: one is told so, and no sum comes of it. */
static void
test_mismatch(void **state)
{
	struct server_options options = server_defaults;

	(void)state;
	options.stall_ms = 200;
	for (int i = 1; i < 4; i++) {
		struct server *server = server_start(&options);
		struct play play = play_of(server);

		play.worker = i;
		assert_int_equal(workers_run(2, differing, &play), 101);
		server_stop(server);
	}
}

static int
join_differently(unsigned int w, unsigned int n, void *context)
{
	const struct play *play = context;
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options = worker_options(&play->place, w, n);
	int status;

	options.join_ms = 500;
	options.slots = 32u << w;
	status = netfc_allreduce_join(comm, &options);
	netfc_allreduce_free(comm);
	return status == NETFC_ALLREDUCE_MISMATCH   ? 1
		: status == NETFC_ALLREDUCE_WAITING ? 100
						    : 10000;
}

static void
test_join_mismatch(void **state)
{
	struct server *server = server_start(&server_defaults);
	struct play play = play_of(server);

	(void)state;
	assert_int_equal(workers_run(2, join_differently, &play), 101);
	server_stop(server);
}

static int
join_status(const struct netfc_allreduce_options *options, const char *mention)
{
	struct netfc_allreduce *comm = netfc_allreduce_new();
	int status = netfc_allreduce_join(comm, options);

	if (strstr(netfc_allreduce_error(comm), mention) == NULL) {
		fprintf(stderr, "no \"%s\": %s\n", mention, netfc_allreduce_error(comm));
		status = -1;
	}
	assert_int_equal(reduce(comm, 1), NETFC_ALLREDUCE_BROKEN);
	netfc_allreduce_free(comm);
	return status;
}

static void
test_join_fails(void **state)
{
	struct server_options limits = server_defaults;
	struct server *server;
	struct play play;
	struct netfc_allreduce_options options;
	struct netfc_allreduce *other;
	uint64_t began;

	(void)state;
	limits.jobs = 1;
	server = server_start(&limits);
	play = play_of(server);
	/* The others do not come. */
	options = worker_options(&play.place, 0, 2);
	options.join_ms = 300;
	assert_int_equal(join_status(&options, "Not all 2 workers"), NETFC_ALLREDUCE_WAITING);
	server_stop(server);
	/* No job is left. */
	server = server_start(&limits);
	play = play_of(server);
	other = join(&play, 0, 1);
	assert_non_null(other);
	options = worker_options(&play.place, 0, 1);
	options.job = 8;
	assert_int_equal(join_status(&options, "no job, slot or worker"), NETFC_ALLREDUCE_FULL);
	/* Another token: the switch is silent. */
	options = worker_options(&play.place, 0, 1);
	options.token++;
	options.join_ms = 300;
	assert_int_equal(join_status(&options, "with another token"), NETFC_ALLREDUCE_TIMEOUT);
	leave(other, 0);
	/* The switch does not answer. */
	server_freeze(server, true);
	usleep(20000);
	options = worker_options(&play.place, 0, 1);
	options.join_ms = 300;
	assert_int_equal(join_status(&options, "does not answer"), NETFC_ALLREDUCE_TIMEOUT);
	server_stop(server);
	/* Nothing is there: that is said at once. */
	began = clock_now();
	options.join_ms = 10000;
	assert_int_equal(join_status(&options, play.place.text[0]), NETFC_ALLREDUCE_REFUSED);
	assert_true(clock_now() - began < NS_PER_S);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent_worker),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_killed_switch),
		cmocka_unit_test(test_silent_switch),
		cmocka_unit_test(test_silent_switch_of_two),
		cmocka_unit_test(test_idle_job),
		cmocka_unit_test(test_restarted_switch),
		cmocka_unit_test(test_mismatch),
		cmocka_unit_test(test_join_mismatch),
		cmocka_unit_test(test_join_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

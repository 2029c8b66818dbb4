/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that end and switches and workers that are started anew: nobody goes on with half of it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "plays.h"

TEST(test_idle_job)
{
	struct server *server = server_start(&(struct server_options){.idle_ms = 1500});
	struct play play = play_of(server);
	struct netfc_allreduce *comm;
	struct netfc_allreduce_stats stats;
	uint64_t began, took_ms;

	/* Kept alive, for longer than an idle job lives. */
	play.options.keepalive_ms = 100;
	comm = play_join(&play, 0, 1);
	assert_non_null(comm);
	began = clock_now();
	assert_int_equal(play_reduce(comm, 1), NETFC_ALLREDUCE_OK);
	usleep(2000000);
	assert_int_equal(play_reduce(comm, 1), NETFC_ALLREDUCE_OK);
	netfc_allreduce_stats(comm, &stats);
	took_ms = (clock_now() - began) / NS_PER_MS;
	assert_in_range(stats.keepalives, 2, took_ms / play.options.keepalive_ms + 1);
	play_leave(comm, 0);
	/* Not. */
	play.options.keepalive_ms = 0;
	comm = play_join(&play, 0, 1);
	assert_non_null(comm);
	usleep(2000000);
	play.expected = NETFC_ALLREDUCE_NO_JOB;
	play.mention = "does not know job 7";
	assert_int_equal(play_fails(&play, comm, 0, 1), 0);
	play_leave(comm, 0);
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
	struct netfc_allreduce *comm = play_join(&restart->play, w, n);
	struct netfc_allreduce_options options = worker_options(&restart->play.place, w, n);
	int wrong;

	if (comm == NULL)
		abort();
	wrong = play_reduce(comm, n) != NETFC_ALLREDUCE_OK;
	pthread_barrier_wait(&restart->barrier);
	if (w == 0) {
		server_stop(restart->server);
		restart->server = server_start(&restart->options);
		usleep(300000); /* time for keep-alives */
	}
	pthread_barrier_wait(&restart->barrier);
	wrong |= play_reduce(comm, n) == NETFC_ALLREDUCE_OK;
	pthread_barrier_wait(&restart->barrier);
	options.token = 99;
	if (netfc_allreduce_join(comm, &options) != NETFC_ALLREDUCE_OK ||
		play_reduce(comm, n) != NETFC_ALLREDUCE_OK) {
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
		wrong = 1;
	}
	return play_leave(comm, wrong);
}

/* A switch that was started anew does not go on with half of it; joining again mends that. */
TEST(test_restarted_switch)
{
	struct restart restart = {.options.stall_ms = 200};

	restart.server = server_start(&restart.options);
	restart.options.port = server_port(restart.server);
	restart.play = play_of(restart.server);
	restart.play.options.keepalive_ms = 50;
	pthread_barrier_init(&restart.barrier, NULL, 3);
	assert_int_equal(workers_run(3, through_restart, &restart), 0);
	pthread_barrier_destroy(&restart.barrier);
	server_stop(restart.server);
}

/* It has the same job, token and number, and has lost count of the chunks: no old result is its. */
SERVER_TEST(test_restarted_worker)
{
	struct play play = play_of(server);
	struct netfc_allreduce *before = play_join(&play, 0, 1), *anew = netfc_allreduce_new();
	struct netfc_allreduce_options options = worker_options(&play.place, 0, 1);

	assert_non_null(before);
	assert_int_equal(play_reduce(before, 1), NETFC_ALLREDUCE_OK);
	assert_int_equal(netfc_allreduce_join(anew, &options), NETFC_ALLREDUCE_TAKEN);
	assert_non_null(strstr(netfc_allreduce_error(anew), "another process has it"));
	/* Nor is the one that has the place disturbed. */
	assert_int_equal(play_reduce(before, 1), NETFC_ALLREDUCE_OK);
	options.job++;
	assert_int_equal(netfc_allreduce_join(anew, &options), NETFC_ALLREDUCE_OK);
	assert_int_equal(play_reduce(anew, 1), NETFC_ALLREDUCE_OK);
	play_leave(anew, 0);
	play_leave(before, 0);
	assert_int_equal(server_jobs(server), 0);
}

static void
do_nothing(int signal)
{
	(void)signal;
}

static void *
join_late(void *context)
{
	struct play *play = context;
	struct netfc_allreduce *comm;

	usleep(700000);
	comm = play_join(play, 1, 2);
	return (void *)(intptr_t)(comm == NULL ||
		play_leave(comm, play_reduce(comm, 2) != NETFC_ALLREDUCE_OK));
}

/* A timer of 100 Hz: each call goes on where the signal came. */
SERVER_TEST(test_a_join_that_signals_interrupt)
{
	const struct sigaction action = {.sa_handler = do_nothing};
	const struct itimerval often = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
	struct play play = play_of(server);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options = worker_options(&play.place, 0, 2);
	unsigned int interrupted = 0;
	sigset_t alarm, before;
	pthread_t other;
	void *wrong;
	int status;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, &before);
	pthread_create(&other, NULL, join_late, &play);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	do {
		status = netfc_allreduce_join(comm, &options);
		interrupted += status == NETFC_ALLREDUCE_INTERRUPTED;
	} while (status == NETFC_ALLREDUCE_INTERRUPTED);
	setitimer(ITIMER_REAL, &never, NULL);
	assert_int_equal(status, NETFC_ALLREDUCE_OK);
	assert_true(interrupted > 10);
	assert_int_equal(play_reduce(comm, 2), NETFC_ALLREDUCE_OK);
	pthread_join(other, &wrong);
	assert_null(wrong);
	play_leave(comm, 0);
}

struct rejoin {
	struct netfc_allreduce *comm;
	const struct netfc_allreduce_options *options;
};

static void *
join_again(void *context)
{
	const struct rejoin *rejoin = context;

	return (void *)(intptr_t)netfc_allreduce_join(rejoin->comm, rejoin->options);
}

/* It comes while the join leaves the old job, at a switch that does not answer. */
SERVER_TEST(test_an_abort_while_a_join_leaves)
{
	struct play play = play_of(server);
	struct netfc_allreduce *comm = play_join(&play, 0, 1);
	struct netfc_allreduce_options options = worker_options(&play.place, 0, 1);
	struct rejoin rejoin = {comm, &options};
	pthread_t joiner;
	void *status;

	assert_non_null(comm);
	options.job++;
	server_freeze(server, true);
	pthread_create(&joiner, NULL, join_again, &rejoin);
	usleep(300000);
	netfc_allreduce_abort(comm);
	pthread_join(joiner, &status);
	assert_int_equal((intptr_t)status, NETFC_ALLREDUCE_ABORTED);
	/* An abort from before a join is no matter of it. */
	server_freeze(server, false);
	netfc_allreduce_abort(comm);
	assert_int_equal(netfc_allreduce_join(comm, &options), NETFC_ALLREDUCE_OK);
	play_leave(comm, 0);
}

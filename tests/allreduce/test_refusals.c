/* SPDX-License-Identifier: BSD-3-Clause */
/* What a switch refuses is told with who and why. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "plays.h"

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
	struct netfc_allreduce *comm = play_join(play, w, n);
	unsigned int i = w == 0 ? 0 : (unsigned int)play->worker;
	float values[128] = {0};
	int status;

	if (comm == NULL)
		return 1;
	status = netfc_allreduce(comm, values, calls[i].count, calls[i].format, calls[i].op);
	/* Who comes second is blamed, and the other hears the same. */
	return play_leave(comm, status == NETFC_ALLREDUCE_MISMATCH ? 1 : 10000);
}

/* Workers that call different collectives: all are told so, and no sum comes of it. */
TEST(test_mismatch)
{
	for (int i = 1; i < 4; i++) {
		struct server *server = server_start(&server_defaults);
		struct play play = play_of(server);

		play.worker = i;
		assert_int_equal(workers_run(2, differing, &play), 2);
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

SERVER_TEST(test_join_mismatch)
{
	struct play play = play_of(server);

	assert_int_equal(workers_run(2, join_differently, &play), 101);
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
	assert_int_equal(play_reduce(comm, 1), NETFC_ALLREDUCE_BROKEN);
	netfc_allreduce_free(comm);
	return status;
}

TEST(test_join_fails)
{
	const struct server_options limits = {.jobs = 1};
	struct server *server = server_start(&limits);
	struct play play = play_of(server);
	struct netfc_allreduce_options options;
	struct netfc_allreduce *other;

	/* The others do not come. */
	options = worker_options(&play.place, 0, 2);
	options.join_ms = 300;
	assert_int_equal(join_status(&options, "Not all 2 workers"), NETFC_ALLREDUCE_WAITING);
	server_stop(server);
	/* No job is left. */
	server = server_start(&limits);
	play = play_of(server);
	other = play_join(&play, 0, 1);
	assert_non_null(other);
	options = worker_options(&play.place, 0, 1);
	options.job = 8;
	assert_int_equal(join_status(&options, "no job is left"), NETFC_ALLREDUCE_FULL);
	/* Another token. */
	options = worker_options(&play.place, 0, 1);
	options.token++;
	assert_int_equal(join_status(&options, "with another token"), NETFC_ALLREDUCE_TAKEN);
	play_leave(other, 0);
	/* The switch does not answer. */
	server_freeze(server, true);
	usleep(20000);
	options = worker_options(&play.place, 0, 1);
	options.join_ms = 300;
	assert_int_equal(join_status(&options, "does not answer"), NETFC_ALLREDUCE_TIMEOUT);
	server_stop(server);
	/* Nothing is there, yet: it is waited for. */
	assert_int_equal(join_status(&options, play.place.text[0]), NETFC_ALLREDUCE_REFUSED);
}

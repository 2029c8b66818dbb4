/* SPDX-License-Identifier: BSD-3-Clause */
/* What is left over of a job is none of the next one's, by the same number and the same token. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <aggregate_wire.h>

#include "cases.h"
#include "clock.h"
#include "incarnations.h"
#include "network.h"
#include "plays.h"

#define OLD_COUNT 5000 /* as many as the others', so that chunks look alike */
#define OLD_VALUE 1000000

/* Servers that forget soon, of several shards and of one. */
static const struct server_options shards = {.shards = 4, .idle_ms = 2000, .slow_us = 1000};
static const struct server_options shard = {.idle_ms = 2000, .slow_us = 1000};

static const struct incarnations three_jobs = {
	.place_count = 1,
	.jobs = 3,
	.workers = 2,
	.rounds = 3,
	.count = 300,
	.until = NEVER,
	.rto_max_us = 50000,
	.errors_most = 4,
	.settle_ms = 2500,
};

static void
nothing_is_wrong(const struct incarnations *incarnations)
{
	const struct tally *tally = &incarnations->tally;

	printf("# %llu joins, %llu allreduces, %llu wrong values, %llu false errors\n",
		(unsigned long long)tally->joins, (unsigned long long)tally->allreduces,
		(unsigned long long)tally->wrong, (unsigned long long)tally->errors);
	assert_int_equal(tally->wrong, 0);
	assert_int_equal(tally->errors, 0);
}

static void
run(const struct server_options *options, const struct relay_options *bad, bool varies,
	unsigned int times)
{
	struct network network = network_start(options, bad);
	struct incarnations incarnations = three_jobs;

	incarnations.places = &network.place;
	incarnations.times = times;
	incarnations.varies = varies;
	incarnations_run(&incarnations);
	network_stop(&network);
	nothing_is_wrong(&incarnations);
}

/* Shards are busy: what was sent twice waits there while the job ends and the next begins. */
TEST(test_a_clean_link)
{
	run(&shards, NULL, false, 100);
}

/* Counts, operations and formats of one incarnation are no mismatch in the next. */
TEST(test_other_shapes)
{
	run(&shards, NULL, true, 100);
}

/* Packets come twice, and late: when the job they belong to is over. */
static void
run_late(bool varies, unsigned int times, double delayed, unsigned int delay_us)
{
	const struct relay_options bad = {
		.seed = 1, .repeated = 0.5, .delayed = delayed, .delay_us = delay_us};

	run(&shard, &bad, varies, times);
}

TEST(test_late_doubles)
{
	run_late(false, 20, 0.2, 600000);
}

TEST(test_late_doubles_of_other_shapes)
{
	run_late(true, 20, 0.2, 600000);
}

TEST(test_doubles_late_by_two_seconds)
{
	run_late(false, 5, 0.2, 2000000);
}

/* Answers to a join come when it has been sent again several times. */
TEST(test_all_is_late)
{
	run_late(false, 1, 1, 2000000);
}

/* ---- a worker that sleeps while its job ends and begins anew --------------------------------- */

struct sleeper {
	struct play play;
	struct server *server;
	atomic_bool asleep, ended, others_joined, awake;
};

static void
wait_for(atomic_bool *happened)
{
	while (!atomic_load(happened))
		usleep(1000);
}

/* It joined the job, and calls its allreduce when that has ended, and another has begun. */
static int
sleep_and_go_on(struct sleeper *sleeper, struct netfc_allreduce *comm)
{
	struct netfc_allreduce_handle *handle = NULL;
	int32_t values[OLD_COUNT];
	int status;

	for (unsigned int i = 0; i < OLD_COUNT; i++)
		values[i] = OLD_VALUE;
	atomic_store(&sleeper->asleep, true);
	wait_for(&sleeper->others_joined);
	status = netfc_allreduce_start(comm, values, OLD_COUNT, NETFC_ALLREDUCE_INT32,
		NETFC_ALLREDUCE_SUM, false, &handle);
	for (unsigned int i = 0; status == NETFC_ALLREDUCE_OK && i < 2000 &&
		netfc_allreduce_wait(&handle, 1, NULL) == NETFC_ALLREDUCE_PENDING &&
		server_count(sleeper->server, AGGREGATE_ADDED) == 0;
		i++)
		continue;
	atomic_store(&sleeper->awake, true);
	if (handle != NULL)
		status = netfc_allreduce_wait(&handle, -1, NULL);
	else if (status == NETFC_ALLREDUCE_OK) /* it has ended within the loop */
		status = netfc_allreduce(
			comm, values, OLD_COUNT, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	printf("# the old worker hears: %s\n", netfc_allreduce_error(comm));
	netfc_allreduce_free(comm);
	return status == NETFC_ALLREDUCE_OK;
}

static int
join_anew(struct sleeper *sleeper, unsigned int w)
{
	struct netfc_allreduce *comm;
	int wrong;

	if (w == 0) {
		wait_for(&sleeper->asleep);
		while (server_jobs(sleeper->server) > 0)
			usleep(1000);
		atomic_store(&sleeper->ended, true);
	}
	wait_for(&sleeper->ended);
	comm = play_join(&sleeper->play, w, 2);
	atomic_store(&sleeper->others_joined, true);
	if (comm == NULL)
		return 1;
	wait_for(&sleeper->awake);
	wrong = play_reduce(comm, 2);
	if (wrong != NETFC_ALLREDUCE_OK)
		fprintf(stderr, "worker %u of the new job: %s\n", w,
			wrong < 0 ? "WRONG VALUES" : netfc_allreduce_error(comm));
	return play_leave(comm, wrong);
}

/* Two workers of the old job, two of the new. */
static int
sleep_or_join_anew(unsigned int i, unsigned int n, void *context)
{
	struct sleeper *sleeper = context;
	struct netfc_allreduce *comm;

	(void)n;
	if (i >= 2)
		return join_anew(sleeper, i - 2);
	comm = play_join(&sleeper->play, i, 2);
	if (comm == NULL)
		return 1;
	if (i == 0)
		return sleep_and_go_on(sleeper, comm);
	netfc_allreduce_free(comm);
	return 0;
}

TEST(test_a_worker_that_slept)
{
	struct sleeper sleeper = {.server = server_start(&shard)};

	sleeper.play = play_of(sleeper.server);
	sleeper.play.options.keepalive_ms = 0;
	sleeper.play.options.deadline_ms = 5000;
	assert_int_equal(workers_run(4, sleep_or_join_anew, &sleeper), 0);
	server_stop(sleeper.server);
}

/* ---- a late double of a join ----------------------------------------------------------------- */

struct late_join {
	struct play play;
	struct network network;
	atomic_bool keeping, muting, first_gone, said_again;
};

/*
 * Joins of the process that is gone are kept; from the double on, those of the one that follows it
 * get lost until all are there.
 */
static enum relay_verdict
keep_joins(void *context, bool from_server, uint8_t *payload, size_t length)
{
	struct late_join *late = context;
	struct aggregate_message request;

	if (from_server || aggregate_parse_request(payload, length, &request) != 0 ||
		request.op != AGGREGATE_JOIN || request.worker != 0)
		return RELAY_PASS;
	if (atomic_load(&late->keeping))
		return request.join.cookie != 0 ? RELAY_KEEP : RELAY_PASS;
	if (atomic_load(&late->muting) && server_count(late->network.server, AGGREGATE_JOINED) == 0)
		return RELAY_LOSE;
	return RELAY_PASS;
}

/* A process that joins, is kept waiting, and ends without a word. */
static void
join_and_die(struct late_join *late)
{
	struct netfc_allreduce_options options = worker_options(&late->play.place, 0, 2);
	struct netfc_allreduce *comm = netfc_allreduce_new();

	options.join_ms = 300;
	assert_int_equal(netfc_allreduce_join(comm, &options), NETFC_ALLREDUCE_WAITING);
	netfc_allreduce_free(comm);
}

static int
join_behind_a_double(unsigned int w, unsigned int n, void *context)
{
	struct late_join *late = context;
	struct netfc_allreduce *comm;

	if (w == 1)
		wait_for(&late->said_again);
	comm = play_join(&late->play, w, n);
	if (comm == NULL)
		return 1;
	return play_leave(comm, play_reduce(comm, n) != NETFC_ALLREDUCE_OK);
}

/* As soon as the process that follows waits, the double comes. */
static int
say_again(struct late_join *late)
{
	uint64_t waiting = server_count(late->network.server, AGGREGATE_WAITING);

	while (server_count(late->network.server, AGGREGATE_WAITING) == waiting)
		usleep(1000);
	atomic_store(&late->muting, true);
	usleep(50000);
	if (relay_say_again(late->network.relay) == 0)
		return 1;
	usleep(50000);
	atomic_store(&late->said_again, true);
	return 0;
}

static int
join_or_say_again(unsigned int i, unsigned int n, void *context)
{
	return i == 2 ? say_again(context) : join_behind_a_double(i, n - 1, context);
}

/* Who waits keeps its place, though an earlier process's join comes once more. */
TEST(test_a_late_join_takes_nobodys_place)
{
	struct late_join late = {.keeping = true};
	const struct relay_options options = {.judge = keep_joins, .context = &late};

	late.network = network_start(&server_defaults, &options);
	late.play = play_of(late.network.server);
	late.play.place = late.network.place;
	join_and_die(&late);
	atomic_store(&late.keeping, false);
	assert_int_equal(workers_run(3, join_or_say_again, &late), 0);
	network_stop(&late.network);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bad network does to a job that is healthy: it goes on. */
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <aggregate_wire.h>

#include "cases.h"
#include "clock.h"
#include "network.h"
#include "plays.h"

/* A job behind a relay. */
struct passage {
	struct play play;
	struct network network;
	atomic_bool over;
	atomic_uint said_again; /* late doubles */
	bool closes;            /* ports, and no doubles */
};

static void
set_up(struct passage *passage, const struct relay_options *bad, unsigned int shards)
{
	passage->network = network_start(&(struct server_options){.shards = shards}, bad);
	passage->play = play_of(passage->network.server);
	passage->play.place = passage->network.place;
}

static int
say_wrong(unsigned int w, int status, const struct netfc_allreduce *comm)
{
	if (status == NETFC_ALLREDUCE_OK)
		return 0;
	fprintf(stderr, "worker %u: %s: %s\n", w,
		status < 0 ? "WRONG VALUES" : netfc_allreduce_status_name(status),
		netfc_allreduce_error(comm));
	return 1;
}

/* ---- late replies ---------------------------------------------------------------------------- */

/*
 * While the first worker waits for the second, its replies that say so are kept. They come once
 * more with the replies to its keep-alives.
 */
static enum relay_verdict
keep_waiting(void *context, bool from_server, uint8_t *payload, size_t length)
{
	struct passage *passage = context;
	struct aggregate_message reply;

	if (!from_server || aggregate_parse_reply(payload, length, &reply) != 0 ||
		reply.op != AGGREGATE_JOIN || reply.worker != 0)
		return RELAY_PASS;
	if (reply.code == AGGREGATE_STATUS_CODE && reply.reason == AGGREGATE_REASON_WAITING)
		return RELAY_KEEP;
	if (reply.code == NETFC_STATUS_OK)
		atomic_fetch_add(&passage->said_again, relay_say_again(passage->network.relay));
	return RELAY_PASS;
}

/* Not with the reply that ends joining, but with one that nobody waits for. */
static enum relay_verdict
keep_waiting_until_joined(void *context, bool from_server, uint8_t *payload, size_t length)
{
	struct passage *passage = context;

	if (from_server && server_count(passage->network.server, AGGREGATE_COMPLETED) == 0) {
		struct aggregate_message reply;

		if (aggregate_parse_reply(payload, length, &reply) == 0 &&
			reply.op == AGGREGATE_JOIN && reply.code == NETFC_STATUS_OK)
			return RELAY_PASS;
	}
	return keep_waiting(context, from_server, payload, length);
}

static int
join_late_and_keep_alive(unsigned int w, unsigned int n, void *context)
{
	struct passage *passage = context;
	struct netfc_allreduce *comm;
	int wrong;

	if (w == 1) {
		while (server_count(passage->network.server, AGGREGATE_WAITING) < 2)
			usleep(1000);
	}
	comm = play_join(&passage->play, w, n);
	if (comm == NULL)
		return 1;
	wrong = say_wrong(w, play_reduce(comm, n), comm);
	for (unsigned int i = 0; i < 10000 && atomic_load(&passage->said_again) == 0; i++)
		usleep(1000);
	usleep(100000);
	return play_leave(comm, wrong + say_wrong(w, play_reduce(comm, n), comm));
}

/* It says what has been, and a keep-alive asks what is. */
TEST(test_a_late_double_of_waiting)
{
	struct passage passage = {0};

	set_up(&passage,
		&(struct relay_options){.judge = keep_waiting_until_joined, .context = &passage},
		1);
	passage.play.options.keepalive_ms = 100;
	assert_int_equal(workers_run(2, join_late_and_keep_alive, &passage), 0);
	assert_true(passage.said_again > 0);
	network_stop(&passage.network);
}

/* ---- ports that are closed for a while ------------------------------------------------------- */

static int
reduce_until_over(struct passage *passage, unsigned int w, unsigned int n)
{
	struct netfc_allreduce *comm = play_join(&passage->play, w, n);
	int status = NETFC_ALLREDUCE_OK;
	int32_t over = 0;

	if (comm == NULL)
		return 1;
	while (status == NETFC_ALLREDUCE_OK && over == 0) {
		status = play_reduce(comm, n);
		over = w == 0 && atomic_load(&passage->over);
		if (status == NETFC_ALLREDUCE_OK) /* all end together */
			status = netfc_allreduce(
				comm, &over, 1, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	}
	return play_leave(comm, say_wrong(w, status, comm));
}

static int
close_ports(struct passage *passage)
{
	usleep(200000);
	for (unsigned int i = 0; i < 3; i++) {
		relay_close(passage->network.relay, true);
		usleep(300000);
		relay_close(passage->network.relay, false);
		usleep(100000);
	}
	atomic_store(&passage->over, true);
	return 0;
}

static int
reduce_or_close(unsigned int i, unsigned int n, void *context)
{
	return i == n - 1 ? close_ports(context) : reduce_until_over(context, i, n - 1);
}

/* An ICMP message says that nothing listens, and then something does. */
TEST(test_ports_that_are_closed_for_a_while)
{
	for (unsigned int shards = 1; shards <= 2; shards++) {
		struct passage passage = {0};

		set_up(&passage, &(struct relay_options){0}, shards);
		assert_int_equal(workers_run(4, reduce_or_close, &passage), 0);
		network_stop(&passage.network);
	}
}

/* As the switch is about to start, or what leads there. */
static int
join_or_open(unsigned int i, unsigned int n, void *context)
{
	struct passage *passage = context;
	struct netfc_allreduce *comm;

	if (i == n - 1) {
		usleep(300000);
		relay_close(passage->network.relay, false);
		return 0;
	}
	comm = play_join(&passage->play, i, n - 1);
	if (comm == NULL)
		return 1;
	return play_leave(comm, say_wrong(i, play_reduce(comm, n - 1), comm));
}

TEST(test_ports_that_open_while_workers_join)
{
	struct passage passage = {0};

	set_up(&passage, &(struct relay_options){0}, 1);
	relay_close(passage.network.relay, true);
	assert_int_equal(workers_run(3, join_or_open, &passage), 0);
	network_stop(&passage.network);
}

/* ---- a worker that is late ------------------------------------------------------------------- */

#define LATE_US 400000
#define MAX_AGAIN 3 /* times the slots; all in flight at each time-out would be more than that */
#define LATE_VALUES (512 * 362) /* more than a window of chunks */

/* The second worker watches what the first one sends while it waits for it: few chunks again. */
static int
wait_for_the_last(unsigned int w, unsigned int n, void *context)
{
	static int32_t values[2][LATE_VALUES];
	struct passage *passage = context;
	struct netfc_allreduce *comm = play_join(&passage->play, w, n);
	uint64_t again;
	int status;

	if (comm == NULL)
		return 1;
	if (w == 1) {
		while (server_count(passage->network.server, AGGREGATE_ADDED) == 0)
			usleep(1000);
		usleep(LATE_US);
		again = server_count(passage->network.server, AGGREGATE_DUPLICATE);
		atomic_store(&passage->said_again,
			again > (uint64_t)MAX_AGAIN * passage->play.options.slots);
	}
	status = netfc_allreduce(
		comm, values[w], LATE_VALUES, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	return play_leave(comm, say_wrong(w, status, comm));
}

TEST(test_what_waiting_costs)
{
	struct passage passage = {0};

	set_up(&passage, &(struct relay_options){0}, 1);
	assert_int_equal(workers_run(2, wait_for_the_last, &passage), 0);
	assert_false(passage.said_again);
	network_stop(&passage.network);
}

/* ---- routers that mark packets ----------------------------------------------------------------
 */

#define MARKED_VALUES 200000
#define SETTLED 100 /* results until the window is small */
#define FEW 12      /* chunks in flight: the least window, and what time-outs add */

struct flight {
	struct passage passage;
	uint32_t asked, answered; /* chunks */
	uint32_t most;            /* in flight, since it has settled */
};

/* There is one worker: each chunk is answered. */
static enum relay_verdict
count_flight(void *context, bool from_server, uint8_t *payload, size_t length)
{
	struct flight *flight = context;
	struct aggregate_message message;

	if (from_server && aggregate_parse_reply(payload, length, &message) == 0 &&
		aggregate_is_chunk(message.op) && message.id >= flight->answered)
		flight->answered = message.id + 1;
	if (!from_server && aggregate_parse_request(payload, length, &message) == 0 &&
		aggregate_is_chunk(message.op) && message.id >= flight->asked)
		flight->asked = message.id + 1;
	if (flight->answered >= SETTLED && flight->asked > flight->answered + flight->most)
		flight->most = flight->asked - flight->answered;
	return RELAY_PASS;
}

static int
reduce_many(unsigned int w, unsigned int n, void *context)
{
	static int32_t values[MARKED_VALUES];
	struct flight *flight = context;
	struct netfc_allreduce *comm = play_join(&flight->passage.play, w, n);

	if (comm == NULL)
		return 1;
	return play_leave(comm,
		say_wrong(w,
			netfc_allreduce(comm, values, MARKED_VALUES, NETFC_ALLREDUCE_INT32,
				NETFC_ALLREDUCE_MAX),
			comm));
}

/* Chunks in flight at most, if marks come or not. */
static uint32_t
flight_at_most(bool marked)
{
	struct flight flight = {0};
	const struct relay_options options = {
		.judge = count_flight, .context = &flight, .marked = marked};

	set_up(&flight.passage, &options, 1);
	assert_int_equal(workers_run(1, reduce_many, &flight), 0);
	network_stop(&flight.passage.network);
	return flight.most;
}

TEST(test_marks_make_the_window_small)
{
	assert_in_range(flight_at_most(true), 1, FEW);
	assert_true(flight_at_most(false) > FEW);
}

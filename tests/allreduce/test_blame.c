/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose fault it is that an allreduce is not done: late, left, failed and silent are not the same.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "clock.h"
#include "plays.h"
#include "relay.h"

/* A job, and what its workers wait for. */
struct trial {
	struct play play;
	struct server *server;
	atomic_bool outage, begun; /* one is, or one was */
	atomic_uint joined, left;
};

static void
set_up(struct trial *trial, unsigned int stall_ms)
{
	*trial = (struct trial){0};
	trial->server = server_start(&(struct server_options){.stall_ms = stall_ms});
	trial->play = play_of(trial->server);
	trial->play.options.deadline_ms = 20000;
}

/* Nonzero, and said, unless a status is as expected and the error's text mentions something. */
static int
heard_else(const struct netfc_allreduce *comm, unsigned int w, int status, int expected,
	const char *mention)
{
	const char *text = netfc_allreduce_error(comm);

	if (status == expected && strstr(text, mention) != NULL)
		return 0;
	fprintf(stderr, "worker %u: expected %s and \"%s\": %s: %s\n", w,
		netfc_allreduce_status_name(expected), mention,
		status < 0 ? "WRONG VALUES" : netfc_allreduce_status_name(status), text);
	return 1;
}

/* ---- failed ---------------------------------------------------------------------------------- */

/* Worker 1 calls another allreduce than the others, after them. */
static int
differ(unsigned int w, unsigned int n, void *context)
{
	struct trial *trial = context;
	struct netfc_allreduce *comm = play_join(&trial->play, w, n);
	int32_t values[3] = {1, 2, 3};
	int wrong, status;

	if (comm == NULL)
		return 1;
	if (w == 1) {
		while (server_count(trial->server, AGGREGATE_ADDED) < n - 1)
			usleep(1000);
	}
	status = netfc_allreduce(comm, values, 3, NETFC_ALLREDUCE_INT32,
		w == 1 ? NETFC_ALLREDUCE_MAX : NETFC_ALLREDUCE_SUM);
	wrong = heard_else(comm, w, status, NETFC_ALLREDUCE_MISMATCH, "orker 1");
	netfc_allreduce_free(comm);
	return wrong;
}

/* All hear at once who has failed, and with what: nobody waits until somebody is called silent. */
TEST(test_a_mismatch_is_told_to_all)
{
	struct trial trial;

	set_up(&trial, 3000);
	assert_int_equal(workers_run(3, differ, &trial), 0);
	server_stop(trial.server);
}

/* Worker 0 calls a barrier, all others an allreduce, and all at once. */
static int
call_another_kind(unsigned int w, unsigned int n, void *context)
{
	struct trial *trial = context;
	struct netfc_allreduce *comm = play_join(&trial->play, w, n);
	static _Thread_local float values[5000];
	int status, named;

	if (comm == NULL)
		return 1000;
	status = w == 0
		? netfc_barrier(comm)
		: netfc_allreduce(comm, values, 5000, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM);
	named = netfc_allreduce_silent_worker(comm);
	netfc_allreduce_free(comm);
	return status == NETFC_ALLREDUCE_MISMATCH && named >= 0 ? 1 << (4 * named) : 1000000;
}

/* All name the same one, whichever it is. */
TEST(test_kinds_that_differ)
{
	for (unsigned int round = 0; round < 10; round++) {
		struct trial trial;
		int named;

		set_up(&trial, 3000);
		named = workers_run(4, call_another_kind, &trial);
		if (named != 4 && named != 4 << 4 && named != 4 << 8 && named != 4 << 12)
			fail_msg("named by so many, worker by worker: %x", (unsigned int)named);
		server_stop(trial.server);
	}
}

/* ---- late ------------------------------------------------------------------------------------ */

static int
be_late(unsigned int w, unsigned int n, void *context)
{
	struct trial *trial = context;
	struct netfc_allreduce *comm = play_join(&trial->play, w, n);
	int wrong;

	if (comm == NULL)
		return 1;
	if (w == 1)
		usleep(3000000);
	wrong = heard_else(comm, w, play_reduce(comm, n), NETFC_ALLREDUCE_OK, "");
	return play_leave(comm, wrong);
}

/* It computes, and its library says meanwhile that it is alive. */
TEST(test_who_is_late_and_keeps_alive_is_not_silent)
{
	struct trial trial;

	set_up(&trial, 1000);
	trial.play.options.keepalive_ms = 50;
	assert_int_equal(workers_run(3, be_late, &trial), 0);
	server_stop(trial.server);
}

/* ---- left ------------------------------------------------------------------------------------ */

static int
leave_early(unsigned int w, unsigned int n, void *context)
{
	struct trial *trial = context;
	struct netfc_allreduce *comm = play_join(&trial->play, w, n);
	const char *text;
	int wrong, status;

	if (comm == NULL)
		return 1;
	wrong = heard_else(comm, w, play_reduce(comm, n), NETFC_ALLREDUCE_OK, "");
	if (w == 0) {
		wrong += play_leave(comm, 0);
		atomic_store(&trial->left, 1);
		return wrong;
	}
	while (atomic_load(&trial->left) == 0)
		usleep(1000);
	status = play_reduce(comm, n);
	text = netfc_allreduce_error(comm);
	if (status == NETFC_ALLREDUCE_OK || strstr(text, "orker 0") == NULL ||
		strstr(text, "has left") == NULL) {
		fprintf(stderr, "worker %u: expected that worker 0 has left: %s\n", w, text);
		wrong++;
	}
	return play_leave(comm, wrong);
}

TEST(test_who_has_left_is_not_silent)
{
	struct trial trial;

	set_up(&trial, 1000);
	assert_int_equal(workers_run(3, leave_early, &trial), 0);
	server_stop(trial.server);
}

/* ---- an outage ------------------------------------------------------------------------------- */

static enum relay_verdict
lose_all(void *context, bool from_server, uint8_t *payload, size_t length)
{
	struct trial *trial = context;

	(void)from_server;
	(void)payload;
	(void)length;
	return atomic_load(&trial->outage) ? RELAY_LOSE : RELAY_PASS;
}

/* The first sends; then nothing gets through; then the second sends. */
static int
live_through_an_outage(unsigned int w, unsigned int n, void *context)
{
	struct trial *trial = context;
	struct netfc_allreduce *comm;
	int wrong;

	if (w == n - 1) {
		while (server_count(trial->server, AGGREGATE_ADDED) == 0 ||
			atomic_load(&trial->joined) < n - 1)
			usleep(1000);
		atomic_store(&trial->outage, true);
		atomic_store(&trial->begun, true);
		usleep(1500000);
		atomic_store(&trial->outage, false);
		return 0;
	}
	comm = play_join(&trial->play, w, n - 1);
	if (comm == NULL)
		return 1;
	atomic_fetch_add(&trial->joined, 1);
	if (w == 1) {
		while (!atomic_load(&trial->begun))
			usleep(1000);
	}
	wrong = heard_else(comm, w, play_reduce(comm, n - 1), NETFC_ALLREDUCE_OK, "");
	return play_leave(comm, wrong);
}

/* Who was cut off was not silent: the switch itself has heard of nobody. */
TEST(test_after_an_outage_nobody_blames_the_other)
{
	int wrong = 0;

	for (unsigned int i = 0; i < 4 && wrong == 0; i++) {
		struct trial trial;
		struct relay_options bad = {.shards = 1, .judge = lose_all, .context = &trial};
		struct relay *relay;

		set_up(&trial, 600);
		trial.play.options.keepalive_ms = 50;
		bad.to = server_port(trial.server);
		relay = relay_start(&bad);
		trial.play.place = place_at(relay_port(relay));
		wrong += workers_run(3, live_through_an_outage, &trial);
		relay_stop(relay);
		server_stop(trial.server);
	}
	assert_int_equal(wrong, 0);
}

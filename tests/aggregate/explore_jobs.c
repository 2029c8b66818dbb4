/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every state that two workers, the table of jobs and a network between them can get into while the
 * workers go through two incarnations of one job: they join with cookies, send chunks (copies from
 * one, sums for one and sums for all in turn), leave, and join again with the same number and
 * token, from the same ports. The network loses, repeats, reorders and delays, from one incarnation
 * into the next as well. While a job is not complete, processes may be restarted at the same port
 * or another, with or without a leave, or be silent for long; with ALIVE, members
 * tell answers to one message from those to another, and show that they are alive, and the switch
 * may be restarted at any time. Usage: aggregate_explore_jobs SLOTS ROUNDS PACKETS TROUBLES [ALIVE]
 *
 * In each state: a result that a worker accepts is the sum of its own incarnation's values; what a
 * process sends now is not refused; what an earlier one sent changes nobody's place; and if from
 * now on packets got through, all would come to an end. But for one case: a job may be complete
 * with a process that has joined and was restarted since, which nobody can tell from one that dies
 * a moment later. Such a job is counted and not waited for; its sums have to be right all the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <aggregate_member.h>

#include "incarnations.h"
#include "states.h"

static struct states states = {.words = MODEL_WORDS};
static unsigned int most_sent;
static bool keep_alive; /* signs of life, ids of messages, restarts of the switch */

static void
reach(const struct model *m)
{
	uint64_t words[MODEL_WORDS];

	model_pack(m, words);
	states_reach(&states, words);
}

static void
look_into_network(const struct model *m)
{
	unsigned int count = in_flight(m);

	for (unsigned int f = 0; f < count; f++) {
		struct model next = *m;

		deliver(&next, f);
		reach(&next);
		next = *m;
		land(&next, f);
		reach(&next);
		next = *m;
		launch_word(&next, m->flight[f]);
		if (count < most_sent)
			reach(&next);
	}
}

static void
look_into_sending(const struct model *m)
{
	for (unsigned int w = 0; w < WORKERS && in_flight(m) < most_sent; w++)
		for (unsigned int s = 0; s < job_slots; s++) {
			struct model next = *m;
			struct packet packet;

			if (!has_packet(m, w, s))
				continue;
			packet = next_packet(&next, w, s);
			launch(&next, &packet);
			reach(&next);
		}
}

/* Who is in shows that it is alive, and asks whether the switch is. */
static void
look_into_signs_of_life(const struct model *m)
{
	for (unsigned int w = 0; w < WORKERS && in_flight(m) < most_sent; w++) {
		struct model next = *m;
		struct packet packet;

		if (is_done(&m->worker[w]) || m->worker[w].state != AGGREGATE_MEMBER_JOINED)
			continue;
		packet = member_send(&next, w, JOIN);
		launch(&next, &packet);
		reach(&next);
	}
}

/* A process ends while its job is not complete, maybe with a leave, and another begins. */
static void
look_into_restart(const struct model *m, unsigned int w)
{
	const struct model_worker *worker = &m->worker[w];
	const struct model_job *open = open_job(m);
	struct model next = *m, left = *m;
	struct packet leave;

	if (is_done(worker) || !is_joining(worker) || worker->port + 1 == PORTS ||
		(open != NULL && has_place(m, open, w)))
		return;
	next.troubles--;
	next.worker[w] = new_worker(worker->incarnation, (uint8_t)(worker->port + 1));
	reach(&next);
	if (worker->cookie && in_flight(m) < most_sent) {
		leave = member_send(&left, w, LEAVE);
		launch(&next, &leave);
		reach(&next);
	}
}

/* Nobody sends for so long that jobs that are not complete end. */
static void
look_into_silence(const struct model *m)
{
	struct model next = *m;

	if (open_job(m) != NULL || !is_joining(&m->worker[0]) || !is_joining(&m->worker[1]))
		return;
	next.troubles--;
	table_poll_late(&next);
	reach(&next);
}

/* The switch is restarted: it knows nothing, and those whose job it was are told. */
static void
look_into_switch_restart(const struct model *m)
{
	struct model next = *m;

	if (m->forgotten)
		return;
	next.troubles--;
	for (unsigned int w = 0; w < WORKERS; w++)
		next.forgotten |= !is_done(&m->worker[w]) && !is_joining(&m->worker[w]);
	next.forgotten |= open_job(m) != NULL;
	table_restart(&next);
	reach(&next);
}

/* The table's clock: a process that is no more has been silent for half_open, and its place is
 * free. */
static void
look_into_table(const struct model *m)
{
	struct model next = *m;

	table_pause(&next);
	reach(&next);
	next = *m;
	table_poll(&next);
	reach(&next);
	for (unsigned int w = 0; w < WORKERS; w++) {
		bool holds = false;

		for (unsigned int j = 0; j < JOBS; j++)
			holds |= has_place(m, &m->job[j], w);
		if (holds)
			continue;
		next = *m;
		table_poll_without(&next, w);
		reach(&next);
	}
}

/* Everybody sends, and everything gets through. */
static void
check_that_it_ends(struct model m)
{
	const unsigned int enough = INCARNATIONS * (job_rounds + 6);

	for (unsigned int again = 0; again < enough && !is_over(&m) && !is_lost(&m); again++) {
		for (unsigned int w = 0; w < WORKERS; w++)
			for (unsigned int s = 0; s < job_slots; s++) {
				struct packet packet;

				if (!has_packet(&m, w, s))
					continue;
				packet = next_packet(&m, w, s);
				launch(&m, &packet);
				while (m.flight[0] != 0)
					deliver(&m, 0);
			}
		table_pause(&m);
	}
	if (!is_over(&m) && !is_lost(&m))
		fail("it never ends, though packets get through", &m);
}

static void
look_into(const struct model *m)
{
	look_into_network(m);
	look_into_sending(m);
	if (keep_alive)
		look_into_signs_of_life(m);
	look_into_table(m);
	if (m->troubles == 0 || m->forgotten)
		return;
	look_into_silence(m);
	if (keep_alive)
		look_into_switch_restart(m);
	for (unsigned int w = 0; w < WORKERS; w++)
		look_into_restart(m, w);
}

static void
explore(unsigned int troubles)
{
	const struct model start = {
		.troubles = (uint8_t)troubles, .worker = {new_worker(0, 0), new_worker(0, 0)}};
	uint64_t words[MODEL_WORDS], ends = 0, lost = 0;

	reach(&start);
	while (states_take(&states, words)) {
		const struct model m = model_unpack(words);

		ends += is_over(&m);
		lost += is_lost(&m);
		/* That all in flight is lost is a state of its own. */
		if (in_flight(&m) == 0)
			check_that_it_ends(m);
		look_into(&m);
	}
	printf("%u slots, %u rounds, %u packets, %u troubles%s: %" PRIu64 " states, %" PRIu64
	       " transitions, %" PRIu64 " states where all is done, %" PRIu64
	       " where a job is complete with a process that is no more\n",
		job_slots, job_rounds, most_sent, troubles, keep_alive ? ", signs of life" : "",
		states.used, states.transitions, ends, lost);
	if (ends == 0)
		exit(1);
}

int
main(int argc, char **argv)
{
	unsigned long given[5] = {0};

	for (int a = 1; (argc == 5 || argc == 6) && a < argc; a++)
		given[a - 1] = strtoul(argv[a], NULL, 10);
	job_slots = (uint32_t)given[0];
	job_rounds = (uint32_t)given[1];
	most_sent = (unsigned int)given[2];
	keep_alive = given[4] != 0;
	member_ids = keep_alive ? IDS - 1 : 1;
	if ((job_slots != 1 && job_slots != 2) || job_rounds < 1 || job_rounds > 3 ||
		job_slots * job_rounds > MAX_CHUNKS || most_sent < 1 ||
		most_sent > MAX_IN_FLIGHT - 1 || given[3] > PORTS - 1) {
		fprintf(stderr,
			"usage: %s SLOTS ROUNDS PACKETS TROUBLES [ALIVE]: 1 or 2 slots, 1 to 3 rounds, up to "
			"%u packets in flight and %u restarts or long silences; 1: members send "
			"signs of life\n",
			argv[0], MAX_IN_FLIGHT - 1, PORTS - 1);
		return 1;
	}
	table_start(job_slots);
	explore((unsigned int)given[3]);
	table_stop();
	states_free(&states);
	return 0;
}

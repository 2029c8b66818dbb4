/* SPDX-License-Identifier: BSD-3-Clause */
/* What has to come of a state, if no more packets are lost. */
#include <string.h>

#include "blobs.h"
#include "restarts.h"

#define TICKS 10        /* between two looks at the clock */
#define AGAIN 2         /* looks until a worker sends again */
#define LONG (4 * IDLE) /* in which all have to come to an end */
#define PARTING 50      /* in which those who have failed leave, before all are killed */
#define PAUSE (HALF_OPEN + 4 * TICKS) /* until all are started anew */
#define MOST_QUEUED 64

/* A tree in which time goes by. */
struct play {
	uint64_t now;
	unsigned int looks;
	struct worker worker[WORKERS];
	unsigned int queued;
	struct packet queue[MOST_QUEUED];
};

static struct blobs ended, seen; /* states whose end is known; switches that were looked at */
static struct play play;

/* ---- With the clock ---- */

static void
queue_packets(const struct sent *sent)
{
	for (unsigned int p = 0; p < sent->count; p++) {
		if (play.queued == MOST_QUEUED)
			fail("packets make more and more packets");
		play.queue[play.queued++] = sent->packet[p];
	}
}

static void
deliver_all(void)
{
	while (play.queued > 0) {
		const struct packet packet = play.queue[0];
		struct sent sent = {0};

		memmove(play.queue, play.queue + 1, --play.queued * sizeof(*play.queue));
		if (packet.to < FIRST_WORKER)
			switch_take(packet.to, &packet, play.now, &sent);
		else
			worker_take(&play.worker[packet.to - FIRST_WORKER], &packet);
		queue_packets(&sent);
	}
}

static void
look(void)
{
	play.now += TICKS;
	play.looks++;
	for (unsigned int w = 0; w < WORKERS && play.looks % AGAIN == 0; w++) {
		struct sent sent = {0};

		if (worker_is_over(&play.worker[w]))
			continue;
		worker_send(&play.worker[w], play.now, &sent);
		queue_packets(&sent);
		deliver_all();
	}
	for (unsigned int s = 0; s < shape->switches; s++) {
		struct sent sent = {0};

		switch_pause(s, play.now);
		switch_poll(s, play.now, &sent);
		queue_packets(&sent);
		deliver_all();
	}
}

static void
load(const struct model *model)
{
	play = (struct play){.now = NOW};
	model_load(model, play.worker);
}

static bool
all_are_over(void)
{
	bool over = true;

	for (unsigned int w = 0; w < WORKERS; w++)
		over &= worker_is_over(&play.worker[w]);
	return over;
}

/* One who waits for a worker that is no more would wait until its deadline. */
static bool
all_are_over_or_wait(void)
{
	bool over = true;

	for (unsigned int w = 0; w < WORKERS; w++)
		over &= worker_is_over(&play.worker[w]) ||
			(worker_is_over(&play.worker[1 - w]) && worker_joins(&play.worker[w]));
	return over;
}

static void
check_end_in_time(const struct model *model)
{
	load(model);
	while (!all_are_over_or_wait() && play.now < NOW + LONG)
		look();
	if (!all_are_over_or_wait())
		fail("it never ends, though packets get through");
}

static bool
all_are_empty(void)
{
	bool empty = true;

	for (unsigned int s = 0; s < shape->switches; s++)
		empty &= switch_is_empty(s);
	return empty;
}

static void
kill_all(void)
{
	for (unsigned int w = 0; w < WORKERS; w++)
		play.worker[w].phase = PHASE_ENDED;
}

static void
check_oblivion(const struct model *model)
{
	load(model);
	kill_all();
	while (!all_are_empty() && play.now < NOW + LONG)
		look();
	if (!all_are_empty())
		fail("a job has no member, and never ends");
}

static void
launch(unsigned int attempt)
{
	for (unsigned int w = 0; w < WORKERS; w++) {
		struct worker *worker = &play.worker[w];

		memset(worker, 0, sizeof(*worker));
		worker->number = (uint8_t)w;
		worker->life = LIVES - 1;
		worker->attempt = (uint8_t)attempt;
		worker->jobs = 1;
		worker_begin(worker);
	}
}

static bool
any_has_failed(void)
{
	bool failed = false;

	for (unsigned int w = 0; w < WORKERS; w++)
		failed |= play.worker[w].reason != 0;
	return failed;
}

/* Whether all get all results, or one of them fails, before that time. */
static bool
attempt_ends(unsigned int attempt, uint64_t until)
{
	launch(attempt);
	while (!all_are_over() && !any_has_failed() && play.now < until)
		look();
	return all_are_over() && !any_has_failed();
}

static void
pass(uint64_t ticks)
{
	for (uint64_t until = play.now + ticks; play.now < until;)
		look();
}

static void
check_launch(const struct model *model)
{
	load(model);
	for (unsigned int attempt = 1; !attempt_ends(attempt, NOW + LONG); attempt++) {
		if (play.now >= NOW + LONG)
			fail("all are started anew again and again, and never come to an end");
		pass(PARTING);
		kill_all();
		pass(PAUSE);
	}
}

void
check_switches(const struct model *model)
{
	const uint32_t before = seen.count;

	if (blobs_number(&seen, model->sw, sizeof(model->sw)) <= before)
		return;
	check_oblivion(model);
	check_launch(model);
}

/* ---- Without it: most states come to those whose end is known ---- */

/* Everybody sends. Returns whether all are over. */
static bool
go_on(struct model *model)
{
	bool over = true;

	for (unsigned int w = 0; w < WORKERS; w++) {
		const struct worker worker = model_worker(model, w);

		if (worker_is_over(&worker))
			continue;
		over = false;
		model_worker_does(model, w, EVENT_SEND, 0);
		model_deliver_all(model);
	}
	for (unsigned int s = 1; s < shape->switches; s++)
		for (unsigned int j = 0; j < JOBS; j++) {
			model_switch(model, s, EVENT_SEND, j);
			model_deliver_all(model);
		}
	for (unsigned int s = 0; s < shape->switches; s++)
		model_switch(model, s, EVENT_PAUSE, 0);
	return over;
}

void
check_end(const struct model *model)
{
	struct model m = *model;
	const uint32_t known = ended.count;
	uint32_t before, number;

	m.troubles = 0;
	do {
		uint64_t words[MODEL_WORDS];

		model_pack(&m, words);
		before = ended.count;
		number = blobs_number(&ended, words, sizeof(words));
		if (number <= known)
			return;
		if (number <= before) {
			check_end_in_time(&m);
			return;
		}
	} while (!go_on(&m));
}

void
check_free(void)
{
	blobs_free(&ended);
	blobs_free(&seen);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every state that a tree of switches, two workers and the networks between them can get into while
 * jobs begin and end, and switches and workers are started anew. The networks lose packets, repeat
 * them, and hold some back, for as long as they like: from one process of a switch or a worker into
 * the next as well. Usage: aggregate_explore_restarts SHAPE ROUNDS JOBS LATE TROUBLES STATES
 * [OPTION ...]; the first so many states, those that the fewest steps lead to, or all: 0. Options:
 *
 * - alive: who is in shows that it is alive, and tells answers to one message from those to another
 * - other: each job asks for another number of slots than the one before
 * - launches, a trouble: all workers are killed and started anew, at once, as a launcher does it
 * - restarts, a trouble: one of them is, or a switch
 * - silence, a trouble: a switch does not hear a member, its parent, or anything, for long
 * - any-way: workers that end may leave first, their next processes may have other ports, and
 *   launches come before anyone is in, too
 *
 * In each state:
 * - a result has the values of its chunk, once each, of its worker's own process and of one process
 *   of the other: one of the same launch, and the same one in all results of a job;
 * - without trouble nobody is told of any;
 * - if from now on packets got through, all workers would come to an end, of their work or by a
 *   failure that they are told of;
 * - if all workers died now, the switches would forget all, sooner or later; and if they were
 *   started anew, and again whenever one of them fails, they would get all results.
 *
 * A packet is looked into when it is sent: it arrives at once, and what follows from it, too, or is
 * lost, or late. A late one arrives or is lost at any time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blobs.h"
#include "restarts.h"
#include "states.h"

static const struct shape shapes[] = {
	{"leaf", 2, {0, 0}, {0, 0}, {1, 2}, {1, 1}, {0, 1}},
	{"leaves", 3, {0, 0, 0}, {0, 0, 1}, {2, 1, 1}, {1, 2}, {0, 0}},
	{"leaf-and-worker", 2, {0, 0}, {0, 0}, {2, 1}, {1, 0}, {0, 1}},
	{"levels", 3, {0, 0, 1}, {0, 0, 0}, {1, 1, 2}, {2, 2}, {0, 1}},
};

/* What becomes of a packet that was just sent. */
enum fate {
	ARRIVES,
	IS_LOST,
	IS_LATE,
	ARRIVES_TWICE, /* once later on */
	FATES,
};

#define FATE_BITS 2
#define MOST_FATES 16
#define MOST_ROUNDS 3
#define MOST_JOBS 2
#define MOST_TROUBLES 3

struct bounds {
	unsigned int jobs, late, troubles;
	uint32_t states; /* that are looked into; 0: all */
};

/* An event, and what becomes of the packets that follow from it. */
struct step {
	uint32_t before; /* the state */
	uint32_t detail, fates;
	uint8_t event, who, packets;
};

const struct shape *shape;
unsigned int rounds, member_ids = 1;
bool keep_alive, other_joins;

static struct blobs states; /* by number in the order in which they were reached */
static struct step *steps;  /* how a state was reached first */
static uint32_t steps_room, current;
static uint64_t transitions;
static unsigned int most_late;
static bool restarts, launches, silence; /* troubles that there are */
static bool any_way; /* processes that end may leave, and others may have another port */

static struct model
state_at(uint32_t number)
{
	uint64_t words[MODEL_WORDS];

	memcpy(words, blobs_bytes(&states, number), sizeof(words));
	return model_unpack(words);
}

static void
put_late(struct model *m, uint16_t packet)
{
	flight_add(m->late, MOST_LATE, packet);
}

static void
start_worker(struct model *m, unsigned int w, bool moves)
{
	struct worker worker = model_worker(m, w);

	worker.life++;
	worker.port += moves;
	worker_begin(&worker);
	model_set_worker(m, w, &worker);
}

/* How a process ends and another begins. */
#define WITH_A_LEAVE(w) (1u << (w))
#define AT_ANOTHER_PORT (1u << WORKERS)
#define HOWS (1u << (WORKERS + 1))

static void
start_anew(struct model *m, unsigned int w, unsigned int how)
{
	if ((how & WITH_A_LEAVE(w)) != 0)
		model_worker_does(m, w, EVENT_LEAVE, 0);
	start_worker(m, w, (how & AT_ANOTHER_PORT) != 0);
}

/* All processes, at once. */
static void
launch(struct model *m, unsigned int how)
{
	unsigned int epoch = 0;

	for (unsigned int w = 0; w < WORKERS; w++)
		if (model_worker(m, w).epoch >= epoch)
			epoch = model_worker(m, w).epoch + 1u;
	for (unsigned int w = 0; w < WORKERS; w++) {
		struct worker worker;

		start_anew(m, w, how);
		worker = model_worker(m, w);
		worker.epoch = worker.epoch_of[worker.life] = (uint8_t)epoch;
		worker.jobs = 1;
		model_set_worker(m, w, &worker);
	}
}

/* What a step does, but for what becomes of its packets. */
static void
act(struct model *m, const struct step *step)
{
	if (step->event == EVENT_LATE_ARRIVAL)
		model_deliver(m, (uint16_t)step->detail);
	else if (step->event == EVENT_LAUNCH)
		launch(m, step->detail);
	else if (step->event == EVENT_STARTED)
		start_anew(m, step->who - FIRST_WORKER, step->detail);
	else if (step->who < FIRST_WORKER)
		model_switch(m, step->who, step->event, step->detail);
	else
		model_worker_does(m, step->who - FIRST_WORKER, step->event, step->detail);
}

static void
show_step(const struct step *step)
{
	static const char *const fates[FATES] = {"arrives", "is lost", "is late", "arrives twice"};
	struct model m = state_at(step->before);

	model_show_event(step->event, step->who, step->detail);
	if (step->packets == 0)
		return;
	act(&m, step);
	for (unsigned int p = 0; p < step->packets; p++) {
		const enum fate fate = step->fates >> FATE_BITS * p & (FATES - 1);
		const uint16_t packet = model_next(&m);

		model_show_packet(packet, fates[fate]);
		if (fate == ARRIVES || fate == ARRIVES_TWICE)
			model_deliver(&m, packet);
	}
}

static void
show_way_to(uint32_t number)
{
	const struct step step = steps[number];

	if (step.before == 0)
		return;
	show_way_to(step.before);
	show_step(&step);
}

void
fail(const char *what)
{
	const uint32_t number = current;

	printf("%s\n", what);
	current = 0;
	if (number != 0) {
		printf("then:\n");
		model_show_latest();
		printf("after:\n");
		show_way_to(number);
	}
	exit(1);
}

static void
reach(const struct model *m, const struct step *step)
{
	const uint32_t before = states.count;
	uint64_t words[MODEL_WORDS];

	transitions++;
	model_pack(m, words);
	if (blobs_number(&states, words, sizeof(words)) <= before)
		return;
	if (states.count >= steps_room) {
		steps_room = 2 * states.count + 1024;
		steps = realloc(steps, steps_room * sizeof(*steps));
		if (steps == NULL)
			fail("out of memory");
	}
	steps[states.count] = *step;
}

/* Whatever may become of the packets that were just sent. */
static void
unfold(const struct model *m, const struct step *step)
{
	for (enum fate fate = 0; m->fresh_count > 0 && fate < FATES; fate++) {
		struct step further = *step;
		struct model next = *m;
		const uint16_t packet = model_next(&next);

		if (further.packets == MOST_FATES)
			fail("a packet makes too many others");
		further.fates |= (uint32_t)fate << FATE_BITS * further.packets++;
		if (fate == IS_LATE || fate == ARRIVES_TWICE) {
			if (flight_count(m->late, MOST_LATE) >= most_late)
				continue;
			put_late(&next, packet);
		}
		if (fate == ARRIVES || fate == ARRIVES_TWICE)
			model_deliver(&next, packet);
		unfold(&next, &further);
	}
	if (m->fresh_count == 0)
		reach(m, step);
}

static struct step
step_of(enum event event, unsigned int who, uint32_t detail)
{
	return (struct step){
		.before = current, .event = (uint8_t)event, .who = (uint8_t)who, .detail = detail};
}

static void
look_into_late_packets(const struct model *m)
{
	for (unsigned int l = 0; l < MOST_LATE && m->late[l] != 0; l++) {
		struct step step = step_of(EVENT_LATE_LOSS, 0, m->late[l]);
		struct model lost = *m, next;

		if (l > 0 && m->late[l] == m->late[l - 1])
			continue;
		flight_remove(lost.late, MOST_LATE, l);
		reach(&lost, &step);
		step.event = EVENT_LATE_ARRIVAL;
		next = lost;
		model_deliver(&next, m->late[l]);
		unfold(&next, &step);
		/* Once more later on. */
		step.detail |= 1 << 16;
		next = *m;
		model_deliver(&next, m->late[l]);
		unfold(&next, &step);
	}
}

static void
look_into_workers(const struct model *m)
{
	for (unsigned int w = 0; w < WORKERS; w++) {
		const struct worker worker = model_worker(m, w);
		struct step step = step_of(EVENT_SEND, FIRST_WORKER + w, 0);
		struct model next = *m;

		if (worker_is_over(&worker))
			continue;
		model_worker_does(&next, w, EVENT_SEND, 0);
		unfold(&next, &step);
		if (!keep_alive || !worker_is_in(&worker))
			continue;
		next = *m;
		step.event = EVENT_LIFE;
		model_worker_does(&next, w, EVENT_LIFE, 0);
		unfold(&next, &step);
	}
}

static void
try_switch(const struct model *m, unsigned int s, enum event event, uint32_t detail)
{
	const struct step step = step_of(event, s, detail);
	struct model next = *m;

	if (model_switch(&next, s, event, detail))
		unfold(&next, &step);
}

static void
look_into_switches(const struct model *m)
{
	for (unsigned int s = 0; s < shape->switches; s++) {
		try_switch(m, s, EVENT_PAUSE, 0);
		for (unsigned int j = 0; s != ROOT && j < JOBS; j++)
			try_switch(m, s, EVENT_SEND, j);
	}
}

/* ---- Troubles ---- */

static bool
can_start(const struct model *m, unsigned int w)
{
	return model_worker(m, w).life + 2 < LIVES;
}

static void
try_all_ways(const struct model *m, struct step step)
{
	for (unsigned int how = 0; how < (any_way ? HOWS : 1); how++) {
		struct model next = *m;

		step.detail = how;
		act(&next, &step);
		unfold(&next, &step);
	}
}

static void
look_into_worker_restart(const struct model *m, unsigned int w)
{
	const struct worker worker = model_worker(m, w);

	if (!worker_is_over(&worker) && can_start(m, w))
		try_all_ways(m, step_of(EVENT_STARTED, FIRST_WORKER + w, 0));
}

static void
look_into_launch(const struct model *m)
{
	const struct worker one = model_worker(m, 0), other = model_worker(m, 1);

	if (!any_way && !worker_is_in(&one) && !worker_is_in(&other))
		return;
	if (can_start(m, 0) && can_start(m, 1))
		try_all_ways(m, step_of(EVENT_LAUNCH, FIRST_WORKER, 0));
}

static void
look_into_silence(const struct model *m, unsigned int s)
{
	try_switch(m, s, EVENT_MISS_ALL, 0);
	for (unsigned int j = 0; s != ROOT && j < JOBS; j++)
		try_switch(m, s, EVENT_GIVE_UP, j);
	for (unsigned int member = 0; member < shape->members[s]; member++)
		try_switch(m, s, EVENT_MISS, member);
}

static void
look_into_troubles(const struct model *m)
{
	struct model less = *m;

	if (m->troubles == 0)
		return;
	less.troubles--;
	less.troubled = true;
	if (launches)
		look_into_launch(&less);
	for (unsigned int w = 0; restarts && w < WORKERS; w++)
		look_into_worker_restart(&less, w);
	for (unsigned int s = 0; s < shape->switches; s++) {
		if (restarts)
			try_switch(&less, s, EVENT_START_ANEW, 0);
		if (silence)
			look_into_silence(&less, s);
	}
}

static bool
is_over(const struct model *m)
{
	return model_worker(m, 0).phase == PHASE_DONE && model_worker(m, 1).phase == PHASE_DONE;
}

static void
look_into(const struct model *m)
{
	check_switches(m);
	if (m->late[0] == 0)
		check_end(m);
	look_into_late_packets(m);
	look_into_workers(m);
	look_into_switches(m);
	look_into_troubles(m);
}

/* Returns whether there was anything to find. */
static bool
explore(const struct bounds *bounds)
{
	uint64_t ends = 0;
	struct model m;

	model_start(&m, bounds->troubles, bounds->jobs);
	reach(&m, &(const struct step){0});
	for (current = 1; current <= states.count; current++) {
		if (bounds->states != 0 && current > bounds->states)
			break;
		m = state_at(current);
		ends += is_over(&m);
		look_into(&m);
	}
	printf("%s, %u rounds, %u jobs, %u late, %u troubles: %u states, %u of them looked into, "
	       "%" PRIu64 " transitions, %" PRIu64 " states where all is done\n",
		shape->name, rounds, bounds->jobs, bounds->late, bounds->troubles, states.count,
		current - 1, transitions, ends);
	model_free();
	check_free();
	blobs_free(&states);
	free(steps);
	return ends > 0;
}

static bool
read_shape(const char *name)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (strcmp(name, shapes[i].name) == 0)
			shape = &shapes[i];
	return shape != NULL;
}

static bool
read_option(const char *name)
{
	static const struct {
		const char *name;
		bool *flag;
	} options[] = {
		{"alive", &keep_alive},
		{"other", &other_joins},
		{"launches", &launches},
		{"restarts", &restarts},
		{"silence", &silence},
		{"any-way", &any_way},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (strcmp(name, options[i].name) == 0)
			return *options[i].flag = true;
	return false;
}

static bool
read_arguments(int argc, char **argv, struct bounds *bounds)
{
	bool good = argc >= 7 && read_shape(argv[1]);

	if (!good)
		return false;
	rounds = (unsigned int)strtoul(argv[2], NULL, 10);
	bounds->jobs = (unsigned int)strtoul(argv[3], NULL, 10);
	bounds->late = (unsigned int)strtoul(argv[4], NULL, 10);
	bounds->troubles = (unsigned int)strtoul(argv[5], NULL, 10);
	bounds->states = (uint32_t)strtoul(argv[6], NULL, 10);
	for (int a = 7; a < argc; a++)
		good &= read_option(argv[a]);
	return good && rounds >= 1 && rounds <= MOST_ROUNDS && bounds->jobs >= 1 &&
		bounds->jobs <= MOST_JOBS && bounds->late <= MOST_LATE &&
		bounds->troubles <= MOST_TROUBLES;
}

int
main(int argc, char **argv)
{
	struct bounds bounds;

	if (!read_arguments(argc, argv, &bounds)) {
		fprintf(stderr,
			"usage: %s SHAPE ROUNDS JOBS LATE TROUBLES STATES [OPTION ...]: leaf, "
			"leaves, leaf-and-worker or levels; up to %u chunks of a job, %u jobs, %u "
			"packets that are late, %u troubles; the first so many states, 0: all; "
			"alive, other, launches, restarts, silence, any-way\n",
			argv[0], MOST_ROUNDS, MOST_JOBS, MOST_LATE, MOST_TROUBLES);
		return 1;
	}
	most_late = bounds.late;
	member_ids = keep_alive ? 2 : 1;
	return explore(&bounds) || bounds.states != 0 ? 0 : 1;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs of trees whose switches are started anew or away for a while, and whose workers are killed,
 * by seed. Whenever a worker is told of a failure all of them are started anew, with other values,
 * as a launcher does it: some leave, some are killed, some have another port. Then peace: in the
 * end all workers have all sums, none of which has a value of any process of before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "tree.h"

#define TROUBLE 60000 /* ticks */
#define PEACE 100000  /* in which all have to have come to an end: five times `idle` */
#define DEADLINE 6000 /* of a worker that waits for one who is late, or that was killed */
#define START 400     /* in which the workers are started */
#define LAST 12       /* chunks that nobody comes to in times of trouble */
#define LANES 5

struct trial {
	struct tree *tree;
	uint64_t seed, incarnation;
	uint64_t since[TREE_MAX_WORKERS]; /* when it began to wait, or was killed; 0: it did not */
	uint64_t back[TREE_MAX_SWITCHES]; /* when it is there again */
	unsigned long starts, kills, failures;
};

/* A number below a limit. */
static unsigned int
draw(struct trial *trial, unsigned int limit)
{
	return (unsigned int)(next_random(&trial->seed) % limit);
}

static bool
happens(struct trial *trial, unsigned int once_in)
{
	return draw(trial, once_in) == 0;
}

/* What all have to add up from now on. */
static void
draw_values(struct trial *trial)
{
	struct tree *tree = trial->tree;

	tree->chunks = TREE_MAX_CHUNKS;
	memset(tree->chunk, 0, tree->chunks * sizeof(*tree->chunk));
	for (unsigned int c = 0; c < tree->chunks; c++) {
		struct tree_chunk *chunk = &tree->chunk[c];

		chunk->op = c % 3 == 0 ? AGGREGATE_MAX : AGGREGATE_SUM;
		chunk->format = AGGREGATE_FP32;
		chunk->count = LANES;
		for (unsigned int lane = 0; lane < LANES; lane++)
			data_fill(DATA_GRADIENTS, AGGREGATE_FP32, chunk->values[lane],
				tree->workers, &trial->seed);
	}
}

static void
start_worker(struct trial *trial, unsigned int w)
{
	struct tree_worker *worker = &trial->tree->worker[w];

	*worker = (struct tree_worker){.at = worker->at,
		.index = worker->index,
		.port = (uint16_t)(worker->port + happens(trial, 3)),
		.incarnation = ++trial->incarnation,
		.id = (uint32_t)next_random(&trial->seed),
		.asks_for_zeros = happens(trial, 2),
		.next_join = trial->tree->now + draw(trial, START)};
	trial->since[w] = 0;
}

/* Who has no session yet leaves with its cookie. */
static void
leave(struct trial *trial, unsigned int w)
{
	struct tree_worker *worker = &trial->tree->worker[w];

	if (worker->session == 0)
		worker->session = worker->cookie;
	for (unsigned int times = 0; times < 5 && worker->session != 0; times++)
		tree_leave(trial->tree, w, AGGREGATE_REASON_FAILED);
}

static void
start_all(struct trial *trial)
{
	trial->failures++;
	for (unsigned int w = 0; w < trial->tree->workers; w++) {
		if (!trial->tree->worker[w].over && !happens(trial, 4))
			leave(trial, w);
		start_worker(trial, w);
	}
	draw_values(trial);
}

static bool
is_late(const struct tree_worker *worker)
{
	return worker->joined && worker->reason >= AGGREGATE_MISSING &&
		worker->absence == AGGREGATE_ABSENT_LATE;
}

static bool
has_failed(const struct tree_worker *worker)
{
	return worker->reason != AGGREGATE_REASON_NONE && !is_late(worker) &&
		worker->reason != AGGREGATE_REASON_WAITING &&
		worker->reason != AGGREGATE_REASON_COOKIE;
}

/* Whether the launcher starts all anew because of that one. */
static bool
ends_all(struct trial *trial, unsigned int w)
{
	const struct tree_worker *worker = &trial->tree->worker[w];

	if (!worker->over && !is_late(worker))
		trial->since[w] = 0;
	else if (trial->since[w] == 0)
		trial->since[w] = trial->tree->now;
	return (!worker->over && has_failed(worker)) ||
		(trial->since[w] != 0 && trial->tree->now - trial->since[w] > DEADLINE);
}

static void
supervise(struct trial *trial)
{
	for (unsigned int w = 0; w < trial->tree->workers; w++)
		if (ends_all(trial, w)) {
			start_all(trial);
			return;
		}
}

/* What may happen to a switch in a tick. */
static void
trouble_switch(struct trial *trial, unsigned int s)
{
	struct tree *tree = trial->tree;

	if (tree->now >= trial->back[s])
		tree->sw[s].dead = false;
	if (happens(trial, 3000 * tree->switches)) {
		tree_restart(tree, s);
		trial->starts++;
	}
	if (happens(trial, 2000 * tree->switches)) {
		tree->sw[s].dead = true;
		trial->back[s] = tree->now + draw(trial, 4000);
	}
}

/* And to a worker. */
static void
trouble_worker(struct trial *trial, unsigned int w)
{
	struct tree *tree = trial->tree;

	if (!tree->worker[w].over && happens(trial, 2500 * tree->workers)) {
		tree->worker[w].over = true;
		trial->kills++;
	}
	if (tree->worker[w].results + LAST > tree->chunks)
		start_all(trial);
}

static void
run_trouble(struct trial *trial)
{
	struct tree *tree = trial->tree;

	for (uint64_t end = tree->now + TROUBLE; tree->now < end;) {
		tree_pass(tree, tree->now + 1);
		for (unsigned int s = 0; s < tree->switches; s++)
			trouble_switch(trial, s);
		for (unsigned int w = 0; w < tree->workers; w++)
			trouble_worker(trial, w);
		supervise(trial);
	}
}

/* Returns whether all have come to an end. */
static bool
run_peace(struct trial *trial)
{
	struct tree *tree = trial->tree;

	for (unsigned int s = 0; s < tree->switches; s++)
		tree->sw[s].dead = false;
	for (uint64_t end = tree->now + PEACE; !tree_is_done(tree) && tree->now < end;) {
		tree_run(tree, tree->now + 1);
		supervise(trial);
	}
	return tree_is_done(tree);
}

/* One to three leaves, which may be a switch further down, of one to three workers. */
static void
grow(struct trial *trial)
{
	const unsigned int leaves = 1 + draw(trial, 3), deeper = draw(trial, 2);

	tree_add_switch(trial->tree, 0, 1 + draw(trial, 2));
	for (unsigned int l = 0; l < leaves; l++) {
		unsigned int leaf = tree_add_switch(trial->tree, 0, 1 + draw(trial, 2));

		if (deeper)
			leaf = tree_add_switch(trial->tree, leaf, 1);
		for (unsigned int w = 0, workers = 1 + draw(trial, 3); w < workers; w++)
			tree_add_worker(trial->tree, leaf);
	}
}

/* Returns whether all went well. */
static bool
run(struct trial *trial, uint64_t seed)
{
	bool done, right;

	trial->tree = tree_new(seed);
	trial->seed = seed;
	memset(trial->since, 0, sizeof(trial->since));
	memset(trial->back, 0, sizeof(trial->back));
	grow(trial);
	if (happens(trial, 3))
		tree_seal(trial->tree);
	trial->tree->network = (struct tree_network){
		.loss = draw(trial, 15), .twice = draw(trial, 20), .disorder = 1 + draw(trial, 30)};
	tree_start(trial->tree);
	start_all(trial);
	run_trouble(trial);
	done = run_peace(trial);
	right = trial->tree->wrong == 0;
	if (!done || !right)
		printf("# seed %lu: %lu wrong, and %s\n", (unsigned long)seed,
			(unsigned long)trial->tree->wrong, done ? "done" : "not done");
	tree_free(trial->tree);
	return done && right;
}

int
main(int argc, char **argv)
{
	struct trial trial = {.incarnation = 1};
	const unsigned long trees = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long bad = 0;

	if (trees == 0) {
		fprintf(stderr, "usage: aggregate_tree_restarts TREES\n");
		return 1;
	}
	for (unsigned long seed = 1; seed <= trees; seed++)
		bad += !run(&trial, seed);
	printf("%lu trees, %lu switches started anew, %lu workers killed, %lu failures: %lu bad\n",
		trees, trial.starts, trial.kills, trial.failures, bad);
	return bad != 0;
}

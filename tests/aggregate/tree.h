/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TREE_H
#define TREE_H

/**
 * @file
 * A tree of switches and its workers, with a network between them that loses, repeats and
 * reorders. All packets are bytes; time is a number.
 */

#include <aggregate.h>

#define TREE_PORT 20040
#define TREE_WORKER_PORT 5000
#define TREE_WORKERS_HOST 100 /* the first worker's address */
#define TREE_JOB 7
#define TREE_TOKEN UINT64_C(0x0123456789abcdef)
#define TREE_MAX_SWITCHES 16
#define TREE_MAX_WORKERS 64
#define TREE_MAX_CHUNKS 64
#define TREE_MAX_LANES 40
#define TREE_MAX_SLOTS 8
#define TREE_BYTES 320 /* of values */

/** What the network does. */
struct tree_network {
	unsigned int loss, twice; /* of a hundred packets */
	unsigned int disorder;    /* ticks that a packet may be late */
};

/** What a chunk is, whose values are whose. */
struct tree_chunk {
	unsigned int op, format;
	uint16_t count;
	uint64_t values[TREE_MAX_LANES][TREE_MAX_WORKERS];
	bool known; /* what it has to come to: */
	uint64_t expected[TREE_MAX_LANES];
	uint8_t flags;
};

struct tree_switch {
	struct aggregate_limits limits;
	struct aggregate_table *table;
	unsigned int parent; /* 0: the root, which is switch 0 */
	unsigned int members, index, level;
	bool dead;
};

struct tree_worker {
	unsigned int at;    /* switch */
	unsigned int index; /* of that switch's */
	uint16_t port;      /* how far from the first one its own is */
	bool joined, over;
	uint64_t session, cookie, next_join;
	uint64_t incarnation; /* in its joins */
	uint32_t id;
	uint16_t slots;
	uint8_t shards;
	bool asks_for_zeros, knows_zeros; /* asked for, granted */
	uint32_t next[TREE_MAX_SLOTS];    /* chunk that is asked for; TREE_MAX_CHUNKS: none */
	uint64_t again[TREE_MAX_SLOTS];   /* when it is sent again */
	uint8_t reason, absence, level, detail, decided; /* of the latest refusal */
	uint32_t results;
};

struct tree {
	unsigned int switches, workers, chunks;
	struct tree_switch sw[TREE_MAX_SWITCHES];
	struct tree_worker worker[TREE_MAX_WORKERS];
	struct tree_chunk *chunk;
	struct tree_network network;
	struct aggregate_secret *secret; /* the cluster's; NULL: packets have no tags */
	uint16_t slots;
	uint64_t now, seed, wrong;
	uint64_t zeros;    /* results that are a header alone */
	uint64_t *actions; /* of all switches, by enum aggregate_action */
	struct tree_event *events;
	unsigned int queued;
};

/** A root alone, without workers; ends the program where there is no memory. */
struct tree *tree_new(uint64_t seed);
void tree_free(struct tree *tree);

/** Another switch below `parent`, or the root if there is none yet. Returns its number. */
unsigned int tree_add_switch(struct tree *tree, unsigned int parent, uint32_t shards);

void tree_add_worker(struct tree *tree, unsigned int at);

/** All packets have tags. Before tree_start(). */
void tree_seal(struct tree *tree);

/** All are there: make the tables. */
void tree_start(struct tree *tree);

/** A switch's table is made anew: it has forgotten all. */
void tree_restart(struct tree *tree, unsigned int number);

/** Let time pass, until all workers have all results, or until that time. */
void tree_run(struct tree *tree, uint64_t until);

/** Let time pass until that time, whatever happens. */
void tree_pass(struct tree *tree, uint64_t until);

/** Whether all workers have all results. */
bool tree_is_done(const struct tree *tree);

/** A worker leaves the job. */
void tree_leave(struct tree *tree, unsigned int worker, uint8_t reason);

/** The place of a worker in the tree. */
struct aggregate_place tree_place(const struct tree *tree, unsigned int worker);

/* Trees of any shape, whose workers send chunks of all formats and operations, by seed. */

/** So many levels of switches, each with 1 to `most` members. Not started. */
struct tree *tree_grow(uint64_t seed, unsigned int levels, unsigned int most);

/** Draw the values of so many chunks, of a tree that has its workers. Returns their lanes. */
uint64_t tree_fill(struct tree *tree, unsigned int chunks);

#endif /* TREE_H */

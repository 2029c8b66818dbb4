/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_MEMBER_H
#define ALLREDUCE_MEMBER_H

/**
 * @file
 * A worker as a member of a switch's job: joining and leaving, over the machine of
 * aggregate_member.h, signs of life, packets as long as the path takes, and their tags. What goes
 * wrong is a value; others make a text of it.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include <aggregate_member.h>
#include <aggregate_tag.h>

#include "link/link.h"
#include "netfc_allreduce.h"
#include "window/window.h"

struct keys;
struct talk;

/* What this process is to all switches. */
struct worker {
	const struct netfc_allreduce_options *options;
	pid_t process;
	int wake; /* eventfd: there is something else to do */
	atomic_bool aborted;
	struct keys *keys; /* NULL: packets have no tags */
	struct talk *talk; /* what a signal has interrupted; NULL: nothing */
};

enum member_fault {
	MEMBER_FINE,
	MEMBER_CALL,        /* a system call: `what` was attempted */
	MEMBER_REFUSED,     /* by `code` and `reason` */
	MEMBER_NO_TREES,    /* the switch knows none */
	MEMBER_BAD_GRANT,   /* what it grants cannot be */
	MEMBER_WAITS,       /* not all workers of the switch have joined */
	MEMBER_WAITS_ABOVE, /* these have, and not all of the tree's */
	MEMBER_UNANSWERED,  /* joins are */
	MEMBER_SILENT,      /* `questions` are not answered, for `ns` */
	MEMBER_TOO_LONG, /* packets of chunks of `bytes` do not get there and back, of `fit` do */
	MEMBER_MTU,      /* the path takes packets of `mtu`, and not of chunks of `bytes` */
	MEMBER_INTERRUPTED, /* a signal came */
	MEMBER_ABORTED,
	MEMBER_FORKED, /* this is a child of the process that joins */
};

/* What went wrong. */
struct member_problem {
	enum member_fault fault;
	int error;        /* errno */
	const char *what; /* continues "can't" */
	unsigned int code, reason, questions, bytes, packet, fit, mtu;
	uint64_t ns;
	struct aggregate_join granted;
};

struct member {
	struct worker *worker;
	struct link *link;
	const struct window *window; /* has no slots while this joins */
	unsigned int index;          /* of the switch */
	/* Drawn for each join at each switch, so that none's answers can be taken for another's. */
	uint64_t incarnation;
	struct aggregate_member machine;
	struct member_problem problem; /* the latest */
	struct rtt rtt;                /* of joins */
	unsigned int asked_bytes;      /* of values in a chunk */
	/* As granted: */
	unsigned int slots;
	unsigned int shards;
	unsigned int bytes;
	unsigned int least;  /* of them, zeros after the last ones included */
	bool knows_labels;   /* and all of the job's members do */
	bool knows_zeros;    /* likewise */
	bool knows_divisors; /* likewise */
	bool takes_digits;   /* as far as the join shows: it is none in P4 */
	/* Signs of life: */
	uint64_t said;           /* ns: when something was sent to it */
	uint64_t heard;          /* ns: when anything came from it */
	uint64_t silent;         /* ns: since when it calls a worker silent; 0: it does not */
	int late;                /* the member that it says to be late; -1: none */
	unsigned int late_level; /* at which level, see tree_name() */
	uint64_t forged;         /* replies without a good tag */
	struct aggregate_tag_key *keys; /* of the session, by direction; NULL: there are no tags */
};

/* ---- joining and leaving ---- */

/*
 * Join, over the link's first port, which is open. Afterwards there is what was granted. False: see
 * `problem`.
 *
 * `until`: ns
 */
bool member_join(struct member *member, uint64_t until);

/* What a signal has interrupted is not gone on with: member_join() would. */
void member_forget(struct worker *worker);

/* Leave. False: see `problem`. */
bool member_leave(struct member *member);

/* Leave for a reason, as in a leave; say so once, and do not wait for an answer. */
void member_part(struct member *member, uint8_t reason, uint64_t now);

/* Whether there is no answer. */
bool member_is_leaving(const struct member *member);

/* Say it again, if it is time. */
void member_part_again(struct member *member, uint64_t now);

/* Take answers that have come. */
void member_hear(struct member *member);

/* ---- signs of life ---- */

/* A reply to a join, when that is over. False: see `problem`. */
bool member_take(struct member *member, const struct aggregate_message *reply, uint64_t now);

/* When the switch, which owes an answer since then, has to be asked whether it is there; NEVER. */
uint64_t member_question_due(const struct member *member, uint64_t since);

/* Ask. Returns SEND, NOTHING, or BLAME: see `problem`. */
enum aggregate_member_action member_question(struct member *member, uint64_t since, uint64_t now);

/*
 * Keep-alives: a switch ends idle jobs, and a training step may take longer than its limit. A join
 * shows that this worker is alive and adds nothing.
 */

/* When the next one is due, ns; NEVER. */
uint64_t member_keepalive_due(const struct member *member);

/* Send it, if it is. Returns whether it was sent. */
bool member_keepalive(struct member *member, uint64_t now);

/* ---- packets as long as the path takes ---- */

/* Bytes of values in a chunk for which the local device has room. */
unsigned int member_path_bytes(const struct member *member);

/* Whether chunks of that size fit the local device. False: see `problem`. */
bool member_path_takes(struct member *member, unsigned int bytes);

/* ---- tags of packets, if there is a cluster's key; otherwise these do nothing ---- */

/* Have keys made of it, which becomes theirs. False: out of memory. */
bool keys_make(struct worker *worker, struct aggregate_secret *secret);

void keys_free(struct worker *worker);

/* Bytes of a tag; 0: there are none. */
static inline size_t
keys_bytes(const struct worker *worker)
{
	return worker->keys == NULL ? 0 : AGGREGATE_TAG_BYTES;
}

/* Tag a chunk with that 64-bit number. Returns its bytes. */
size_t keys_tag_chunk(const struct member *member, uint8_t *payload, size_t length, uint64_t chunk);

/* Read a reply. False: not a reply, or a wrong tag. */
bool keys_read_reply(struct member *member, const uint8_t *payload, size_t length,
	struct aggregate_message *reply);

/* ---- trees of switches ---- */

/*
 * A worker's place in a tree of switches, which is a matter of options, and the names of the other
 * members. Level 0 is the switch that the worker joins, level n the one n levels above.
 */

#define TREE_NAME_BYTES 80

/* Whether there is a tree. */
static inline bool
tree_is_there(const struct netfc_allreduce_options *options)
{
	return options->tree_workers != 0;
}

/* As joins have it. */
struct aggregate_place tree_place(const struct netfc_allreduce_options *options);

/* How many members the switch of a level has; 0: there is no such level. */
unsigned int tree_members(const struct netfc_allreduce_options *options, unsigned int level);

/* For the beginning of a sentence: "Worker 3", "Worker 3 of leaf 2 of 4", "Leaf 1 of 4". */
void tree_name(const struct netfc_allreduce_options *options, unsigned int level,
	unsigned int member, char text[TREE_NAME_BYTES]);

#endif /* ALLREDUCE_MEMBER_H */

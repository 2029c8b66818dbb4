/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RESTARTS_H
#define RESTARTS_H

/**
 * @file
 * A tree of real switches and two real workers, whose packets are bytes: what explore_restarts.c
 * explores. What a switch or a worker has in its memory is a part; parts and packets have numbers.
 * What a part does with an event depends on nothing else, and is computed but once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <aggregate.h>
#include <aggregate_member.h>

#define MOST_SWITCHES 3
#define WORKERS 2
#define LIVES 5 /* processes of a worker, one after the other; the last is check_launch()'s */
#define JOBS 2  /* that a switch has room for */
#define ROOT 0
#define MOST_SENT 4 /* packets that follow from an event */
#define MOST_PACKET_BYTES 128
#define JOB_NUMBER 5
#define TOKEN 77
#define BYTES 64 /* of values */
#define SWITCH_PORT 20040
#define WORKER_PORT 5000
#define FIRST_WORKER 100 /* its host; a switch's is its number */

/* Ticks. When states are told apart no time goes by; what is due is sent whenever that is asked. */
#define NOW UINT64_C(1000000)
#define STALL 100
#define HALF_OPEN 150
#define IDLE 1000
#define RETRY 1
#define REPEAT 1 /* goes by when a switch is between two packets */

struct packet {
	uint8_t from, to; /* hosts */
	uint16_t from_port, to_port, length;
	uint8_t bytes[MOST_PACKET_BYTES];
};

/** What follows from an event. */
struct sent {
	unsigned int count;
	struct packet packet[MOST_SENT];
};

/** Who is whose member. */
struct shape {
	const char *name;
	unsigned int switches;
	uint8_t parent[MOST_SWITCHES]; /* the root's: its own number */
	uint8_t index[MOST_SWITCHES];  /* which of its parent's members it is */
	uint8_t members[MOST_SWITCHES];
	uint8_t at[WORKERS];     /* switch */
	uint8_t worker[WORKERS]; /* number there */
};

extern const struct shape *shape;
extern unsigned int rounds; /* chunks of a job */
extern unsigned int
	member_ids;      /* messages of a member's state: later ones have the last one's id */
extern bool keep_alive;  /* those who are in show that they are alive */
extern bool other_joins; /* each job asks for another number of slots than the one before */

/** Something is wrong: say what, and exit with the events that lead there. */
void fail(const char *what) __attribute__((noreturn));

/* ---- Switches: each has one real table, which a part is loaded into ---- */

void switches_start(void);
void switches_stop(void);

/** Put a part into the table. */
void switch_load(unsigned int s, const void *bytes);

/** What is in the table, as a part: up to switch_bytes() of them. */
size_t switch_save(unsigned int s, void *bytes);
size_t switch_bytes(void);

/** The table is a new one: the next of its process. */
void switch_start_anew(unsigned int s);

void switch_take(unsigned int s, const struct packet *packet, uint64_t now, struct sent *sent);

/** Send the parent what is due: of one job, or of all. */
void switch_poll(unsigned int s, uint64_t now, struct sent *sent);
void switch_poll_job(unsigned int s, unsigned int job, struct sent *sent);

/** It is between two packets, long enough to repeat its sums after it. */
void switch_pause(unsigned int s, uint64_t now);

/** Nothing came for long: from a member of what is not complete; or at all. */
void switch_miss(unsigned int s, unsigned int member);
void switch_miss_all(unsigned int s);

/** The parent has not answered as many leaves as there may be. */
void switch_give_up(unsigned int s, unsigned int job);

/** Whether it has neither a job, nor a slot in use, nor anything to tell its parent. */
bool switch_is_empty(unsigned int s);

/* ---- Workers ---- */

enum phase {
	PHASE_RUNNING,
	PHASE_FAILED, /* it has been told of a failure, and leaves */
	PHASE_DONE,   /* all its jobs are */
	PHASE_ENDED,  /* by a failure, which `reason` names */
};

struct worker {
	uint8_t number, life, port;
	uint8_t epoch, attempt; /* how often all were started anew; of the last life */
	uint8_t phase, reason;
	uint8_t jobs;   /* that are to be done, this one included */
	uint8_t rounds; /* of this one, that are done */
	uint8_t epoch_of[LIVES];
	uint8_t partner[LIVES]; /* 1 + whose life's values were in the results; 0: there were none
				 */
	struct aggregate_member member;
};

/** A process that joins. */
void worker_begin(struct worker *worker);

/** What is due: a join, a leave or a chunk. One that is over sends nothing. */
void worker_send(struct worker *worker, uint64_t now, struct sent *sent);

/** Whether it joins, or is in. */
bool worker_joins(const struct worker *worker);
bool worker_is_in(const struct worker *worker);

/** One who is in shows that it is alive. */
void worker_show_life(struct worker *worker, struct sent *sent);

void worker_take(struct worker *worker, const struct packet *packet);

/** A process gives up: its leave, once, if the switch knows it. */
void worker_leave(struct worker *worker, struct sent *sent);

/** Whether it sends nothing more. */
bool worker_is_over(const struct worker *worker);

/** Forget when messages were sent: no time goes by. */
void member_forget_times(struct aggregate_member *member);

/** Undo the latest message's new id if there are too many of this state. */
void member_limit_ids(struct aggregate_member *member);

/* ---- All of it ---- */

#define MOST_LATE 4
#define MOST_FRESH 8
#define MODEL_WORDS 3

enum event {
	EVENT_ARRIVAL, /* of the packet */
	EVENT_SEND,    /* what is due: a worker's, or of a switch's job */
	EVENT_LIFE,    /* a worker shows that it is alive */
	EVENT_PAUSE,
	EVENT_MISS, /* a member */
	EVENT_MISS_ALL,
	EVENT_GIVE_UP, /* leaving the parent with a job */
	EVENT_START_ANEW,
	EVENT_LEAVE, /* a worker gives up: its leave, once */
	/* These are not of a part alone. */
	EVENT_LATE_ARRIVAL, /* and once more, if the detail's next bit is set */
	EVENT_LATE_LOSS,
	EVENT_STARTED, /* a worker */
	EVENT_LAUNCH,
};

struct model {
	uint32_t sw[MOST_SWITCHES], worker[WORKERS]; /* parts */
	uint8_t troubles;                            /* that may yet come */
	bool troubled;                               /* there was one */
	uint16_t late[MOST_LATE];   /* packets that the networks hold back, as states.h has them */
	uint16_t fresh[MOST_FRESH]; /* those just sent: of no state that is looked into */
	uint8_t fresh_count;
};

void model_start(struct model *model, unsigned int troubles, unsigned int jobs);
void model_pack(const struct model *model, uint64_t words[MODEL_WORDS]);
struct model model_unpack(const uint64_t words[MODEL_WORDS]);
void model_free(void);

/** A worker as it is. */
struct worker model_worker(const struct model *model, unsigned int w);
void model_set_worker(struct model *model, unsigned int w, const struct worker *worker);

/** Let something happen at a switch or a worker, which may send. Whether that changes anything. */
bool model_switch(struct model *model, unsigned int s, enum event event, uint32_t detail);
bool model_worker_does(struct model *model, unsigned int w, enum event event, uint32_t detail);

/** The next of the packets just sent; 0: there is none. */
uint16_t model_next(struct model *model);
void model_deliver(struct model *model, uint16_t packet);

/** All that is sent arrives at once. */
void model_deliver_all(struct model *model);

/** Print an event, what becomes of a packet, or the event that was looked into latest. */
void model_show_event(enum event event, uint8_t who, uint32_t detail);
void model_show_packet(uint16_t packet, const char *fate);
void model_show_latest(void);

/** Put all parts into tables and workers, for a while in which time goes by. */
void model_load(const struct model *model, struct worker workers[WORKERS]);

/* ---- What has to come of a state, if no more packets are lost ---- */

/** All workers come to an end. Nothing is in flight. */
void check_end(const struct model *model);

/**
 * If all workers are dead, the switches forget all; if all are started anew whenever one of them is
 * told of a failure, they get all results.
 */
void check_switches(const struct model *model);

void check_free(void);

#endif /* RESTARTS_H */

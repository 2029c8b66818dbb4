/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INCARNATIONS_H
#define INCARNATIONS_H

/**
 * @file
 * Two workers, a table and a network, through two incarnations of one job: what explore_jobs.c
 * explores: the real table, and of each worker the real member (aggregate_member.h). Sessions,
 * cookies and the ids of messages have small numbers here: a session is the job's generation, a
 * cookie what it was made of.
 */

#include <stdbool.h>
#include <stdint.h>

#define WORKERS 2
#define INCARNATIONS 2
#define MAX_SLOTS 2
#define MAX_ENTRIES (2 * MAX_SLOTS)
#define MAX_CHUNKS 8
#define MAX_IN_FLIGHT 4
#define JOBS 2      /* that the table has room for */
#define PORTS 4     /* of a worker: another for each process of it */
#define PROCESSES 2 /* of them have the same UDP port */
#define NUMBERS 8   /* of sessions and of what cookies are made of */
#define IDS 3       /* of a state's messages, and one that none has */
#define NUMBER 5    /* of the job */
#define TOKEN 77

/** What the network holds. */
enum kind {
	NOTHING,
	JOIN,
	COOKIE,
	ANSWER,
	CHUNK,
	RESULT,
	LEAVE,
	LEFT,
};

struct packet {
	uint8_t kind;
	uint8_t worker, port, incarnation; /* whose it is; of a reply: whose request it answers */
	bool cookie;                       /* join, leave: it has a cookie */
	uint8_t session;                   /* or, with a cookie, how many jobs had ended */
	uint8_t chunk;                     /* or, with a cookie, the place's serial */
	uint8_t parts; /* result: bit w: worker w's values were the second incarnation's; join,
			* leave and their answers: which of its state's messages it is */
};

/** What an answer to a join says, in `chunk`. Its `cookie`: the join was of one who is in. */
enum answer {
	ANSWER_JOINED,
	ANSWER_WAITING,
	ANSWER_REFUSED,
};

struct model_job {
	uint8_t state; /* enum job_state */
	bool released; /* ended: its slots may be taken back */
	uint8_t generation, joined, left;
	uint8_t port[WORKERS], incarnation[WORKERS], serial[WORKERS]; /* who has a place */
};

struct model_entry {
	uint8_t state, round, seen, parts;
	uint8_t port[WORKERS];
};

struct model_worker {
	uint8_t incarnation, state, port; /* state: enum aggregate_member_state */
	uint8_t id;  /* which of the state's messages was the latest: from IDS - 1 on all are one */
	bool bare;   /* as in struct aggregate_member */
	bool cookie; /* it knows one, made of: */
	uint8_t ended, serial;
	uint8_t cookie_id; /* which message it came for */
	uint8_t session;
	uint8_t done[MAX_SLOTS]; /* rounds that it has the result of */
};

struct model {
	uint8_t generation, ended;
	uint8_t troubles; /* that may yet come: restarts, long silences */
	bool forgotten;   /* the switch was restarted with a complete job */
	struct model_job job[JOBS];
	struct model_entry entry[MAX_ENTRIES];
	struct model_worker worker[WORKERS];
	uint16_t flight[MAX_IN_FLIGHT]; /* packets, in words, descending; 0: nothing */
};

#define MODEL_WORDS 4

void model_pack(const struct model *model, uint64_t words[MODEL_WORDS]);
struct model model_unpack(const uint64_t words[MODEL_WORDS]);
uint16_t packet_pack(const struct packet *packet);
struct packet packet_unpack(uint16_t word);

/** The model does not hold what came out, or it is wrong: say so, show it and exit. */
void fail(const char *what, const struct model *model) __attribute__((noreturn));

/** Make the real table, for a job of so many slots. */
void table_start(uint32_t slots);
void table_stop(void);

/**
 * Give a request to the real table, in the state that the model has.
 *
 * @param replies what the table sends, up to WORKERS
 * @return enum aggregate_action
 */
int table_handle(struct model *model, const struct packet *request, struct packet *replies);

/** The shard is between two packets. */
void table_pause(struct model *model);

/** The table is polled: at once; when a worker has not been heard for half_open; much later. */
void table_poll(struct model *model);
void table_poll_without(struct model *model, unsigned int worker);
void table_poll_late(struct model *model);

/** The table is a new one, that knows nothing. */
void table_restart(struct model *model);

/**
 * A member's secrets, as the table makes them.
 *
 * @param cookie of a packet's worker, port, incarnation, jobs ended and serial
 */
uint64_t table_cookie(const struct packet *packet);
uint64_t table_session(unsigned int number);
uint64_t table_incarnation(const struct packet *packet);

/**
 * A worker's member sends a join or a leave, whatever is due.
 *
 * @param kind JOIN, or LEAVE: of one who has not got in, and gives up
 */
struct packet member_send(struct model *model, unsigned int worker, enum kind kind);

/** It gets an answer. Returns enum aggregate_member_action. */
int member_take(struct model *model, const struct packet *reply);

/** It leaves: the job is done. */
void member_leave(struct model_worker *worker);

/* What workers and the network do in a state of the model; what must not be is told by fail(). */

extern uint32_t job_slots, job_rounds; /**< of a job: set before anything else */
extern unsigned int member_ids; /**< of a state's messages, up to IDS - 1: later ones are one */

/** Packets in flight. */
unsigned int in_flight(const struct model *m);

/** Let a packet fly; it is lost where there are too many. */
void launch(struct model *m, const struct packet *packet);
void launch_word(struct model *m, uint16_t word);

/** The packet at a place is lost. */
void land(struct model *m, unsigned int at);

/** The packet at a place comes to the table or its worker, with what follows at once. */
void deliver(struct model *m, unsigned int at);

/** Whether a worker's process of now has its place in a job. */
bool has_place(const struct model *m, const struct model_job *job, unsigned int w);

/** The job that is complete; NULL: there is none. */
const struct model_job *open_job(const struct model *m);

/** Whether it is complete with a process that is no more, and has not done its part. */
bool is_lost(const struct model *m);

/** Whether a worker, or everyone, is through all incarnations. */
bool is_done(const struct model_worker *worker);
bool is_over(const struct model *m);

/** Whether a worker has anything to send about a slot, or, if not running, slot 0; and what. */
bool has_packet(const struct model *m, unsigned int w, unsigned int slot);
struct packet next_packet(struct model *m, unsigned int w, unsigned int slot);

/** Whether a worker joins, and is not in. */
bool is_joining(const struct model_worker *worker);

/** A worker as a process that has just begun to join. */
struct model_worker new_worker(uint8_t incarnation, uint8_t port);

#endif /* INCARNATIONS_H */

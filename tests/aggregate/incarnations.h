/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INCARNATIONS_H
#define INCARNATIONS_H

/**
 * @file
 * Two workers, a table and a network, through two incarnations of one job: what explore_jobs.c
 * explores. Sessions and cookies have small numbers here: a session is the job's generation, a
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

/** What the network holds. */
enum kind {
	NOTHING,
	JOIN,
	COOKIE,
	JOINED,
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
	uint8_t parts; /* result: bit w: worker w's values were the second incarnation's */
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

enum phase {
	JOINING,
	RUNNING,
	LEAVING,
};

struct model_worker {
	uint8_t incarnation, phase, port;
	bool cookie; /* it knows one, made of: */
	uint8_t ended, serial;
	uint8_t session;
	uint8_t done[MAX_SLOTS]; /* rounds that it has the result of */
};

struct model {
	uint8_t generation, ended;
	uint8_t troubles; /* that may yet come: restarts, long silences */
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

/* What workers and the network do in a state of the model; what must not be is told by fail(). */

extern uint32_t job_slots, job_rounds; /**< of a job: set before anything else */

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
struct packet next_packet(const struct model *m, unsigned int w, unsigned int slot);

/** A join or leave with the cookie that a worker knows, if it knows one. */
struct packet with_cookie(const struct model *m, unsigned int w, enum kind kind);

void forget_cookie(struct model_worker *worker);

#endif /* INCARNATIONS_H */

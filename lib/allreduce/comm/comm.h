/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_COMM_H
#define ALLREDUCE_COMM_H

/** @file A communicator and its parts, and what they do for each other. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <unistd.h>

#include "member/member.h"
#include "netfc_allreduce.h"
#include "window/window.h"

#define ALLREDUCE_ERROR_BYTES 512
#define ALLREDUCE_TOLD 8

/* A started collective; on the stack of a caller that waits at once. */
struct netfc_allreduce_handle {
	struct call call; /* is its beginning */
	TAILQ_ENTRY(netfc_allreduce_handle) in_all;
	struct netfc_allreduce *comm;
	bool lazy;
	int status; /* PENDING: the call is in the queue */
};

TAILQ_HEAD(handle_list, netfc_allreduce_handle);

struct local;

/* A *peer* is a switch. */
struct peer {
	struct link link;
	struct window window;
	struct member member; /* of its job */
};

enum life {
	ALLREDUCE_APART, /* nothing joined */
	ALLREDUCE_JOINED,
	ALLREDUCE_BROKEN, /* failed since */
};

/* All of it is protected by its lock. */
struct netfc_allreduce {
	struct worker worker;
	pthread_mutex_t lock;
	pthread_cond_t work;    /* for the thread: there is some */
	pthread_cond_t done;    /* an allreduce is, or nobody drives */
	pthread_cond_t entered; /* for who drives: those who waited for the lock have had it */
	atomic_uint callers;    /* that wait for the lock */
	unsigned int waiters;   /* for `done` */
	unsigned int woken;     /* of these, that have not had the lock since */
	pthread_t thread;
	bool has_thread;
	bool stop;
	bool driving;  /* somebody sends and receives */
	bool sleeping; /* and is in ppoll() */

	struct netfc_allreduce_options options; /* its pointers are of no use after joining */
	enum life life;
	struct peer *peer;
	unsigned int peers;
	struct local *local; /* the workers share memory, without a switch; NULL: they do not */
	unsigned int bytes;  /* of values in a chunk, as granted by all */
	struct batch batch;
	char *names; /* those of the options, while joining */

	struct handle_list all;   /* not waited for */
	struct calls calls;       /* not done */
	unsigned int eager;       /* of these not lazy */
	uint64_t head_since;      /* ns: when the first of the queue became that */
	uint64_t keepalive_until; /* ns: replies to a keep-alive may come */

	struct netfc_allreduce_stats stats;
	int silent; /* the member that is to blame; -1: none is known */
	unsigned int silent_level;
	int failed_switch;
	char error[ALLREDUCE_ERROR_BYTES];
	/* What netfc_allreduce_error() has given: it stays while the thread writes another one. */
	char told[ALLREDUCE_TOLD][ALLREDUCE_ERROR_BYTES];
	unsigned int telling; /* which of them is the latest */
};

/*
 * Whether this process is a fork of the one that made the communicator: the place in the job and
 * the thread are that one's, and whoever had the lock is not here. Nothing may be touched then.
 */
static inline bool
is_forked(const struct netfc_allreduce *comm)
{
	return comm->worker.process != getpid();
}

/* The lock. */

/* Take it for a call of the program's. False: the communicator is another process's. */
bool lock_enter(struct netfc_allreduce *comm);

void lock_leave(struct netfc_allreduce *comm);

/* Sleep until something is done, or then (ns, or NEVER). With the lock. */
void lock_wait(struct netfc_allreduce *comm, uint64_t then);

/* Something is done: wake who waits for it. With the lock. */
void lock_wake(struct netfc_allreduce *comm);

/* The driver has done a round: let others in that wait for the lock. With the lock. */
void lock_let_in(struct netfc_allreduce *comm);

/* Failures: recording and describing them; error.c and blame.c have all texts. */

/* Record an error that concerns no particular switch. Returns the status. */
int error_set(struct netfc_allreduce *comm, enum netfc_allreduce_status status, const char *format,
	...) __attribute__((format(printf, 3, 4)));

/* The same of a switch. */
int error_set_for(struct netfc_allreduce *comm, const struct peer *peer,
	enum netfc_allreduce_status status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A system call on a socket to the switch failed: `error` is its errno, `what` the attempted
 * action. */
int
error_of_call(struct netfc_allreduce *comm, const struct peer *peer, const char *what, int error);

/* No link to the switch could be opened, by option interface, which may be NULL. */
int error_of_link(struct netfc_allreduce *comm, const struct peer *peer, const char *interface,
	const struct link_problem *problem);

/* What its member says has gone wrong. */
int error_of_member(struct netfc_allreduce *comm, const struct peer *peer);

/* Record why a switch is silent, if this host knows it. Returns the status; OK: it does not. */
int error_of_silence(struct netfc_allreduce *comm, const struct peer *peer);

/*
 * Record a refusal, from its code and reason, and what to do about it. Not for WAITING and COOKIE,
 * which are no failures.
 */
int error_of_reply(struct netfc_allreduce *comm, const struct peer *peer, unsigned int code,
	unsigned int reason);

/* Record whose values are missing: a worker that is silent, has left or has failed. */
int error_of_absence(struct netfc_allreduce *comm, const struct peer *peer,
	const struct aggregate_message *reply);

/* The deadline has passed, and the switch has reported a late worker. */
int error_of_lateness(struct netfc_allreduce *comm, const struct peer *peer, double seconds);

/* After one of the above: all allreduces end with the status, and the communicator is broken. */
void error_break(struct netfc_allreduce *comm, int status);

/* Options: each is checked on its own. */

/*
 * Read what a program gives, whose header may be older or newer than the library, and check it.
 * Returns OK, or ARGUMENT and says what is wrong.
 */
int options_read(struct netfc_allreduce *comm, const struct netfc_allreduce_options *given,
	struct netfc_allreduce_options *options);

/* Exact sums that a worker gives in the place of values. */

/* Lanes of a block, which are added at a time. */
#define TOTALS_BLOCK 256

struct totals_block {
	uint8_t lowest, end; /* bins in use */
	uint8_t adds;        /* since sums were carried */
};

struct netfc_allreduce_totals {
	struct aggregate_totals lanes; /* of all of them; neither its count nor bins in use count */
	uint64_t count;
	uint32_t divisor;           /* of means; 0: the number of workers */
	size_t bytes;               /* of memory */
	struct totals_block *block; /* which bins of its lanes are in use */
};

/* What an operation on them divides by, 0: nothing, or the number of workers. */
static inline uint32_t
totals_divisor(const struct netfc_allreduce_totals *totals, unsigned int op)
{
	return op == NETFC_ALLREDUCE_MEAN ? totals->divisor : 0;
}

/* Those of some lanes. */
struct aggregate_totals
totals_view(const struct netfc_allreduce_totals *totals, uint64_t first, uint32_t count);

/* A call is done: it leaves the queue. */
void calls_finish(struct netfc_allreduce *comm, struct call *call, uint64_t now);

/*
 * Check a collective; a handle says then what it is in blocks, chunks and owners, except for its
 * place in the queue. Returns OK, or has said what is wrong. With the communicator's lock.
 */
int collective_plan(struct netfc_allreduce *comm, const struct netfc_collective *collective,
	uint32_t label, bool lazily, struct netfc_allreduce_handle *handle);

/* The switches of a communicator: their sockets and windows. */

/*
 * Make a peer of each address, with the socket to its first shard. Returns OK, or has said what
 * went wrong; peers_close() is for both.
 */
int peers_open(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options);

/* All have been joined: open the sockets to the other shards, make slots. */
int peers_complete(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options);

/* Close and free all there is of them. */
void peers_close(struct netfc_allreduce *comm);

/* Send what is queued, as far as the socket takes it. Returns OK, or has said what went wrong. */
int
send_chunks(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel, uint64_t now);

/*
 * Process all packets that a channel has received. Queue again what they show to be lost. Returns
 * OK, or has said what went wrong. Adds to *count how many there were.
 */
int receive_packets(struct netfc_allreduce *comm, struct peer *peer, struct channel *channel,
	unsigned int *count);

/* Timers: retransmission, keep-alives and deadlines. */

/* When the next of it is due, ns; NEVER. */
uint64_t timers_next(const struct netfc_allreduce *comm);

/* Do what is due. Returns OK, or has said what went wrong. */
int timers_run(struct netfc_allreduce *comm, uint64_t now);

/* Keep-alives. */

/* When the next keep-alive is due, ns; NEVER. */
uint64_t keepalive_due(const struct netfc_allreduce *comm);

/* Send the keep-alives that are due; receive replies until comm->keepalive_until. */
void keepalive_send(struct netfc_allreduce *comm);

/*
 * The progress engine. One thread at a time sends and receives: one that waits, or else the
 * communicator's own.
 */

/* All here are called with the communicator's lock held, which they release while they sleep. */

/* Send what is queued, and nothing else. */
void progress_send(struct netfc_allreduce *comm, uint64_t now);

/*
 * Send and receive until an allreduce is done, or until then (ns, or NEVER). The caller must be the
 * only thread that drives.
 */
void progress_until(
	struct netfc_allreduce *comm, const struct netfc_allreduce_handle *handle, uint64_t then);

/* Wake the thread that sleeps until packets come: there is more to do. */
void progress_wake(struct netfc_allreduce *comm);

/* Start the communicator's thread. Returns 0 or an errno. */
int progress_start(struct netfc_allreduce *comm);

/* End it; without the lock. */
void progress_stop(struct netfc_allreduce *comm);

/*
 * Workers of one machine, in the place of switches: all of them share memory, and each reduces a
 * share of each chunk. A chunk is a piece of memory/segment.h.
 */

/* Join in the file that option memory names. Returns OK, or has said what went wrong. */
int local_join(struct netfc_allreduce *comm, const struct netfc_allreduce_options *options,
	uint64_t until);

/* Chunks in flight. */
unsigned int local_slots(const struct netfc_allreduce *comm);

/* Lanes of a chunk of exact sums. */
unsigned int local_lanes_of_totals(unsigned int format);

/* Give, reduce and take what there is. Returns whether anything was; it may break all. */
bool local_round(struct netfc_allreduce *comm);

/* Sleep until other workers have done something since the latest round, or then (ns, or NEVER). */
void local_sleep(struct netfc_allreduce *comm, uint64_t then);

/* Wake who sleeps. */
void local_wake(struct netfc_allreduce *comm);

/* The communicator has failed with that status: tell the other workers. */
void local_fail(struct netfc_allreduce *comm, int status);

/* Leave, and free all there is of it. */
void local_close(struct netfc_allreduce *comm);

/*
 * A worker that has failed leaves at once with a reason, so that the others need not wait for it.
 */

/* The communicator has failed with that status; wakes its thread, which says so. With the lock. */
void failure_begin(struct netfc_allreduce *comm, int status);

/* Whether a switch has to be told (again). With the lock. */
bool failure_is_due(const struct netfc_allreduce *comm);

/* Tell switches that have not answered, and wait a moment for that. With the lock. */
void failure_tell(struct netfc_allreduce *comm);

#endif /* ALLREDUCE_COMM_H */

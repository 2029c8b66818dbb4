/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_JOB_H
#define NETFC_MPI_JOB_H

/** @file A communicator's job: set up, joined, with its reductions in order. */

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <netfc_allreduce.h>

#include "node.h"
#include "operation.h"
#include "places.h"

/*
 * A communicator's job in the switch.
 *
 * It is made at the communicator's first reduction: a communicator of the library's own, if that is
 * not there already, so that what it says there meets nothing of the program's; job and token,
 * drawn by rank 0; joining, in a thread, since that waits for other ranks, who may need this one's
 * MPI first. Then reductions start in the order in which they were called, and end in that order.
 * It goes with the communicator.
 */

#define JOB_SWITCHES_BYTES 1024
#define JOB_SLOTS 32 /* a communicator's, where there are few */

/** What rank 0 tells the others. */
struct job_invitation {
	uint64_t token; /**< 0: no job, all go by MPI */
	uint16_t job;
	uint16_t slots; /**< to ask for */
	uint8_t fallback;
	uint8_t separate;   /**< each rank is a worker */
	uint8_t switchless; /**< all ranks are on one node, which needs no switch */
	char switches[JOB_SWITCHES_BYTES];
};

enum job_stage {
	JOB_DUPLICATES, /**< the communicator */
	JOB_TELLS,      /**< where each rank is */
	JOB_INVITES,
	JOB_JOINS,
	JOB_AGREES, /**< whether all have joined */
	JOB_STOPS,  /**< joining, since other ranks cannot */
	JOB_READY   /**< joined, failed, or by MPI */
};

/** Of joining, from good to bad. */
enum job_outcome {
	JOB_JOINED,
	JOB_PENDING,  /**< that is not known so far */
	JOB_TAKEN,    /**< others have its number */
	JOB_SEPARATE, /**< each rank has to be a worker */
	JOB_FAILED
};

struct job {
	struct job *next;      /**< of the process */
	pthread_mutex_t lock;  /**< of all here; held for a millisecond at most */
	MPI_Comm comm;         /**< the program's */
	MPI_Comm private_comm; /**< MPI_COMM_NULL: none so far */
	int rank, ranks;

	enum job_stage stage;
	MPI_Request pending; /**< of setting up */
	struct job_invitation invitation;
	struct place_record *records; /**< of all ranks */
	struct places *places;
	bool by_nodes; /**< the first rank of each node speaks for it */
	int local;     /**< this rank's number there */
	struct node node;
	unsigned int attempts;
	pthread_t joiner;
	bool joins;               /**< the thread is there */
	bool cut;                 /**< it was told to end */
	bool crowded;             /**< the switch has no place left */
	const char *problem;      /**< why it did not even begin; NULL: it did */
	int outcome, told, worst; /**< enum job_outcome: here; what others know; of all ranks */
	atomic_bool join_ended;
	uint64_t since;    /**< ns: when the stage began */
	uint64_t invited;  /**< ns: when rank 0's invitation came */
	atomic_bool heard; /**< all ranks have told how they are, since they were invited */

	struct netfc_allreduce *network; /**< NULL: nothing has been reduced here */
	bool failed;                     /**< the switch is of no use any more */
	int error;                       /**< MPI's code for that */
	bool fallback;                   /**< then all agree to go by MPI */
	bool by_mpi;                     /**< they did, or there is no switch */

	struct operation *first, *last;
};

/**
 * A communicator has just been made by all its ranks, which wait for each other there. Where its
 * private one cannot be made safely later, make that now; MPI's code.
 *
 * Open MPI's MPI_Comm_idup() starts several collectives of the communicator, each when the one
 * before has ended. What a program starts there meanwhile is the next one in some ranks, and comes
 * later in others.
 */
int job_prepare(MPI_Comm comm);

/**
 * Make another communicator of the same ranks, which all call this; MPI's code. It has none of the
 * attributes, which programs count, where the MPI library goes on with reductions meanwhile.
 */
int job_copy(MPI_Comm comm, MPI_Comm *copy);

/** The communicator's, made now if it has none. NULL: *error says why. */
struct job *job_of(MPI_Comm comm, int *error);

/** Whether a reduction has to keep what it was given, since MPI may have to do it in the end. */
bool job_keeps_input(struct job *job);

/** Begin a reduction; the lock is held. */
void job_add(struct job *job, struct operation *operation);

/** Set up, start and end what can be; the lock is held. patience_ms: for the switch to answer. */
void job_advance(struct job *job, int patience_ms);

/**
 * Let MPI do what there is to do, for who waits for the job and had nothing to do. Until the job is
 * set up, other ranks are waited for, and the processor may be needed for them.
 */
void job_let_mpi_go_on(struct job *job);

/** Say why the switch is of no use any more, the first time, and remember it. */
void job_fail(struct job *job, const char *why);

/** The same, for what the network says. */
void job_fail_of_network(struct job *job);

/** Tell the other ranks of the node what the network says. */
void job_report_failure(struct job *job);

/** The rank that is the n-th of this one's node. */
int job_local_rank(const struct job *job, int n);

/** From now on by MPI: all ranks know. */
void job_go_by_mpi(struct job *job);

/** Advance all jobs, but those that somebody is busy with. */
void job_advance_all(void);

/** Complete all reductions that were called: as before a communicator is freed. No lock is held. */
void job_finish(struct job *job);

/**
 * A communicator's collective that is MPI's own is called, and may wait for other ranks.
 *
 * All ranks call a communicator's collectives in the same order. So its reductions that were
 * started before end without that, and where the MPI library lets nothing else go on while it
 * waits, nothing would let them go on in it.
 */
void finish_earlier(MPI_Comm comm);

/** Leave all jobs: the program ends. */
void job_leave_all(void);

/** A communicator is freed (MPI_Comm_delete_attr_function). */
int job_deleted(MPI_Comm comm, int keyval, void *value, void *extra);

/* Set-up of a communicator's job, step by step and without blocking. */

/** Begin, inside a reduction that all ranks call. Returns MPI's code. */
int setup_begin(struct job *job);

/** Advance it as far as possible: job->stage has the state. */
void setup_advance(struct job *job);

/* Joining, in a thread, since it waits for other ranks; the result is job->outcome. */

/** The member that speaks for this rank. */
const struct place_member *joining_member(const struct job *job);

/** Slots to ask for: what NETFC_MPI_SLOTS says, or a share of what a switch has. Of rank 0. */
uint16_t joining_slots(const struct job *job);

/** Slots of each switch that the job was given. */
unsigned int joining_granted(const struct job *job);

/** The job's number in this attempt. */
uint16_t joining_number(const struct job *job);

/** Begin, as the one that speaks. False: no thread can be made. */
bool joining_start(struct job *job);

/** Whether it has ended, or never began; if so, what it came to is known. */
bool joining_end(struct job *job);

/** Let it end soon; to be called until it has ended. */
void joining_cut(struct job *job);

#endif /* NETFC_MPI_JOB_H */

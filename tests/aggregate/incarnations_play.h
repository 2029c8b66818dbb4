/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INCARNATIONS_PLAY_H
#define INCARNATIONS_PLAY_H

/** @file What workers and the network do in a state of the model; what must not be is told by
 * fail(). */

#include "incarnations.h"

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

#endif /* INCARNATIONS_PLAY_H */

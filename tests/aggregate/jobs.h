/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOBS_H
#define JOBS_H

/** @file A table of jobs, its workers and a clock, for tests. */

#include <aggregate.h>

#include "cases.h"

/** The secret of all jobs. */
#define TOKEN UINT64_C(0x1122334455667788)

#define VALUE_BYTES 64

extern struct aggregate_limits limits;
extern struct aggregate_table *table;
extern struct aggregate_outcome outcome; /**< of the latest message */
extern uint64_t now;

/** A test that calls start(). */
#define JOBS_TEST(name) TEST_WITH(name, NULL, tear_down)

/** Make a table. */
void start(uint32_t shards, uint32_t jobs, uint32_t slots);

/** Make that of a leaf. */
void start_leaf(uint32_t shards, uint32_t jobs, uint32_t slots);

int tear_down(void **state);

/** Send a message from a host, by the last byte of its address. */
enum aggregate_action
handle_from(uint32_t shard, const struct aggregate_message *message, uint8_t host);

/** The same from another UDP port of it: what a process that was started anew has. */
enum aggregate_action
handle_anew(uint32_t shard, const struct aggregate_message *message, uint8_t host);

struct aggregate_message
join_message(uint16_t job, uint8_t worker, uint8_t workers, uint16_t slots);

/** A join as clients do it: first without a cookie, then with the one of the reply. */
enum aggregate_action send_join(struct aggregate_message message, uint8_t host);

/** The same from the host with the worker's number. */
enum aggregate_action join(uint16_t job, uint8_t worker, uint8_t workers, uint16_t slots);

/** The same from another process there. */
enum aggregate_action join_anew(uint16_t job, uint8_t worker, uint8_t workers, uint16_t slots);

/** A leave, with the session that the job's workers were granted last. */
struct aggregate_message leave_message(uint16_t job, uint8_t worker);

enum aggregate_action leave(uint16_t job, uint8_t worker);

/** A chunk of three int32 of a worker; its values stand until the next. */
struct aggregate_message chunk_message(uint16_t job, uint8_t worker, uint32_t chunk);

enum aggregate_action send_chunk(uint32_t shard, uint16_t job, uint8_t worker, uint32_t chunk);

/** All shards say that they are done with what has ended. */
void pause_all(void);

/** A job of two workers, who have joined; they add up a chunk; they leave, and it has ended. */
void make_pair(uint16_t job, uint16_t slots);
void reduce_pair(uint16_t job, uint32_t chunk);
void end_pair(uint16_t job);

/** Make a table with room for four jobs, and job 7, a pair. */
void start_pair(uint32_t shards);

uint32_t slots_used(void);

#endif

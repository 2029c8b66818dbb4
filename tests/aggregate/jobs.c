/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "exact.h"
#include "jobs.h"

struct aggregate_limits limits;
struct aggregate_table *table;
struct aggregate_outcome outcome;
uint64_t now;
static uint8_t values[VALUE_BYTES];
static uint64_t sessions[UINT16_MAX + 1]; /* by job, as granted */

static struct aggregate_sender
sender_of(uint8_t host)
{
	struct aggregate_sender sender = {.address = {[10] = 0xff, [11] = 0xff, 10, 0, 0, host},
		.port = (uint16_t)(5000 + host),
		.path = {host, 0xee}};

	return sender;
}

static void
start_below(struct aggregate_parent parent, uint32_t shards, uint32_t jobs, uint32_t slots)
{
	size_t bytes;

	limits = (struct aggregate_limits){.shards = shards,
		.jobs = jobs,
		.slots = slots,
		.workers = 8,
		.bytes = sizeof(values),
		.formats = AGGREGATE_ALL_FORMATS & ~(1u << AGGREGATE_POSIT16),
		.digits = 1u << AGGREGATE_INT32,
		.parent = parent,
		.isa = AGGREGATE_PLAIN,
		.per_address = 2,
		.idle = 6000,
		.half_open = 500,
		.stall = 1000,
		.cookie_period = 500,
		.key = "sixteen bytes..."};
	now = 100000;
	bytes = aggregate_table_bytes(&limits);
	assert_true(bytes > 0);
	free(table);
	table = aligned_alloc(AGGREGATE_ALIGN, (bytes + 63) / 64 * 64);
	assert_non_null(table);
	memset(table, 0xcc, bytes);
	assert_ptr_equal(aggregate_table_init(table, &limits), table);
}

void
start(uint32_t shards, uint32_t jobs, uint32_t slots)
{
	start_below((struct aggregate_parent){0}, shards, jobs, slots);
}

void
start_leaf(uint32_t shards, uint32_t jobs, uint32_t slots)
{
	start_below((struct aggregate_parent){.address = {[15] = 1}, .port = 20040, .retry = 10},
		shards, jobs, slots);
}

static enum aggregate_action
handle(uint32_t shard, const struct aggregate_message *message, struct aggregate_sender sender)
{
	aggregate_shard_packet(
		aggregate_table_shard(table, shard), message, &sender, now, &outcome);
	if (outcome.action == AGGREGATE_JOINED)
		sessions[message->job] = outcome.join.session;
	return outcome.action;
}

enum aggregate_action
handle_from(uint32_t shard, const struct aggregate_message *message, uint8_t host)
{
	return handle(shard, message, sender_of(host));
}

enum aggregate_action
handle_anew(uint32_t shard, const struct aggregate_message *message, uint8_t host)
{
	struct aggregate_sender sender = sender_of(host);

	sender.port += 1000;
	return handle(shard, message, sender);
}

struct aggregate_message
join_message(uint16_t job, uint8_t worker, uint8_t workers, uint16_t slots)
{
	return (struct aggregate_message){.op = AGGREGATE_JOIN,
		.job = job,
		.worker = worker,
		.token = TOKEN,
		.join = {.workers = workers,
			.slots = slots,
			.bytes = sizeof(values),
			.incarnation = 1}};
}

enum aggregate_action
send_join(struct aggregate_message message, uint8_t host)
{
	assert_int_equal(handle_from(0, &message, host), AGGREGATE_COOKIE);
	assert_int_equal(outcome.reason, AGGREGATE_REASON_COOKIE);
	message.join.cookie = outcome.join.cookie;
	return handle_from(0, &message, host);
}

enum aggregate_action
join(uint16_t job, uint8_t worker, uint8_t workers, uint16_t slots)
{
	return send_join(join_message(job, worker, workers, slots), worker);
}

enum aggregate_action
join_anew(uint16_t job, uint8_t worker, uint8_t workers, uint16_t slots)
{
	struct aggregate_message message = join_message(job, worker, workers, slots);

	message.join.incarnation = 2;
	assert_int_equal(handle_anew(0, &message, worker), AGGREGATE_COOKIE);
	message.join.cookie = outcome.join.cookie;
	return handle_anew(0, &message, worker);
}

struct aggregate_message
leave_message(uint16_t job, uint8_t worker)
{
	return (struct aggregate_message){
		.op = AGGREGATE_LEAVE, .job = job, .worker = worker, .session = sessions[job]};
}

enum aggregate_action
leave(uint16_t job, uint8_t worker)
{
	const struct aggregate_message message = leave_message(job, worker);

	return handle_from(0, &message, worker);
}

struct aggregate_message
chunk_message(uint16_t job, uint8_t worker, uint32_t chunk)
{
	for (uint32_t i = 0; i < 3; i++)
		data_put(AGGREGATE_INT32, values, i, worker + 10 * i + 100);
	return (struct aggregate_message){.op = AGGREGATE_SUM,
		.format = AGGREGATE_INT32,
		.count = 3,
		.job = job,
		.worker = worker,
		.id = chunk,
		.session = sessions[job],
		.values = values};
}

enum aggregate_action
send_chunk(uint32_t shard, uint16_t job, uint8_t worker, uint32_t chunk)
{
	const struct aggregate_message message = chunk_message(job, worker, chunk);

	return handle_from(shard, &message, worker);
}

void
pause_all(void)
{
	for (uint32_t s = 0; s < limits.shards; s++)
		aggregate_shard_quiescent(aggregate_table_shard(table, s));
}

void
make_pair(uint16_t job, uint16_t slots)
{
	assert_int_equal(join(job, 0, 2, slots), AGGREGATE_WAITING);
	assert_int_equal(join(job, 1, 2, slots), AGGREGATE_JOINED);
}

void
reduce_pair(uint16_t job, uint32_t chunk)
{
	assert_int_equal(send_chunk(0, job, 0, chunk), AGGREGATE_ADDED);
	assert_int_equal(send_chunk(0, job, 1, chunk), AGGREGATE_COMPLETED);
}

void
end_pair(uint16_t job)
{
	assert_int_equal(leave(job, 0), AGGREGATE_LEFT);
	assert_int_equal(leave(job, 1), AGGREGATE_LEFT);
	pause_all();
}

void
start_pair(uint32_t shards)
{
	start(shards, 4, 16);
	make_pair(7, 4);
}

uint32_t
slots_used(void)
{
	struct aggregate_usage usage;

	aggregate_table_usage(table, &usage);
	return usage.slots;
}

int
tear_down(void **state)
{
	(void)state;
	free(table);
	table = NULL;
	return 0;
}

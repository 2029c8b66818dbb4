/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags, where there is a cluster's key: of a shard's packets, and of those to and from the parent.
 */
#include "aggregate_leaf.h"
#include "aggregate_table.h"
#include "jobs/job.h"
#include "jobs/table.h"

static void
make_keys(const struct aggregate_table *table, uint16_t number, uint64_t session,
	struct aggregate_tag_key *keys)
{
	for (enum aggregate_direction d = 0; d < SEAL_DIRECTIONS; d++)
		aggregate_tag_session_key(table->limits.secret, number, session, d, &keys[d]);
}

/* A job's keys, one for each direction, among those of all jobs. */
static struct aggregate_tag_key *
keys_of(struct aggregate_tag_key *keys, uint16_t index)
{
	return keys + (size_t)index * SEAL_DIRECTIONS;
}

void
seal_make_keys(struct aggregate_table *table, struct job *job)
{
	if (table->limits.secret != NULL)
		make_keys(table, job->number, job->session,
			keys_of(table->session_keys, index_of_job(table, job)));
}

void
leaf_make_keys(struct aggregate_table *table, const struct job *job)
{
	const struct parent_member *parent = parent_member_of(table, job);

	if (table->limits.secret != NULL)
		make_keys(table, parent->member.job, parent->member.session,
			keys_of(table->parent_keys, index_of_job(table, job)));
}

/*
 * The keys of a packet's session: those of the job, or, where there is no such job, made for this
 * packet, so that its sender can be told.
 */
static const struct aggregate_tag_key *
keys_of_session(struct aggregate_shard *shard, const struct aggregate_message *request,
	const struct job *job)
{
	const struct aggregate_table *table = shard->table;

	if (job != NULL)
		return keys_of(table->session_keys, index_of_job(table, job));
	make_keys(table, request->job, request->session, shard->spare_keys);
	return shard->spare_keys;
}

static const struct job *
job_of(const struct aggregate_shard *shard, const struct aggregate_message *request)
{
	const struct job *job = find_open_job(shard->table, request->job);

	return job != NULL && OBSERVE(job->state) == JOB_OPEN && job->session == request->session
		? job
		: NULL;
}

/*
 * A chunk's number has an upper half that is not sent: the shard counts along. Of a job that is not
 * there it has not counted, and finds it out.
 */
static bool
is_good_chunk(struct aggregate_shard *shard, const struct job *job,
	const struct aggregate_tag_key *keys, const uint8_t *payload, size_t length,
	const struct aggregate_message *request, uint32_t *high)
{
	uint64_t *latest_chunk64, number;

	if (job == NULL)
		return aggregate_tag_find_high(&keys[AGGREGATE_TO_SWITCH], payload, length, high);
	latest_chunk64 = &shard_view(shard, job)->latest_chunk64;
	*high = aggregate_chunk_high(*latest_chunk64, request->id);
	if (!aggregate_tag_is_good(&keys[AGGREGATE_TO_SWITCH], payload, length, *high))
		return false;
	number = (uint64_t)*high << 32 | request->id;
	/* Whoever repeats old packets must not turn the count back. */
	if (number > *latest_chunk64)
		*latest_chunk64 = number;
	return true;
}

static bool
is_good(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	const struct aggregate_message *request, struct aggregate_seal *seal)
{
	const struct aggregate_tag_key *keys = shard->table->join_keys;
	const struct job *job;

	seal->high = 0;
	if (request->op != AGGREGATE_JOIN) {
		job = job_of(shard, request);
		keys = keys_of_session(shard, request, job);
		seal->key = &keys[AGGREGATE_TO_WORKERS];
		if (request->op != AGGREGATE_LEAVE)
			return is_good_chunk(
				shard, job, keys, payload, length, request, &seal->high);
	}
	seal->key = &keys[AGGREGATE_TO_WORKERS];
	return aggregate_tag_is_good(&keys[AGGREGATE_TO_SWITCH], payload, length, 0);
}

int
aggregate_shard_read(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	struct aggregate_message *request, struct aggregate_seal *seal)
{
	size_t bytes = length < AGGREGATE_TAG_BYTES ? 0 : length - AGGREGATE_TAG_BYTES;
	int code;

	seal->key = NULL;
	if (shard->table->limits.secret == NULL)
		return aggregate_parse_request(payload, length, request);
	code = aggregate_parse_request(payload, bytes, request);
	if (code == AGGREGATE_NOT_OURS)
		return code;
	if (code == 0 && is_good(shard, payload, length, request, seal))
		return 0;
	COUNT(shard->counters.actions[AGGREGATE_BAD_TAG], 1);
	return AGGREGATE_FORGED;
}

/* What goes to the parent and comes from it. */

/* The upper half of a chunk's number, as the job's members count. */
static uint32_t
high_of(const struct aggregate_shard *shard, uint16_t index, uint32_t chunk)
{
	return aggregate_chunk_high(shard->jobs[index].latest_chunk64, chunk);
}

size_t
leaf_seal_chunk(const struct aggregate_shard *shard, const struct aggregate_outcome *outcome,
	uint8_t *payload, size_t length)
{
	if (shard->table->limits.secret == NULL)
		return length;
	aggregate_tag_make(&keys_of(shard->table->parent_keys, outcome->index)[AGGREGATE_TO_SWITCH],
		payload, length, high_of(shard, outcome->index, outcome->entry->chunk));
	return length + AGGREGATE_TAG_BYTES;
}

/* Of a join, or of a session that may be a cookie still. */
static const struct aggregate_tag_key *
key_of_message(struct aggregate_shard *shard, const struct aggregate_message *message,
	enum aggregate_direction direction)
{
	struct aggregate_tag_key *spare = &shard->spare_keys[direction];

	if (message->op == AGGREGATE_JOIN)
		return &shard->table->join_keys[direction];
	aggregate_tag_session_key(
		shard->table->limits.secret, message->job, message->session, direction, spare);
	return spare;
}

size_t
aggregate_leaf_build(
	struct aggregate_shard *shard, const struct aggregate_message *message, uint8_t *payload)
{
	const size_t length = aggregate_message_bytes(message);

	aggregate_build_request(payload, message);
	if (shard->table->limits.secret == NULL)
		return length;
	aggregate_tag_make(key_of_message(shard, message, AGGREGATE_TO_SWITCH), payload, length, 0);
	return length + AGGREGATE_TAG_BYTES;
}

/*
 * A job that is over here has no keys any more: late replies get one made for them, so that they do
 * not count as forged.
 */
static bool
is_good_reply_to_chunk(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	const struct aggregate_message *reply)
{
	const struct job *job = find_open_job(shard->table, reply->job);
	uint16_t index;
	uint32_t high;

	if (job == NULL || job->place.levels == 0 ||
		parent_member_of(shard->table, job)->member.session != reply->session)
		return aggregate_tag_find_high(
			key_of_message(shard, reply, AGGREGATE_TO_WORKERS), payload, length, &high);
	index = index_of_job(shard->table, job);
	return aggregate_tag_is_good(
		&keys_of(shard->table->parent_keys, index)[AGGREGATE_TO_WORKERS], payload, length,
		high_of(shard, index, reply->id));
}

static bool
is_good_reply(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	const struct aggregate_message *reply)
{
	if (shard->table->parent_members == NULL)
		return false;
	return reply->op == AGGREGATE_JOIN || reply->op == AGGREGATE_LEAVE
		? aggregate_tag_is_good(
			  key_of_message(shard, reply, AGGREGATE_TO_WORKERS), payload, length, 0)
		: is_good_reply_to_chunk(shard, payload, length, reply);
}

int
aggregate_leaf_read(struct aggregate_shard *shard, const uint8_t *payload, size_t length,
	struct aggregate_message *reply)
{
	const size_t bytes = length < AGGREGATE_TAG_BYTES ? 0 : length - AGGREGATE_TAG_BYTES;

	if (shard->table->limits.secret == NULL)
		return aggregate_parse_reply(payload, length, reply);
	if (aggregate_parse_reply(payload, bytes, reply) != 0)
		return AGGREGATE_NOT_OURS;
	if (is_good_reply(shard, payload, length, reply))
		return 0;
	COUNT(shard->counters.actions[AGGREGATE_BAD_TAG], 1);
	return AGGREGATE_FORGED;
}

void
aggregate_leaf_seal(const struct aggregate_shard *shard, const struct aggregate_outcome *outcome,
	struct aggregate_seal *seal)
{
	const struct aggregate_table *table = shard->table;

	*seal = (struct aggregate_seal){NULL, 0};
	if (table->limits.secret == NULL)
		return;
	seal->key = &keys_of(table->session_keys, outcome->index)[AGGREGATE_TO_WORKERS];
	seal->high = high_of(shard, outcome->index, outcome->entry->chunk);
}

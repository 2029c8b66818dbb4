/* SPDX-License-Identifier: BSD-3-Clause */
#include "aggregate_table.h"
#include "job.h"
#include "table.h"

void
seal_make_keys(struct aggregate_table *table, struct job *job)
{
	struct aggregate_tag_key *keys = table->session_keys;

	if (table->limits.secret == NULL)
		return;
	keys += (size_t)index_of_job(table, job) * SEAL_DIRECTIONS;
	for (enum aggregate_direction d = 0; d < SEAL_DIRECTIONS; d++)
		aggregate_tag_session_key(
			table->limits.secret, job->number, job->session, d, &keys[d]);
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
		return table->session_keys + (size_t)index_of_job(table, job) * SEAL_DIRECTIONS;
	for (enum aggregate_direction d = 0; d < SEAL_DIRECTIONS; d++)
		aggregate_tag_session_key(table->limits.secret, request->job, request->session, d,
			&shard->spare_keys[d]);
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

/* A chunk's number has an upper half that is not sent: the shard counts along. */
static bool
is_good_chunk(struct aggregate_shard *shard, const struct job *job,
	const struct aggregate_tag_key *keys, const uint8_t *payload, size_t length,
	const struct aggregate_message *request, uint32_t *high)
{
	uint64_t *near = job == NULL ? NULL : &shard_view(shard, job)->near;

	*high = near == NULL ? 0 : aggregate_chunk_high(*near, request->id);
	if (!aggregate_tag_is_good(&keys[AGGREGATE_TO_SWITCH], payload, length, *high))
		return false;
	if (near != NULL)
		*near = (uint64_t)*high << 32 | request->id;
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

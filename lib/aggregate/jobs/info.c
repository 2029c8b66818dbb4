/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that any thread may call at any time. */
#include <string.h>

#include "jobs/job.h"

static void
add_counters(struct aggregate_counters *sum, const struct aggregate_counters *counters)
{
	for (unsigned int a = 0; a < AGGREGATE_ACTION_COUNT; a++)
		sum->actions[a] += READ(counters->actions[a]);
	sum->values += READ(counters->values);
	sum->zeros += READ(counters->zeros);
}

void
aggregate_shard_counters(const struct aggregate_shard *shard, struct aggregate_counters *counters)
{
	memset(counters, 0, sizeof(*counters));
	add_counters(counters, &shard->counters);
}

void
aggregate_table_usage(const struct aggregate_table *table, struct aggregate_usage *usage)
{
	usage->draining = READ(table->draining) != 0;
	usage->jobs = READ(table->jobs_used);
	usage->slots = READ(table->slots_used);
#define READ_COUNTER_(name, meaning) usage->counters.name = READ(table->counters.name);
	AGGREGATE_JOB_COUNTERS(READ_COUNTER_)
#undef READ_COUNTER_
}

static void
add_lateness(struct aggregate_info *info, const struct lateness *lateness)
{
	for (unsigned int w = 0; w < info->workers; w++) {
		const uint64_t waited = READ(lateness[w].waited);

		info->last[w] += READ(lateness[w].last);
		info->waited[w] = waited > info->waited[w] ? waited : info->waited[w];
	}
}

static void
read_views(const struct aggregate_table *table, uint16_t index, uint64_t generation,
	struct aggregate_info *info)
{
	for (uint32_t s = 0; s < table->limits.shards; s++) {
		const struct shard_job *view = &table->shards[s].jobs[index];
		uint64_t latest = OBSERVE(view->latest);

		if (OBSERVE(view->generation) != generation)
			continue;
		add_counters(&info->counters, &view->counters);
		add_lateness(info, view->lateness);
		info->silent |= READ(view->silent);
		info->latest = latest > info->latest ? latest : info->latest;
	}
}

static void
read_parent_member(const struct aggregate_table *table, uint16_t index, struct aggregate_info *info)
{
	const struct parent_member *parent;

	if (table->parent_members == NULL)
		return;
	parent = &table->parent_members[index];
	info->parent_state = (uint8_t)READ(parent->member.state);
	info->above = READ(parent->member.refused);
	info->above_heard = READ(parent->heard);
	if (READ(table->jobs[index].lost) != 0)
		info->parent_state = AGGREGATE_MEMBER_LOST;
}

bool
aggregate_table_info(
	const struct aggregate_table *table, uint16_t index, struct aggregate_info *info)
{
	const struct job *job = &table->jobs[index];
	uint32_t state = OBSERVE(job->state), generation = READ(job->generation);
	struct failure failure;

	if (state != JOB_JOINING && state != JOB_OPEN)
		return false;
	*info = (struct aggregate_info){
		.job = OBSERVE(job->number),
		.slots = OBSERVE(job->slots),
		.bytes = OBSERVE(job->bytes),
		.workers = OBSERVE(job->workers),
		.open = state == JOB_OPEN,
		.joined = OBSERVE(job->joined),
		.left = OBSERVE(job->left),
		.latest = OBSERVE(job->latest),
		.levels = OBSERVE(job->place.levels),
		.all_workers = OBSERVE(job->place.workers),
		.failed = job_has_failed(job, &failure) ? failure.worker : -1,
	};
	if (info->all_workers == 0)
		info->all_workers = info->workers;
	read_views(table, index, generation, info);
	read_parent_member(table, index, info);
	/* The job may have ended, and another begun, while it was read: the generation is checked
	 * last. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return READ(job->generation) == generation;
}

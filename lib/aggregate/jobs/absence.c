/* SPDX-License-Identifier: BSD-3-Clause */
#include "jobs/job.h"

static uint64_t
missing_of(const struct job *job, const struct aggregate_entry *entry)
{
	return UINT64_MAX >> (AGGREGATE_MAX_WORKERS - job->workers) & ~entry->seen;
}

bool
absence_is_certain(const struct job *job, const struct aggregate_entry *entry)
{
	return (READ(job->failure) != 0 || (READ(job->left) & missing_of(job, entry)) != 0) &&
		entry->state != AGGREGATE_COMPLETE;
}

/* When any shard last heard a worker, or its join came. */
static uint64_t
heard_of(const struct aggregate_table *table, const struct job *job, unsigned int worker)
{
	uint64_t heard = READ(job->places[worker].heard);

	for (uint32_t s = 0; s < table->limits.shards; s++) {
		const struct shard_job *view = &table->shards[s].jobs[index_of_job(table, job)];
		uint64_t there = READ(view->presences[worker].heard);

		if (OBSERVE(view->generation) == job->generation && there > heard)
			heard = there;
	}
	return heard;
}

/* Workers that are silent while one that was heard since then waits for them. */
static uint64_t
silent_among(const struct aggregate_table *table, const struct job *job, uint64_t workers,
	uint64_t since, uint64_t now)
{
	uint64_t silent = 0;

	for (unsigned int w = 0; w < job->workers; w++) {
		uint64_t from;

		if ((workers & worker_bit(w)) == 0)
			continue;
		from = heard_of(table, job, w);
		from = from > since ? from : since;
		/* Another shard's clock may be ahead. */
		if (now > from && now - from >= table->limits.stall)
			silent |= worker_bit(w);
	}
	return silent;
}

static void
name(struct aggregate_outcome *outcome, unsigned int worker, enum aggregate_absence absence,
	unsigned int detail)
{
	outcome->reason = (uint8_t)(AGGREGATE_MISSING + worker);
	outcome->absence = (uint8_t)absence;
	outcome->detail = (uint8_t)detail;
}

/* The lowest of a set of workers, and how many are in it. */
static void
name_least(struct aggregate_outcome *outcome, uint64_t workers, enum aggregate_absence absence)
{
	name(outcome, (unsigned int)__builtin_ctzll(workers), absence,
		(unsigned int)__builtin_popcountll(workers));
}

void
absence_explain(const struct aggregate_shard *shard, const struct job *job,
	const struct aggregate_entry *entry, unsigned int waits, uint64_t now,
	struct aggregate_outcome *outcome)
{
	const struct aggregate_table *table = shard->table;
	const struct shard_job *view = &shard->jobs[index_of_job(table, job)];
	uint64_t missing = missing_of(job, entry), left = missing & READ(job->left), silent;
	struct failure failure;

	if (job_has_failed(job, &failure)) {
		name(outcome, failure.worker, failure.absence, failure.reason);
		return;
	}
	silent = silent_among(table, job, missing & ~left, view->presences[waits].since, now);
	if (silent != 0)
		name_least(outcome, silent, AGGREGATE_ABSENT_SILENT);
	else if (left != 0)
		name_least(outcome, left, AGGREGATE_ABSENT_LEFT);
	else
		name_least(outcome, missing, AGGREGATE_ABSENT_LATE);
}

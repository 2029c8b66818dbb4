/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "jobs/cookie.h"
#include "jobs/job.h"
#include "jobs/table.h"

#define FAILURE_IS_THERE (UINT32_C(1) << 31)

struct job *
job_find_joining(struct aggregate_table *table, uint16_t number, uint64_t token)
{
	for (uint32_t j = 0; j < table->limits.jobs; j++) {
		struct job *job = &table->jobs[j];

		if (job->state == JOB_JOINING && job->number == number && job->token == token)
			return job;
	}
	return NULL;
}

uint32_t *
job_ended_count(struct aggregate_table *table, uint16_t number, uint64_t token)
{
	return &table->ended_of[cookie_job_hash(&table->limits, number, token) % ENDED_COUNTS];
}

/* Another address is not whom it is kept for, nor is the job that made room, which comes again. */
static bool
is_kept_from(const struct job *job, const struct aggregate_message *request,
	const uint8_t address[16], uint64_t now)
{
	return now < job->kept &&
		(memcmp(job->maker, address, sizeof(job->maker)) != 0 ||
			(job->number == request->job && job->token == request->token));
}

static struct job *
free_job(struct aggregate_table *table, const struct aggregate_message *request,
	const uint8_t address[16], uint64_t now)
{
	for (uint32_t j = 0; j < table->limits.jobs; j++) {
		struct job *job = &table->jobs[j];

		if (job->state == JOB_FREE && !leaf_is_leaving(table, job) &&
			!is_kept_from(job, request, address, now))
			return job;
	}
	return NULL;
}

static bool
is_begun_by(const struct job *job, const uint8_t address[16])
{
	return job->state == JOB_JOINING && memcmp(job->maker, address, sizeof(job->maker)) == 0;
}

/* How many incomplete jobs an address has begun. */
static uint32_t
begun_by(const struct aggregate_table *table, const uint8_t address[16])
{
	uint32_t begun = 0;

	for (uint32_t j = 0; j < table->limits.jobs; j++)
		begun += is_begun_by(&table->jobs[j], address);
	return begun;
}

/* It has begun one more, or one less: its other incomplete jobs are told. */
static void
note_begun(struct aggregate_table *table, const uint8_t address[16])
{
	const uint32_t begun = begun_by(table, address);

	for (uint32_t j = 0; j < table->limits.jobs; j++)
		if (is_begun_by(&table->jobs[j], address))
			table->jobs[j].begun = (uint16_t)begun;
}

static void
set_state(struct aggregate_table *table, struct job *job, enum job_state state)
{
	const bool matters = job->state == JOB_JOINING || state == JOB_JOINING;

	PUBLISH(job->state, state);
	if (matters)
		note_begun(table, job->maker);
}

/* The oldest incomplete job of the address that has begun the most; NULL: none is incomplete. */
static struct job *
find_longest_begun(struct aggregate_table *table)
{
	struct job *found = NULL;

	for (uint32_t j = 0; j < table->limits.jobs; j++) {
		struct job *job = &table->jobs[j];

		if (job->state != JOB_JOINING)
			continue;
		if (found == NULL || job->begun > found->begun ||
			(job->begun == found->begun && job->generation < found->generation))
			found = job;
	}
	return found;
}

/*
 * The table is full, for an address that has begun so many incomplete jobs: one that keeps as many
 * makes room. Addresses that would only change places could do so for ever, with no job complete.
 * The parent may have to be told first: meanwhile the one that made room comes again, and it may
 * come more often. Returns what to answer where nobody does: a job that is not complete may end
 * soon.
 */
static enum aggregate_action
make_room(struct aggregate_table *table, const uint8_t address[16], uint32_t begun, uint64_t now)
{
	struct job *job;

	if (job_any_ended(table))
		return AGGREGATE_WAITING;
	job = find_longest_begun(table);
	if (job == NULL)
		return AGGREGATE_FULL;
	if (job->begun > begun + 1) {
		COUNT(table->counters.displaced, 1);
		job_end(table, job);
		memcpy(job->maker, address, sizeof(job->maker));
		job->kept = now + table->limits.half_open;
	}
	return AGGREGATE_WAITING;
}

static struct job *
find_oldest_begun_by(struct aggregate_table *table, const uint8_t address[16])
{
	struct job *found = NULL;

	for (uint32_t j = 0; j < table->limits.jobs; j++) {
		struct job *job = &table->jobs[j];

		if (is_begun_by(job, address) &&
			(found == NULL || job->generation < found->generation))
			found = job;
	}
	return found;
}

/*
 * An address has begun as many incomplete jobs as it may. It may be a leaf's, and so be that of
 * many hosts: its jobs take turns, or a host that completes none would keep the others out for
 * ever. A turn is long enough for workers that all are there. Returns the one that made room.
 */
static struct job *
take_turn(struct aggregate_table *table, const uint8_t address[16], uint64_t now)
{
	struct job *job = find_oldest_begun_by(table, address);

	if (job == NULL || now - job->begun_at < table->limits.half_open)
		return NULL;
	COUNT(table->counters.displaced, 1);
	job_end(table, job);
	return job;
}

void
aggregate_table_drain(struct aggregate_table *table)
{
	WRITE(table->draining, 1);
}

bool
aggregate_table_is_drained(const struct aggregate_table *table)
{
	if (READ(table->draining) == 0 || table->jobs_used != 0)
		return false;
	for (uint32_t j = 0; j < table->limits.jobs; j++)
		if (leaf_is_leaving(table, &table->jobs[j]))
			return false;
	return true;
}

bool
job_any_ended(const struct aggregate_table *table)
{
	for (uint32_t j = 0; j < table->limits.jobs; j++)
		if (table->jobs[j].state == JOB_ENDED || leaf_is_leaving(table, &table->jobs[j]))
			return true;
	return false;
}

uint16_t
job_granted_bytes(const struct aggregate_table *table, uint16_t asked)
{
	uint32_t most = table->limits.bytes;

	return (uint16_t)((asked < most ? asked : most) & ~3u);
}

static uint16_t
least_bytes(const struct aggregate_join *join)
{
	return join->least != 0 && join->least < join->bytes ? join->least : join->bytes;
}

bool
job_takes_bytes(const struct job *job, const struct aggregate_message *request)
{
	const struct aggregate_join *join = &request->join;

	if (job->state == JOB_OPEN)
		return least_bytes(join) <= job->most_bytes && job->most_bytes <= join->bytes;
	for (unsigned int w = 0; w < job->workers; w++)
		if (w != request->worker && (job->joined & worker_bit(w)) != 0 &&
			(least_bytes(join) > job->places[w].most_bytes ||
				job->places[w].least_bytes > join->bytes))
			return false;
	return true;
}

void
job_agree_on_bytes(const struct aggregate_table *table, struct job *job)
{
	job->least_bytes = 0;
	job->most_bytes = UINT16_MAX;
	for (unsigned int w = 0; w < job->workers; w++) {
		const struct place *place = &job->places[w];

		if ((job->joined & worker_bit(w)) == 0)
			continue;
		if (place->least_bytes > job->least_bytes)
			job->least_bytes = place->least_bytes;
		if (place->most_bytes < job->most_bytes)
			job->most_bytes = place->most_bytes;
	}
	PUBLISH(job->bytes, job_granted_bytes(table, job->most_bytes));
}

/* Each is stored after the job's new generation, so that readers notice the change. */
static void
fill_job(struct aggregate_table *table, struct job *job, const struct aggregate_message *request)
{
	PUBLISH(job->number, request->job);
	PUBLISH(job->workers, request->join.workers);
	PUBLISH(job->slots, 0);
	PUBLISH(job->bytes, job_granted_bytes(table, request->join.bytes));
	PUBLISH(job->joined, 0);
	PUBLISH(job->left, 0);
	PUBLISH(job->failure, 0);
	PUBLISH(job->lost, 0);
	job->token = request->token;
	PUBLISH(job->place.levels, request->join.place.levels);
	PUBLISH(job->place.workers, request->join.place.workers);
	memcpy(job->place.level, request->join.place.level, sizeof(job->place.level));
	job->asked_slots = request->join.slots;
	job->miscounted = false;
	for (unsigned int w = 0; w < job->workers; w++)
		job->places[w].serial = 0;
}

enum aggregate_action
job_begin(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct job **job)
{
	const uint32_t begun = begun_by(table, sender->address);
	struct job *ended = NULL;
	enum aggregate_action action;

	*job = NULL;
	take_back_ended(table);
	if (begun >= table->limits.per_address) {
		ended = take_turn(table, sender->address, now);
		if (ended == NULL)
			return AGGREGATE_WAITING;
	}
	*job = free_job(table, request, sender->address, now);
	if (*job == NULL && ended != NULL) { /* the parent is told first, as in make_room() */
		ended->kept = now + table->limits.half_open;
		return AGGREGATE_WAITING;
	}
	if (*job == NULL) {
		action = make_room(table, sender->address, begun, now);
		*job = free_job(table, request, sender->address, now);
		if (*job == NULL)
			return action;
	}
	WRITE((*job)->generation, ++table->generation);
	fill_job(table, *job, request);
	(*job)->kept = 0;
	(*job)->begun_at = now;
	leaf_begin(table, *job);
	memcpy((*job)->maker, sender->address, sizeof((*job)->maker));
	set_state(table, *job, JOB_JOINING);
	WRITE(table->jobs_used, table->jobs_used + 1);
	COUNT(table->counters.made, 1);
	return AGGREGATE_WAITING;
}

static void
empty_slots(struct aggregate_table *table, const struct job *job)
{
	for (uint32_t slot = job->first_slot; slot < job->first_slot + job->slots; slot++)
		for (unsigned int which = 0; which < 2; which++)
			find_entry(table, slot, which)->state = AGGREGATE_EMPTY;
}

/* Those that all members know, and all others in the tree. */
static uint8_t
features_of(const struct aggregate_table *table, const struct job *job)
{
	return job->place.levels == 0 ? job_features(job)
				      : job_features(job) & parent_member_of(table, job)->features;
}

enum aggregate_action
job_open(struct aggregate_table *table, struct job *job, uint16_t most_slots, uint16_t most_bytes)
{
	uint32_t slots;

	/* Another of that number was complete while this one waited for the parent. */
	if (find_open_job(table, job->number) != NULL)
		return AGGREGATE_WRONG_TOKEN;
	take_back_ended(table);
	slots = take_slots(table, job->asked_slots < most_slots ? job->asked_slots : most_slots,
		&job->first_slot);
	if (slots == 0)
		return job_any_ended(table) ? AGGREGATE_WAITING : AGGREGATE_NO_SLOTS;
	PUBLISH(job->slots, (uint16_t)slots);
	if (most_bytes < job->bytes)
		PUBLISH(job->bytes, most_bytes);
	job->features = features_of(table, job);
	job->session = cookie_session(&table->limits, job->generation);
	seal_make_keys(table, job);
	empty_slots(table, job);
	COUNT(table->counters.complete, 1);
	set_state(table, job, JOB_OPEN);
	PUBLISH(table->index_of[job->number], (uint16_t)(index_of_job(table, job) + 1));
	return AGGREGATE_JOINED;
}

/* A member's cookie is not valid for the next job: so late joins have no effect. */
void
job_end(struct aggregate_table *table, struct job *job)
{
	uint32_t *count = job_ended_count(table, job->number, job->token);

	(*count)++;
	leaf_end(table, job);
	WRITE(table->jobs_used, table->jobs_used - 1);
	if (job->state == JOB_JOINING) {
		set_state(table, job, JOB_FREE);
		return;
	}
	PUBLISH(table->index_of[job->number], 0);
	PUBLISH(job->state, JOB_ENDED);
	job->ended = table->epoch + 1;
	PUBLISH(table->epoch, job->ended);
}

void
job_end_lost(struct aggregate_table *table, struct job *job)
{
	COUNT(table->counters.lost, 1);
	job_end(table, job);
}

bool
job_has_address(const struct job *job, unsigned int worker, const struct aggregate_sender *sender)
{
	return memcmp(job->places[worker].address, sender->address, sizeof(sender->address)) == 0;
}

bool
job_has_place(const struct job *job, unsigned int worker, const struct aggregate_sender *sender)
{
	return (job->joined & worker_bit(worker)) != 0 &&
		job->places[worker].port == sender->port && job_has_address(job, worker, sender);
}

void
job_take_place(struct aggregate_table *table, struct job *job,
	const struct aggregate_message *request, const struct aggregate_sender *sender,
	uint64_t now)
{
	const unsigned int worker = request->worker;
	struct place *place = &job->places[worker];

	if (!job_has_place(job, worker, sender) ||
		place->incarnation != request->join.incarnation) {
		place->incarnation = request->join.incarnation;
		memcpy(place->address, sender->address, sizeof(place->address));
		place->port = sender->port;
		place->serial++;
		WRITE(job->joined, job->joined | worker_bit(worker));
		leaf_start_over(table, job);
	}
	place->features = request->join.features;
	place->least_bytes = least_bytes(&request->join);
	place->most_bytes = request->join.bytes;
	place->below = request->join.place.below;
	WRITE(place->heard, now);
}

uint32_t
job_workers_below(const struct job *job)
{
	uint64_t all = 0;

	for (unsigned int w = 0; w < job->workers; w++)
		all += job->places[w].below;
	return all <= AGGREGATE_MAX_TREE_WORKERS ? (uint32_t)all : UINT32_MAX;
}

uint8_t
job_features(const struct job *job)
{
	uint8_t features = AGGREGATE_FEATURES_OF_ALL;

	for (unsigned int w = 0; w < job->workers; w++)
		features &= job->places[w].features;
	return features;
}

void
job_vacate(struct aggregate_table *table, struct job *job, unsigned int worker)
{
	job->places[worker].serial++;
	WRITE(job->joined, job->joined & ~worker_bit(worker));
	leaf_start_over(table, job);
}

void
job_vacate_silent(struct aggregate_table *table, struct job *job, uint64_t now)
{
	for (unsigned int w = 0; w < job->workers; w++)
		if ((job->joined & worker_bit(w)) != 0 &&
			now - job->places[w].heard >= table->limits.half_open)
			job_vacate(table, job, w);
}

bool
job_is_complete(const struct job *job)
{
	return job->joined == UINT64_MAX >> (AGGREGATE_MAX_WORKERS - job->workers);
}

void
job_fail(struct job *job, struct failure failure)
{
	uint32_t none = 0,
		 word = FAILURE_IS_THERE | (uint32_t)failure.absence << 16 |
		(uint32_t)failure.reason << 8 | failure.worker;

	__atomic_compare_exchange_n(
		&job->failure, &none, word, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool
job_has_failed(const struct job *job, struct failure *failure)
{
	uint32_t word = READ(job->failure);

	*failure = (struct failure){.worker = (uint8_t)word,
		.absence = (uint8_t)(word >> 16 & 0x7f),
		.reason = (uint8_t)(word >> 8)};
	return word != 0;
}

/* When any shard last heard from a job. */
static uint64_t
latest_of(const struct aggregate_table *table, const struct job *job)
{
	uint64_t latest = job->latest;

	for (uint32_t s = 0; s < table->limits.shards; s++) {
		const struct shard_job *view = &table->shards[s].jobs[index_of_job(table, job)];

		if (OBSERVE(view->generation) == job->generation && READ(view->latest) > latest)
			latest = READ(view->latest);
	}
	return latest;
}

/* Another shard's clock may be ahead. */
bool
job_is_silent(
	const struct aggregate_table *table, const struct job *job, uint64_t ticks, uint64_t now)
{
	const uint64_t latest = latest_of(table, job);

	return now > latest && now - latest >= ticks;
}

/* Whether a job has timed out. */
static bool
is_idle(struct aggregate_table *table, struct job *job, uint64_t now)
{
	if (job->state == JOB_JOINING) {
		job_vacate_silent(table, job, now);
		return job->joined == 0 && now - job->latest >= table->limits.half_open;
	}
	return job->state == JOB_OPEN && job_is_silent(table, job, table->limits.idle, now);
}

unsigned int
aggregate_table_poll(struct aggregate_table *table, uint64_t now)
{
	unsigned int ended = 0;

	for (uint32_t j = 0; j < table->limits.jobs; j++) {
		struct job *job = &table->jobs[j];

		if (job->state == JOB_OPEN && OBSERVE(job->lost) != 0) {
			job_end_lost(table, job);
		} else if (is_idle(table, job, now)) {
			COUNT(table->counters.timed_out, 1);
			job_end(table, job);
		} else {
			continue;
		}
		ended++;
	}
	take_back_ended(table);
	return ended;
}

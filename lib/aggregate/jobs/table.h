/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TABLE_H
#define TABLE_H

/** @file What a table of jobs is made of. aggregate_table.h says who may touch what. */

#include "aggregate_table.h"
#include "aggregate_tag.h"

#define JOB_NUMBERS 65536
#define ENDED_COUNTS 65536
#define SEAL_DIRECTIONS 2

enum job_state {
	JOB_FREE,
	JOB_JOINING, /* shard 0's alone */
	JOB_OPEN,    /* all workers have joined: other shards find it */
	JOB_ENDED,   /* not to be found any more; some shards may still be at it */
};

/* A worker's place in a job. */
struct place {
	uint64_t heard; /* ticks: the latest join */
	uint8_t address[16];
	uint16_t port;    /* UDP, that it joined from. This and the rest: shard 0's alone */
	uint8_t features; /* enum aggregate_feature */
	uint16_t least_bytes, most_bytes; /* of values in a chunk, that it would take */
	uint32_t serial;                  /* counts who has had the place */
	uint32_t below;                   /* workers behind it, as it says */
	uint64_t incarnation;             /* of the process that has it */
};

/* A job's way to the switch above: shard 0's, but for `heard`. */
struct parent_member {
	struct aggregate_member member;
	uint64_t heard;        /* ticks: the latest reply; 0: none. Whichever shard it came to */
	uint16_t slots, bytes; /* this and the rest: as granted */
	uint8_t shards;
	uint8_t features; /* enum aggregate_feature */
};

/* Written by shard 0's thread, but for `failure`. */
struct job {
	uint32_t state;      /* enum job_state; stored with release */
	uint64_t generation; /* another for each job that was ever made; 0: none */
	uint32_t failure; /* struct failure in a word; 0: none. The first shard that knows writes it
			   */
	uint64_t token;
	uint64_t session;
	uint64_t joined, left; /* bit w: worker w */
	uint64_t latest;       /* when a join or leave came */
	uint64_t ended;        /* the epoch in which it did */
	uint32_t first_slot;
	uint16_t number, slots, bytes;
	uint16_t asked_slots;
	uint16_t least_bytes, most_bytes; /* of values in a chunk, that all workers would take */
	uint8_t workers;
	uint8_t features; /* open: enum aggregate_feature, that all members know */
	bool miscounted;  /* the workers behind its members are not as many as they say in all */
	uint32_t lost; /* whether the parent knows it no more: the first shard that knows sets it */
	struct aggregate_place place; /* as its members asked for it */
	uint8_t maker[16];            /* the address that began it; free: for whom it is kept */
	uint64_t kept;                /* free: until when, ticks */
	uint64_t begun_at;            /* ticks */
	uint16_t begun; /* incomplete jobs that this address has begun, while it is one of them */
	struct place places[AGGREGATE_MAX_WORKERS];
} __attribute__((aligned(AGGREGATE_ALIGN)));

/* When a shard heard a worker. */
struct presence {
	uint64_t since; /* ticks: without a gap of half of the limits' stall */
	uint64_t heard; /* ticks: the latest */
};

/* How a worker held up the others: it was the last of a chunk, and all they waited for. */
struct lateness {
	uint64_t last;   /* chunks */
	uint64_t waited; /* ticks; what several chunks waited at the same time counts once */
	uint64_t until;  /* ticks: what was before is counted */
};

/* What a shard has of a job: written by its thread alone. */
struct shard_job {
	uint64_t generation; /* of the job that the rest is about */
	uint64_t latest;     /* when a packet came */
	uint64_t silent; /* bit w: worker w did not answer while others waited, and has sent nothing
			    since */
	uint64_t
		latest_chunk64; /* the number of the latest chunk that had a good tag, in 64 bits */
	struct aggregate_counters counters;
	struct aggregate_sender *senders; /* by worker */
	struct presence *presences;       /* by worker */
	struct lateness *lateness;        /* by worker */
} __attribute__((aligned(AGGREGATE_ALIGN)));

struct aggregate_shard {
	struct aggregate_table *table;
	uint32_t number;
	uint64_t quiet; /* the latest epoch that it has seen while between two packets */
	struct aggregate_counters counters;
	struct shard_job *jobs;
	struct aggregate_tag_key *spare_keys; /* by direction: of a session that there is not */
	struct aggregate_totals scratch;      /* for sums of values; with a parent only */
	struct aggregate_totals upwards;      /* of the chunk that is about to be sent up */
	uint8_t parts;
	uint16_t ends[AGGREGATE_MAX_PARTS];
} __attribute__((aligned(AGGREGATE_ALIGN)));

struct aggregate_table {
	struct aggregate_limits limits;
	uint64_t epoch; /* how many jobs have ended */
	uint64_t generation;
	uint32_t draining; /* whether no further job begins: any thread sets it */
	uint32_t jobs_used, slots_used;
	struct aggregate_job_counters counters;
	struct aggregate_shard *shards;
	struct job *jobs;
	struct parent_member *parent_members; /* by job; with a parent only */
	uint16_t *index_of; /* by number: the index + 1 of the job that is open; 0: there is none */
	uint32_t *ended_of; /* by a hash of number and token: how many have ended */
	uint8_t *slot_used;
	struct aggregate_tag_key *join_keys;    /* by direction; with a cluster's key only */
	struct aggregate_tag_key *session_keys; /* by job and direction; likewise */
	struct aggregate_tag_key *parent_keys;  /* the same, of the parent's sessions */
	uint8_t *entries;
	size_t entry_bytes;
};

#define PUBLISH(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELEASE)
#define OBSERVE(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)

/* Fields that have one writer, and readers that want no more than some recent value. */
#define WRITE(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)
#define READ(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define COUNT(field, more) WRITE(field, (field) + (more))

/* The open job of that number; NULL: there is none. */
static inline struct job *
find_open_job(const struct aggregate_table *table, uint16_t number)
{
	uint16_t index = OBSERVE(table->index_of[number]);

	return index == 0 ? NULL : &table->jobs[index - 1];
}

static inline uint16_t
index_of_job(const struct aggregate_table *table, const struct job *job)
{
	return (uint16_t)(job - table->jobs);
}

static inline struct aggregate_entry *
find_entry(const struct aggregate_table *table, uint32_t slot, unsigned int which)
{
	return (struct aggregate_entry *)(void *)(table->entries +
		(2 * (size_t)slot + which) * table->entry_bytes);
}

/* Slots for a job: as many as asked, or the next lower power of two that there is; 0: none. */
uint32_t take_slots(struct aggregate_table *table, uint32_t asked, uint32_t *first);

/* Whether a job could have a slot, when what has ended is taken back. */
bool has_free_slot(struct aggregate_table *table);

/* What an ended job has taken is free again, if every shard has been between two packets since. */
void take_back_ended(struct aggregate_table *table);

/* What the shard has of a job, all new if the job is. */
struct shard_job *shard_view(struct aggregate_shard *shard, const struct job *job);

static inline uint64_t
worker_bit(unsigned int worker)
{
	return UINT64_C(1) << worker;
}

/* Joins and leaves, shard 0's. */
enum aggregate_action
join_job(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome);
enum aggregate_action
leave_job(struct aggregate_table *table, const struct aggregate_message *request,
	const struct aggregate_sender *sender, uint64_t now);

/* Keys of sessions. */

/** A job has got its session: make its keys, if there is a cluster's. Before it is published. */
void seal_make_keys(struct aggregate_table *table, struct job *job);

#endif /* TABLE_H */

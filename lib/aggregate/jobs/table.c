/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "sums/digits.h"
#include "jobs/table.h"

const char *
aggregate_limits_problem(const struct aggregate_limits *limits)
{
	if (limits->shards < 1 || limits->shards > AGGREGATE_MAX_SHARDS)
		return "shards must be 1 to 64";
	if (limits->jobs < 1 || limits->jobs > AGGREGATE_MAX_JOBS)
		return "jobs must be 1 to 1024";
	if (limits->slots < 1 || limits->slots > AGGREGATE_MAX_SLOTS)
		return "slots must be 1 to 32768";
	if (limits->workers < 1 || limits->workers > AGGREGATE_MAX_WORKERS)
		return "workers must be 1 to 64";
	if (limits->per_address < 1)
		return "per_address must not be 0";
	if (limits->bytes < 4 || limits->bytes > 65532)
		return "bytes must be 4 to 65532";
	if ((limits->formats & AGGREGATE_ALL_FORMATS) == 0)
		return "there must be a format";
	if ((limits->digits & ~limits->formats) != 0)
		return "digits can only be of formats that there are";
	if (limits->parent.port != 0 && limits->parent.retry == 0)
		return "the time after which the parent is asked again must not be 0";
	if (limits->isa > aggregate_isa_best())
		return "the processor does not have that instruction set";
	if (limits->cookie_period == 0)
		return "the time that cookies are good for must not be 0";
	return NULL;
}

/* Pieces of one memory, one after the other. */
struct pieces {
	uint8_t *memory; /* NULL: to know how much they are */
	size_t bytes;
};

static void *
next_piece(struct pieces *pieces, size_t count, size_t bytes)
{
	size_t at = pieces->bytes;

	pieces->bytes += (count * bytes + AGGREGATE_ALIGN - 1) / AGGREGATE_ALIGN * AGGREGATE_ALIGN;
	return pieces->memory == NULL ? NULL : pieces->memory + at;
}

/* Keys for both directions, if there are any at all. */
static struct aggregate_tag_key *
next_keys(struct pieces *pieces, const struct aggregate_limits *limits, size_t count)
{
	if (limits->secret == NULL)
		return NULL;
	return next_piece(pieces, count * SEAL_DIRECTIONS, sizeof(struct aggregate_tag_key));
}

static void
lay_out_shard(
	struct pieces *pieces, const struct aggregate_limits *limits, struct aggregate_shard *shard)
{
	struct shard_job *jobs = next_piece(pieces, limits->jobs, sizeof(*jobs));
	size_t places = (size_t)limits->jobs * limits->workers;
	struct aggregate_sender *senders = next_piece(pieces, places, sizeof(*senders));
	struct presence *presences = next_piece(pieces, places, sizeof(*presences));
	struct lateness *lateness = next_piece(pieces, places, sizeof(*lateness));
	struct aggregate_tag_key *spare_keys = next_keys(pieces, limits, 1);
	void *scratch = limits->parent.port == 0
		? NULL
		: next_piece(
			  pieces, 1, aggregate_totals_most_bytes(limits->formats, limits->bytes));

	if (pieces->memory == NULL)
		return;
	if (scratch != NULL)
		shard->scratch = totals_in(AGGREGATE_FP32, 0, scratch);
	shard->jobs = jobs;
	shard->spare_keys = spare_keys;
	for (uint32_t j = 0; j < limits->jobs; j++) {
		jobs[j].senders = senders + (size_t)j * limits->workers;
		jobs[j].presences = presences + (size_t)j * limits->workers;
		jobs[j].lateness = lateness + (size_t)j * limits->workers;
	}
}

/* All of a table but its entries, zeroed; `memory` NULL: to know how much it is. */
static size_t
lay_out(void *memory, const struct aggregate_limits *limits)
{
	struct pieces pieces = {memory, 0};
	struct aggregate_table *table = next_piece(&pieces, 1, sizeof(*table));
	struct aggregate_shard *shards = next_piece(&pieces, limits->shards, sizeof(*shards));
	struct job *jobs = next_piece(&pieces, limits->jobs, sizeof(*jobs));
	struct parent_member *parent_members = limits->parent.port == 0
		? NULL
		: next_piece(&pieces, limits->jobs, sizeof(*parent_members));
	uint16_t *index_of = next_piece(&pieces, JOB_NUMBERS, sizeof(*index_of));
	uint32_t *ended_of = next_piece(&pieces, ENDED_COUNTS, sizeof(*ended_of));
	uint8_t *slot_used = next_piece(&pieces, limits->slots, sizeof(*slot_used));
	struct aggregate_tag_key *join_keys = next_keys(&pieces, limits, 1);
	struct aggregate_tag_key *session_keys = next_keys(&pieces, limits, limits->jobs);
	struct aggregate_tag_key *parent_keys =
		limits->parent.port == 0 ? NULL : next_keys(&pieces, limits, limits->jobs);

	for (uint32_t s = 0; s < limits->shards; s++)
		lay_out_shard(&pieces, limits, memory == NULL ? NULL : &shards[s]);
	if (memory == NULL)
		return pieces.bytes;
	table->shards = shards;
	table->jobs = jobs;
	table->parent_members = parent_members;
	table->index_of = index_of;
	table->ended_of = ended_of;
	table->slot_used = slot_used;
	table->join_keys = join_keys;
	table->session_keys = session_keys;
	table->parent_keys = parent_keys;
	table->entries = (uint8_t *)memory + pieces.bytes;
	return pieces.bytes;
}

static size_t
entry_bytes(const struct aggregate_limits *limits)
{
	return aggregate_entry_bytes(limits->formats, limits->bytes) +
		aggregate_entry_digit_bytes(limits->digits, limits->bytes, limits->workers);
}

static void
init_entry(void *memory, const struct aggregate_limits *limits)
{
	struct aggregate_entry *entry = aggregate_entry_init(memory, limits->bytes);

	if (limits->digits != 0)
		aggregate_entry_take_digits(entry,
			(uint8_t *)memory + aggregate_entry_bytes(limits->formats, limits->bytes),
			limits->digits, limits->bytes, limits->workers);
}

size_t
aggregate_table_bytes(const struct aggregate_limits *limits)
{
	if (aggregate_limits_problem(limits) != NULL)
		return 0;
	return lay_out(NULL, limits) + 2 * (size_t)limits->slots * entry_bytes(limits);
}

struct aggregate_table *
aggregate_table_init(void *memory, const struct aggregate_limits *limits)
{
	struct aggregate_table *table = memory;

	memset(memory, 0, lay_out(NULL, limits));
	lay_out(memory, limits);
	table->limits = *limits;
	table->entry_bytes = entry_bytes(limits);
	for (enum aggregate_direction d = 0; limits->secret != NULL && d < SEAL_DIRECTIONS; d++)
		aggregate_tag_join_key(limits->secret, d, &table->join_keys[d]);
	for (uint32_t s = 0; s < limits->shards; s++) {
		table->shards[s].table = table;
		table->shards[s].number = s;
	}
	for (uint32_t slot = 0; slot < limits->slots; slot++)
		for (unsigned int which = 0; which < 2; which++)
			init_entry(find_entry(table, slot, which), limits);
	return table;
}

struct aggregate_shard *
aggregate_table_shard(struct aggregate_table *table, uint32_t s)
{
	return &table->shards[s];
}

static uint32_t
power_of_two_below(uint32_t number)
{
	return UINT32_C(1) << (31 - __builtin_clz(number));
}

uint32_t
take_slots(struct aggregate_table *table, uint32_t asked, uint32_t *first)
{
	uint32_t all = table->limits.slots;

	for (uint32_t slots = power_of_two_below(asked < all ? asked : all); slots > 0;
		slots /= 2) {
		for (uint32_t at = 0; at + slots <= all; at += slots) {
			if (memchr(table->slot_used + at, 1, slots) != NULL)
				continue;
			memset(table->slot_used + at, 1, slots);
			WRITE(table->slots_used, table->slots_used + slots);
			*first = at;
			return slots;
		}
	}
	return 0;
}

bool
has_free_slot(struct aggregate_table *table)
{
	if (table->slots_used == table->limits.slots)
		take_back_ended(table);
	return table->slots_used < table->limits.slots;
}

static uint64_t
least_quiet(const struct aggregate_table *table)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t s = 0; s < table->limits.shards; s++) {
		uint64_t quiet = OBSERVE(table->shards[s].quiet);

		least = quiet < least ? quiet : least;
	}
	return least;
}

void
take_back_ended(struct aggregate_table *table)
{
	uint64_t quiet = least_quiet(table);

	for (uint32_t j = 0; j < table->limits.jobs; j++) {
		struct job *job = &table->jobs[j];

		if (job->state != JOB_ENDED || job->ended > quiet)
			continue;
		memset(table->slot_used + job->first_slot, 0, job->slots);
		WRITE(table->slots_used, table->slots_used - job->slots);
		PUBLISH(job->state, JOB_FREE);
	}
}

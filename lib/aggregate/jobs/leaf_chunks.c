/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks on their way to the switch above, and its replies. */
#include <string.h>

#include "jobs/job.h"
#include "aggregate_leaf.h"

static bool
is_sum(unsigned int op)
{
	return op == AGGREGATE_SUM || op == AGGREGATE_MEAN;
}

bool
leaf_can_send(const struct aggregate_table *table, const struct job *job,
	const struct aggregate_message *request)
{
	return !is_sum(request->op) ||
		aggregate_totals_can_divide(request->format, request->count,
			parent_member_of(table, job)->bytes -
				aggregate_divisor_bytes(request->part.divisor));
}

void
leaf_explain(const struct aggregate_entry *entry, struct aggregate_outcome *outcome)
{
	outcome->code = entry->above.code;
	outcome->reason = entry->above.reason;
	outcome->absence = entry->above.absence;
	outcome->detail = entry->above.detail;
	outcome->level = entry->above.level;
}

static const struct parent_member *
parent_member_at(const struct aggregate_shard *shard, const struct aggregate_outcome *outcome)
{
	return &shard->table->parent_members[outcome->index];
}

uint16_t
aggregate_leaf_port(const struct aggregate_shard *shard, const struct aggregate_outcome *outcome)
{
	const struct parent_member *parent = parent_member_at(shard, outcome);

	return (uint16_t)(shard->table->limits.parent.port +
		aggregate_shard_of(outcome->entry->chunk, parent->slots, parent->shards));
}

unsigned int
aggregate_leaf_packets(struct aggregate_shard *shard, const struct aggregate_outcome *outcome)
{
	const struct aggregate_entry *entry = outcome->entry;

	shard->parts = 0;
	if (!is_sum(entry->op) || entry->zero)
		return 1;
	shard->upwards = aggregate_entry_totals(entry, &shard->scratch);
	shard->parts = (uint8_t)aggregate_totals_divide(&shard->upwards,
		parent_member_at(shard, outcome)->bytes - aggregate_divisor_bytes(entry->divisor),
		shard->ends);
	return shard->parts;
}

/* A number for each time that sums are sent: 0 at first. */
static uint32_t
turn_of(const struct aggregate_above *above)
{
	return aggregate_scatter(above->sent - above->unheard);
}

static size_t
write_part(const struct aggregate_shard *shard, unsigned int part, uint32_t bytes, uint32_t divisor,
	uint8_t *into)
{
	const uint16_t first = part == 0 ? 0 : shard->ends[part - 1];
	const size_t used = aggregate_totals_write_part(&shard->upwards, first,
		(uint16_t)(shard->ends[part] - first), (uint8_t)part, shard->parts, into, bytes);

	return aggregate_part_put_divisor(into, used, divisor);
}

size_t
aggregate_leaf_write(struct aggregate_shard *shard, const struct aggregate_outcome *outcome,
	unsigned int packet, uint8_t *payload)
{
	const struct parent_member *parent = parent_member_at(shard, outcome);
	const struct aggregate_entry *entry = outcome->entry;
	const struct aggregate_message message = {.op = entry->op,
		.format = entry->format,
		.worker = parent->member.worker,
		.count = entry->count,
		.job = parent->member.job,
		.id = entry->chunk,
		.label = entry->label,
		.zeros = entry->zero,
		.session = parent->member.session,
		.part.parts = shard->parts};
	uint8_t *values = payload + AGGREGATE_HEADER_BYTES;
	size_t bytes = (size_t)entry->count * aggregate_value_bytes(entry->format);

	aggregate_build_request(payload, &message);
	if (entry->label != 0)
		bytes = AGGREGATE_LABEL_BYTES; /* it has been written */
	else if (entry->zero)
		bytes = 0;
	else if (shard->parts != 0)
		bytes = write_part(shard,
			aggregate_part_in_turn(shard->parts, turn_of(&entry->above), packet),
			parent->bytes, entry->divisor, values);
	else
		memcpy(values, entry->result, bytes);
	return leaf_seal_chunk(shard, outcome, payload, AGGREGATE_HEADER_BYTES + bytes);
}

static bool
is_from_parent(const struct aggregate_limits *limits, const struct aggregate_sender *sender)
{
	return memcmp(sender->address, limits->parent.address, sizeof(sender->address)) == 0;
}

/* Whether a reply comes from the port that its request was sent to. */
static bool
is_from_shard(const struct aggregate_limits *limits, const struct aggregate_sender *sender,
	uint32_t parent_shard)
{
	return sender->port == (uint16_t)(limits->parent.port + parent_shard);
}

/* The entry that waits for a reply; NULL: none does. */
static struct aggregate_entry *
find_waiting(const struct aggregate_shard *shard, const struct job *job,
	const struct aggregate_message *reply)
{
	const struct aggregate_table *table = shard->table;
	struct aggregate_entry *entry =
		find_entry(table, job->first_slot + (reply->id & (job->slots - 1u)),
			aggregate_entry_of(reply->id, job->slots));

	if (aggregate_shard_of(reply->id, job->slots, table->limits.shards) != shard->number)
		return NULL;
	return entry->state == AGGREGATE_ABOVE && entry->chunk == reply->id &&
			entry->op == reply->op && entry->format == reply->format
		? entry
		: NULL;
}

/* Whether a reply is the whole result of an entry's chunk. */
static bool
is_result(const struct job *job, const struct aggregate_entry *entry,
	const struct aggregate_message *reply)
{
	if (reply->code != NETFC_STATUS_OK || reply->count != entry->count)
		return false;
	if (entry->op == AGGREGATE_COPY)
		return reply->reason == AGGREGATE_ACKNOWLEDGED;
	if (reply->reason == AGGREGATE_ZEROS)
		return (job->features & AGGREGATE_FEATURE_ZEROS) != 0;
	return reply->reason == AGGREGATE_ROUNDED && reply->values != NULL;
}

/* The reply becomes a request of the chunk that all members sent, or what refuses it. */
static void
address_to_all(const struct aggregate_shard *shard, const struct job *job,
	const struct aggregate_entry *entry, struct aggregate_message *reply,
	struct aggregate_outcome *outcome)
{
	outcome->entry = entry;
	outcome->workers = job->workers;
	outcome->index = index_of_job(shard->table, job);
	reply->session = job->session;
	reply->count = entry->count;
	reply->owner = reply->flags = 0;
	reply->values = NULL;
}

static enum aggregate_action
hand_down(struct aggregate_shard *shard, const struct job *job, struct aggregate_entry *entry,
	struct aggregate_message *reply, struct aggregate_outcome *outcome)
{
	entry->marked |= reply->marked;
	aggregate_entry_complete(entry, reply->reason, reply->values, reply->flags);
	address_to_all(shard, job, entry, reply, outcome);
	reply->reason = reply->code = 0;
	return AGGREGATE_HANDED_DOWN;
}

/* Members that miss the refusal retransmit. Returns whether it differs from the one before. */
static bool
note_refusal(struct aggregate_entry *entry, const struct aggregate_message *reply, uint64_t now)
{
	const struct aggregate_above before = entry->above;

	entry->above = (struct aggregate_above){.sent = before.sent,
		.unheard = now,
		.heard = now,
		.code = reply->code,
		.reason = reply->reason,
		.absence = reply->absence,
		.detail = reply->detail,
		.level = reply->level};
	return before.code != reply->code || before.reason != reply->reason ||
		before.absence != reply->absence || before.detail != reply->detail ||
		before.level != reply->level;
}

/* This leaf's members differ from another's: its own members hear the same as those. */
static void
name_this_leaf(const struct parent_member *parent, struct aggregate_message *reply)
{
	reply->reason = (uint8_t)(AGGREGATE_MISSING + parent->member.worker);
	reply->absence = AGGREGATE_ABSENT_FAILED;
	reply->detail = AGGREGATE_REASON_MISMATCH;
	reply->level = 0;
}

/* Send a refusal to all members at once: those that wait for others seldom retransmit. */
static enum aggregate_action
refuse_down(struct aggregate_shard *shard, struct job *job, struct aggregate_entry *entry,
	struct aggregate_message *reply, uint64_t now, struct aggregate_outcome *outcome)
{
	if (reply->code != AGGREGATE_STATUS_CODE || reply->reason == AGGREGATE_REASON_NONE ||
		reply->level >= AGGREGATE_MAX_LEVELS)
		reply->reason = AGGREGATE_REASON_PARENT;
	else if (reply->reason == AGGREGATE_REASON_MISMATCH)
		name_this_leaf(parent_member_of(shard->table, job), reply);
	reply->level++;
	if (reply->reason == AGGREGATE_REASON_NO_JOB)
		PUBLISH(job->lost, 1);
	if (!note_refusal(entry, reply, now))
		return AGGREGATE_PARENT_ANSWERED;
	address_to_all(shard, job, entry, reply, outcome);
	leaf_explain(entry, outcome);
	return AGGREGATE_REFUSAL_DOWN;
}

static enum aggregate_action
take_chunk_reply(struct aggregate_shard *shard, struct aggregate_message *reply,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome)
{
	const struct aggregate_table *table = shard->table;
	struct job *job = find_open_job(table, reply->job);
	struct aggregate_entry *entry;
	struct parent_member *parent;

	if (job == NULL || OBSERVE(job->state) != JOB_OPEN || job->place.levels == 0)
		return AGGREGATE_STRAY_REPLY;
	parent = parent_member_of(table, job);
	if (!is_from_parent(&table->limits, sender))
		return AGGREGATE_FORGED_REPLY;
	/* A late one of an earlier job, to which the parent granted other slots, maybe. */
	if (reply->session != parent->member.session || reply->worker != parent->member.worker)
		return AGGREGATE_STRAY_REPLY;
	if (!is_from_shard(&table->limits, sender,
		    aggregate_shard_of(reply->id, parent->slots, parent->shards)))
		return AGGREGATE_FORGED_REPLY;
	entry = find_waiting(shard, job, reply);
	if (entry == NULL)
		return AGGREGATE_STRAY_REPLY;
	WRITE(parent->heard, now);
	if (is_result(job, entry, reply))
		return hand_down(shard, job, entry, reply, outcome);
	if (reply->code == NETFC_STATUS_OK)
		return AGGREGATE_STRAY_REPLY;
	return refuse_down(shard, job, entry, reply, now, outcome);
}

static enum aggregate_action
take_reply(struct aggregate_shard *shard, struct aggregate_message *reply,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome)
{
	if (shard->table->limits.parent.port == 0)
		return AGGREGATE_FORGED_REPLY;
	if (reply->op != AGGREGATE_JOIN && reply->op != AGGREGATE_LEAVE)
		return take_chunk_reply(shard, reply, sender, now, outcome);
	if (shard->number != 0)
		return AGGREGATE_STRAY_REPLY;
	return is_from_parent(&shard->table->limits, sender) &&
			is_from_shard(&shard->table->limits, sender, 0)
		? leaf_take_reply(shard->table, reply, now)
		: AGGREGATE_FORGED_REPLY;
}

void
aggregate_leaf_reply(struct aggregate_shard *shard, struct aggregate_message *reply,
	const struct aggregate_sender *sender, uint64_t now, struct aggregate_outcome *outcome)
{
	*outcome = (struct aggregate_outcome){.worker = reply->worker};
	outcome->action = take_reply(shard, reply, sender, now, outcome);
	COUNT(shard->counters.actions[outcome->action], 1);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches: real tables, what of their memory is a part, and what they do. */
#include <stdlib.h>
#include <string.h>

#include "aggregate_leaf.h"
#include "block.h"
#include "jobs/job.h"
#include "restarts.h"

#define SLOTS 2
#define ENTRIES (2 * SLOTS)
#define MOST_PIECES 32
#define LEAVES 5 /* that go unanswered, before the parent is left to find out */

/* What a part begins with. */
struct head {
	uint8_t key[AGGREGATE_KEY_BYTES]; /* with the switch's number, and how often it was started
					   */
	uint32_t ended;
	uint16_t index_of;
};

struct piece {
	void *at;
	size_t bytes;
};

struct sw {
	struct aggregate_table *table;
	unsigned int pieces;
	struct piece piece[MOST_PIECES];
	size_t bytes;   /* of all */
	uint8_t *empty; /* the entries as they are at first */
};

static struct sw sws[MOST_SWITCHES];

static struct aggregate_limits
limits_of(unsigned int s)
{
	struct aggregate_limits limits = {.shards = 1,
		.jobs = JOBS,
		.slots = SLOTS,
		.workers = WORKERS,
		.bytes = BYTES,
		.formats = 1u << AGGREGATE_INT32,
		.digits = 1u << AGGREGATE_INT32,
		.isa = AGGREGATE_PLAIN,
		.per_address = JOBS,
		.idle = IDLE,
		.half_open = HALF_OPEN,
		.stall = STALL,
		.cookie_period = UINT64_MAX / 2,
		.key = {(uint8_t)s, 0, 'k'}};

	if (s != ROOT)
		limits.parent = (struct aggregate_parent){.address = {[15] = shape->parent[s]},
			.port = SWITCH_PORT,
			.retry = RETRY,
			.repeat = REPEAT};
	return limits;
}

/* ---- Parts ---- */

static void
add_piece(struct sw *sw, void *at, size_t bytes)
{
	sw->piece[sw->pieces++] = (struct piece){at, bytes};
	sw->bytes += bytes;
}

static void
add_job(struct sw *sw, unsigned int j)
{
	struct aggregate_table *table = sw->table;
	struct shard_job *view = &table->shards[0].jobs[j];

	add_piece(
		sw, &table->jobs[j], offsetof(struct job, places) + WORKERS * sizeof(struct place));
	if (table->parent_members != NULL)
		add_piece(sw, &table->parent_members[j], sizeof(table->parent_members[j]));
	add_piece(sw, view, offsetof(struct shard_job, counters));
	add_piece(sw, view->senders, WORKERS * sizeof(*view->senders));
	add_piece(sw, view->presences, WORKERS * sizeof(*view->presences));
}

static void
add_pieces(struct sw *sw)
{
	struct aggregate_table *table = sw->table;

	add_piece(sw, &table->epoch, sizeof(table->epoch));
	add_piece(sw, &table->generation, sizeof(table->generation));
	add_piece(sw, &table->jobs_used, sizeof(table->jobs_used));
	add_piece(sw, &table->slots_used, sizeof(table->slots_used));
	add_piece(sw, table->slot_used, SLOTS);
	add_piece(sw, &table->shards[0].quiet, sizeof(table->shards[0].quiet));
	for (unsigned int j = 0; j < JOBS; j++)
		add_job(sw, j);
	add_piece(sw, table->entries, ENTRIES * table->entry_bytes);
}

size_t
switch_bytes(void)
{
	size_t most = 0;

	for (unsigned int s = 0; s < shape->switches; s++)
		most = sws[s].bytes > most ? sws[s].bytes : most;
	return sizeof(struct head) + most;
}

void
switches_start(void)
{
	for (unsigned int s = 0; s < shape->switches; s++) {
		const struct aggregate_limits limits = limits_of(s);
		struct sw *sw = &sws[s];

		sw->table = aggregate_table_init(allocate(aggregate_table_bytes(&limits)), &limits);
		sw->empty = allocate(ENTRIES * sw->table->entry_bytes);
		memcpy(sw->empty, sw->table->entries, ENTRIES * sw->table->entry_bytes);
		add_pieces(sw);
	}
}

void
switches_stop(void)
{
	for (unsigned int s = 0; s < shape->switches; s++) {
		free(sws[s].table);
		free(sws[s].empty);
	}
}

void
switch_load(unsigned int s, const void *bytes)
{
	struct sw *sw = &sws[s];
	struct aggregate_table *table = sw->table;
	const uint8_t *at = (const uint8_t *)bytes + sizeof(struct head);
	struct head head;

	memcpy(&head, bytes, sizeof(head));
	*job_ended_count(table, JOB_NUMBER, TOKEN) = 0;
	memcpy(table->limits.key, head.key, sizeof(head.key));
	*job_ended_count(table, JOB_NUMBER, TOKEN) = head.ended;
	table->index_of[JOB_NUMBER] = head.index_of;
	for (unsigned int p = 0; p < sw->pieces; p++) {
		memcpy(sw->piece[p].at, at, sw->piece[p].bytes);
		at += sw->piece[p].bytes;
	}
}

/* ---- What does not matter is always the same ---- */

static void
settle_view(struct shard_job *view, const struct job *job)
{
	const bool is_there = job->state == JOB_OPEN && view->generation == job->generation;

	if (!is_there) {
		memset(view, 0, offsetof(struct shard_job, counters));
		memset(view->senders, 0, WORKERS * sizeof(*view->senders));
		memset(view->presences, 0, WORKERS * sizeof(*view->presences));
		return;
	}
	view->latest = NOW;
	for (unsigned int w = 0; w < WORKERS; w++)
		if (view->presences[w].heard != 0)
			view->presences[w] = (struct presence){NOW, NOW};
}

static void
settle_job(struct job *job)
{
	const struct job was = *job;

	if (job->state == JOB_JOINING || job->state == JOB_OPEN) {
		job->latest = NOW;
		for (unsigned int w = 0; w < WORKERS; w++)
			job->places[w].heard = NOW;
		return;
	}
	memset(job, 0, sizeof(*job));
	job->state = was.state;
	if (was.state == JOB_ENDED) {
		job->ended = was.ended;
		job->first_slot = was.first_slot;
		job->slots = was.slots;
	}
}

static void
settle_parent(struct parent_member *parent, const struct job *job)
{
	if (parent->member.state == AGGREGATE_MEMBER_NONE && job->state != JOB_OPEN)
		memset(parent, 0, sizeof(*parent));
	parent->heard = 0;
	member_forget_times(&parent->member);
}

static bool
is_in_use(const struct aggregate_table *table, uint32_t slot)
{
	const struct job *job = find_open_job(table, JOB_NUMBER);

	return job != NULL && slot >= job->first_slot && slot < job->first_slot + job->slots;
}

static void
settle_entry(struct sw *sw, unsigned int e)
{
	struct aggregate_entry *entry = find_entry(sw->table, e / 2, e % 2);
	const struct aggregate_above above = entry->above;

	if (entry->state == AGGREGATE_EMPTY || !is_in_use(sw->table, e / 2)) {
		memcpy(entry, sw->empty + e * sw->table->entry_bytes, sw->table->entry_bytes);
		return;
	}
	entry->begun = NOW;
	entry->latest = NOW;
	entry->above = (struct aggregate_above){0};
	if (entry->state != AGGREGATE_ABOVE)
		return;
	entry->above = above;
	entry->above.unheard = entry->above.heard = NOW;
	entry->above.sent = above.sent == NOW ? NOW : NOW - REPEAT;
}

static void
settle(struct sw *sw)
{
	struct aggregate_table *table = sw->table;
	bool ended = false;

	for (unsigned int j = 0; j < JOBS; j++) {
		settle_job(&table->jobs[j]);
		settle_view(&table->shards[0].jobs[j], &table->jobs[j]);
		if (table->parent_members != NULL)
			settle_parent(&table->parent_members[j], &table->jobs[j]);
	}
	for (unsigned int e = 0; e < ENTRIES; e++)
		settle_entry(sw, e);
	for (unsigned int j = 0; j < JOBS; j++)
		ended |= table->jobs[j].state == JOB_ENDED;
	if (!ended)
		table->epoch = table->shards[0].quiet = 0;
}

size_t
switch_save(unsigned int s, void *bytes)
{
	struct sw *sw = &sws[s];
	struct head head = {.ended = *job_ended_count(sw->table, JOB_NUMBER, TOKEN),
		.index_of = sw->table->index_of[JOB_NUMBER]};
	uint8_t *at = bytes;

	settle(sw);
	memcpy(head.key, sw->table->limits.key, sizeof(head.key));
	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	for (unsigned int p = 0; p < sw->pieces; p++) {
		memcpy(at, sw->piece[p].at, sw->piece[p].bytes);
		at += sw->piece[p].bytes;
	}
	return (size_t)(at - (uint8_t *)bytes);
}

void
switch_start_anew(unsigned int s)
{
	struct aggregate_limits limits = limits_of(s);

	limits.key[1] = sws[s].table->limits.key[1] + 1;
	aggregate_table_init(sws[s].table, &limits);
}

/* ---- What it does ---- */

static struct packet *
add(struct sent *sent)
{
	if (sent->count == MOST_SENT)
		fail("a switch sends too many packets");
	return &sent->packet[sent->count++];
}

static void
send_results(unsigned int s, struct aggregate_shard *shard, const struct aggregate_message *request,
	const struct aggregate_outcome *outcome, struct sent *sent)
{
	for (uint8_t w = 0; w < outcome->workers; w++) {
		const uint32_t bytes = aggregate_result_bytes(outcome->entry, w);
		struct packet *packet = add(sent);

		*packet = (struct packet){.from = (uint8_t)s,
			.to = aggregate_worker_sender(shard, outcome->index, w)->address[15],
			.from_port = SWITCH_PORT,
			.to_port = outcome->entry->ports[w],
			.length = (uint16_t)(AGGREGATE_HEADER_BYTES + bytes)};
		aggregate_build_result(packet->bytes, request, w,
			(uint8_t)aggregate_result_kind(outcome->entry, w), outcome->entry->flags,
			outcome->entry->result, bytes);
	}
}

static void
send_upwards(unsigned int s, struct aggregate_shard *shard, const struct aggregate_outcome *outcome,
	struct sent *sent)
{
	const unsigned int packets = aggregate_leaf_packets(shard, outcome);

	for (unsigned int p = 0; p < packets; p++) {
		struct packet *packet = add(sent);

		*packet = (struct packet){.from = (uint8_t)s,
			.to = shape->parent[s],
			.from_port = SWITCH_PORT,
			.to_port = aggregate_leaf_port(shard, outcome)};
		packet->length = (uint16_t)aggregate_leaf_write(shard, outcome, p, packet->bytes);
	}
}

static void
reply(const struct packet *request, const struct aggregate_outcome *outcome, struct sent *sent)
{
	struct packet *packet = add(sent);

	*packet = *request;
	packet->from = request->to;
	packet->to = request->from;
	packet->from_port = request->to_port;
	packet->to_port = request->from_port;
	packet->length = (uint16_t)aggregate_write_reply(packet->bytes, packet->length, outcome);
}

void
switch_take(unsigned int s, const struct packet *packet, uint64_t now, struct sent *sent)
{
	struct aggregate_shard *shard = aggregate_table_shard(sws[s].table, 0);
	const struct aggregate_sender sender = {
		.address = {[15] = packet->from}, .port = packet->from_port};
	struct aggregate_message message;
	struct aggregate_outcome outcome;
	struct aggregate_seal seal;

	if (aggregate_shard_read(shard, packet->bytes, packet->length, &message, &seal) == 0)
		aggregate_shard_packet(shard, &message, &sender, now, &outcome);
	else if (aggregate_leaf_read(shard, packet->bytes, packet->length, &message) == 0)
		aggregate_leaf_reply(shard, &message, &sender, now, &outcome);
	else
		fail("a switch gets what is neither a request nor a reply");
	switch (aggregate_action_send(outcome.action)) {
	case AGGREGATE_SEND_NOTHING:
		break;
	case AGGREGATE_SEND_REPLY:
	case AGGREGATE_SEND_RESULT:
		reply(packet, &outcome, sent);
		break;
	case AGGREGATE_SEND_RESULTS:
		send_results(s, shard, &message, &outcome, sent);
		break;
	case AGGREGATE_SEND_UPWARDS:
		send_upwards(s, shard, &outcome, sent);
		break;
	}
}

/* The member that has sent a message has sent no more of this state than there are ids for. */
static void
limit_ids(struct aggregate_table *table, struct aggregate_message *message)
{
	for (unsigned int j = 0; j < JOBS; j++) {
		struct aggregate_member *member = &table->parent_members[j].member;

		if (member->state == AGGREGATE_MEMBER_NONE || member->id != message->id)
			continue;
		member_limit_ids(member);
		message->id = member->id;
		return;
	}
}

static bool
poll_once(unsigned int s, uint64_t now, struct sent *sent)
{
	struct aggregate_shard *shard = aggregate_table_shard(sws[s].table, 0);
	struct aggregate_message message;
	struct packet *packet;

	if (!aggregate_leaf_poll(shard, now, &message))
		return false;
	limit_ids(sws[s].table, &message);
	packet = add(sent);
	*packet = (struct packet){.from = (uint8_t)s,
		.to = shape->parent[s],
		.from_port = SWITCH_PORT,
		.to_port = SWITCH_PORT};
	packet->length = (uint16_t)aggregate_leaf_build(shard, &message, packet->bytes);
	return true;
}

void
switch_poll(unsigned int s, uint64_t now, struct sent *sent)
{
	while (poll_once(s, now, sent))
		;
}

/* Nothing of other jobs is due, nor a sign of life if there are to be none. */
static void
let_be_due(struct aggregate_table *table, unsigned int job)
{
	for (unsigned int j = 0; j < JOBS; j++) {
		struct aggregate_member *member = &table->parent_members[j].member;

		member->next = j == job ? 0 : NOW;
		member->sent = j == job && keep_alive ? 0 : NOW;
	}
}

void
switch_poll_job(unsigned int s, unsigned int job, struct sent *sent)
{
	let_be_due(sws[s].table, job);
	poll_once(s, NOW - 1, sent);
}

void
switch_give_up(unsigned int s, unsigned int job)
{
	struct aggregate_member *member = &sws[s].table->parent_members[job].member;
	struct sent sent = {0};

	if (member->state != AGGREGATE_MEMBER_LEAVING)
		return;
	let_be_due(sws[s].table, job);
	member->unanswered = LEAVES;
	poll_once(s, NOW - 1, &sent);
}

void
switch_pause(unsigned int s, uint64_t now)
{
	struct aggregate_table *table = sws[s].table;

	aggregate_shard_quiescent(aggregate_table_shard(table, 0));
	aggregate_table_poll(table, now);
	for (unsigned int e = 0; e < ENTRIES; e++)
		find_entry(table, e / 2, e % 2)->above.sent -= REPEAT;
}

void
switch_miss(unsigned int s, unsigned int member)
{
	struct aggregate_table *table = sws[s].table;

	for (unsigned int j = 0; j < JOBS; j++) {
		struct job *job = &table->jobs[j];

		job->places[member].heard = NOW - HALF_OPEN;
		if ((job->joined & ~worker_bit(member)) == 0)
			job->latest = NOW - HALF_OPEN;
	}
	aggregate_table_poll(table, NOW);
}

void
switch_miss_all(unsigned int s)
{
	aggregate_table_poll(sws[s].table, NOW + IDLE);
}

bool
switch_is_empty(unsigned int s)
{
	const struct aggregate_table *table = sws[s].table;
	bool empty =
		table->jobs_used == 0 && table->slots_used == 0 && table->index_of[JOB_NUMBER] == 0;

	for (unsigned int j = 0; j < JOBS; j++) {
		empty &= table->jobs[j].state == JOB_FREE;
		empty &= table->parent_members == NULL ||
			table->parent_members[j].member.state == AGGREGATE_MEMBER_NONE;
	}
	return empty;
}

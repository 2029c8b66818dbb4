/* SPDX-License-Identifier: BSD-3-Clause */
/* The real table, put into the state that the model has, and what it makes of a packet. */
#include <stdlib.h>
#include <string.h>

#include "jobs/cookie.h"
#include "exact.h"
#include "incarnations.h"
#include "jobs/job.h"
#include "sums/lanes.h"

#define NOW UINT64_C(1000000) /* ticks: no time goes by, but where it says so */
#define HALF_OPEN 1000
#define IDLE 100000
#define QUIET 10 /* the epoch that the shard has seen */
#define FIRST_PORT 5000
#define NO_SESSION 0xdead

static struct aggregate_limits limits;
static struct aggregate_table *table;
/* By ended, serial. */
static uint64_t cookies[WORKERS][PORTS][INCARNATIONS][NUMBERS][NUMBERS];
static uint64_t sessions[NUMBERS]; /* by generation */

/* Two processes, one after the other, have the same UDP port. */
static struct aggregate_sender
sender_of(unsigned int worker, unsigned int port)
{
	return (struct aggregate_sender){.address = {[15] = (uint8_t)(1 + worker)},
		.port = (uint16_t)(FIRST_PORT + port / PROCESSES)};
}

/* As joins have it: another for each process and for each job that it joins. */
static uint64_t
incarnation_of(unsigned int port, unsigned int incarnation)
{
	return 1 + port * INCARNATIONS + incarnation;
}

static uint64_t
make_cookie(unsigned int worker, unsigned int port, unsigned int incarnation, uint32_t ended,
	uint32_t serial)
{
	const struct aggregate_sender sender = sender_of(worker, port);
	const struct cookie_subject subject = {.sender = &sender,
		.token = TOKEN,
		.incarnation = incarnation_of(port, incarnation),
		.ended = ended,
		.serial = serial,
		.job = NUMBER,
		.worker = (uint8_t)worker};

	return cookie_make(&limits, &subject, NOW);
}

static void
make_cookies(unsigned int w, unsigned int port, unsigned int incarnation)
{
	for (uint32_t e = 0; e < NUMBERS; e++)
		for (uint32_t s = 0; s < NUMBERS; s++)
			cookies[w][port][incarnation][e][s] =
				make_cookie(w, port, incarnation, e, s);
}

void
table_start(uint32_t slots)
{
	limits = (struct aggregate_limits){.shards = 1,
		.jobs = JOBS,
		.slots = slots,
		.workers = WORKERS,
		.bytes = 4,
		.formats = 1u << AGGREGATE_INT32,
		.isa = AGGREGATE_PLAIN,
		.per_address = JOBS,
		.idle = IDLE,
		.half_open = HALF_OPEN,
		.stall = UINT64_MAX,
		.cookie_period = UINT64_MAX / 2,
		.key = "sixteen bytes..."};
	table = aligned_alloc(AGGREGATE_ALIGN, aggregate_table_bytes(&limits));
	if (table == NULL)
		exit(1);
	aggregate_table_init(table, &limits);
	for (unsigned int w = 0; w < WORKERS; w++)
		for (unsigned int p = 0; p < PORTS; p++)
			for (unsigned int i = 0; i < INCARNATIONS; i++)
				make_cookies(w, p, i);
	for (uint32_t g = 1; g < NUMBERS; g++)
		sessions[g] = cookie_session(&limits, g);
	sessions[0] = NO_SESSION;
}

void
table_stop(void)
{
	free(table);
}

/* ---- Values ---- */

static uint32_t
value_of(uint32_t chunk, unsigned int worker, unsigned int incarnation)
{
	return (chunk + 1) * 1000 + (worker + 1) * (37 + 100000 * incarnation);
}

static uint32_t
sum_of(uint32_t chunk, unsigned int seen, unsigned int parts)
{
	uint32_t sum = 0;

	for (unsigned int w = 0; w < WORKERS; w++)
		sum += seen >> w & 1 ? value_of(chunk, w, parts >> w & 1) : 0;
	return sum;
}

/* Chunks are, in turn, copies from one, sums for one and sums for all. */
static bool
is_copy(uint32_t chunk)
{
	return chunk % 3 == 0;
}

static unsigned int
owner_of(uint32_t chunk)
{
	return chunk / 3 % WORKERS;
}

static uint8_t
owner_byte(uint32_t chunk)
{
	return chunk % 3 == 2 ? 0 : (uint8_t)(AGGREGATE_OWNER + owner_of(chunk));
}

/* Of those seen, whose values make the result. */
static unsigned int
givers(uint32_t chunk, unsigned int seen)
{
	return is_copy(chunk) ? seen & 1u << owner_of(chunk) : seen;
}

/* Whose values are in a sum. */
static uint8_t
parts_of(const struct model *model, uint32_t chunk, unsigned int seen, uint32_t sum)
{
	seen = givers(chunk, seen);
	if (seen == 0)
		return 0;
	for (unsigned int parts = 0; parts < 1u << WORKERS; parts++)
		if ((parts & ~seen) == 0 && sum_of(chunk, seen, parts) == sum)
			return (uint8_t)parts;
	fail("a sum of nobody's values", model);
}

/* ---- The model's state into the table ---- */

static void
restore_entry(const struct model_entry *from, unsigned int e)
{
	const struct aggregate_kernel *kernel =
		aggregate_kernel(AGGREGATE_PLAIN, AGGREGATE_SUM, AGGREGATE_INT32);
	struct aggregate_entry *entry = find_entry(table, e / 2, e % 2);
	uint8_t packet[4];

	entry->state = from->state;
	entry->chunk = from->round * limits.slots + e / 2;
	entry->seen = from->seen;
	entry->op = is_copy(entry->chunk) ? AGGREGATE_COPY : AGGREGATE_SUM;
	entry->owner = owner_byte(entry->chunk);
	entry->format = AGGREGATE_INT32;
	entry->count = 1;
	entry->kernel = is_copy(entry->chunk) ? NULL : kernel;
	for (unsigned int w = 0; w < WORKERS; w++)
		entry->ports[w] = (uint16_t)(FIRST_PORT + from->port[w] / PROCESSES);
	data_put(AGGREGATE_INT32, packet, 0,
		sum_of(entry->chunk, givers(entry->chunk, from->seen), from->parts));
	kernel->begin(entry->lanes, packet, 1);
	memcpy(entry->result, packet, sizeof(packet));
}

/* What nobody has begun with: a job that opens has to empty its slots. */
static void
poison_entries(void)
{
	const struct model_entry poison = {.state = AGGREGATE_COMPLETE, .round = 2, .seen = 3};

	for (unsigned int e = 0; e < 2 * limits.slots; e++)
		restore_entry(&poison, e);
}

static void
restore_job(const struct model_job *from, struct job *job)
{
	job->state = from->state;
	job->generation = from->generation;
	job->failure = 0;
	job->token = TOKEN;
	job->session = from->state == JOB_OPEN ? sessions[from->generation] : NO_SESSION;
	job->joined = from->joined;
	job->left = from->left;
	job->latest = NOW;
	job->ended = from->released ? QUIET : QUIET + 1;
	job->first_slot = 0;
	job->number = NUMBER;
	job->slots = (uint16_t)(from->state == JOB_JOINING ? 0 : limits.slots);
	job->bytes = 4;
	job->asked_slots = (uint16_t)limits.slots;
	job->least_bytes = job->most_bytes = 4;
	job->workers = WORKERS;
	for (unsigned int w = 0; w < WORKERS; w++) {
		const struct aggregate_sender sender = sender_of(w, from->port[w]);

		job->places[w].heard = NOW;
		job->places[w].least_bytes = job->places[w].most_bytes = 4;
		memcpy(job->places[w].address, sender.address, sizeof(sender.address));
		job->places[w].port = sender.port;
		job->places[w].serial = from->serial[w];
		job->places[w].incarnation = incarnation_of(from->port[w], from->incarnation[w]);
	}
}

static void
restore(const struct model *model)
{
	bool has_slots = false;

	table->generation = model->generation;
	table->epoch = table->shards[0].quiet = QUIET;
	table->jobs_used = 0;
	table->index_of[NUMBER] = 0;
	*job_ended_count(table, NUMBER, TOKEN) = model->ended;
	poison_entries();
	for (unsigned int j = 0; j < JOBS; j++) {
		const struct model_job *job = &model->job[j];

		restore_job(job, &table->jobs[j]);
		table->shards[0].jobs[j].generation = 0;
		has_slots |= job->state == JOB_OPEN || job->state == JOB_ENDED;
		table->jobs_used += job->state == JOB_OPEN || job->state == JOB_JOINING;
		if (job->state == JOB_ENDED && !job->released)
			table->epoch = QUIET + 1;
		if (job->state != JOB_OPEN)
			continue;
		table->index_of[NUMBER] = (uint16_t)(j + 1);
		for (unsigned int e = 0; e < 2 * limits.slots; e++)
			restore_entry(&model->entry[e], e);
	}
	memset(table->slot_used, has_slots, limits.slots);
	table->slots_used = has_slots ? limits.slots : 0;
}

/* ---- The table's state into the model ---- */

static void
keep_entry(struct model *model, unsigned int e)
{
	const struct aggregate_entry *entry = find_entry(table, e / 2, e % 2);
	struct model_entry *to = &model->entry[e];
	uint32_t sum;

	*to = (struct model_entry){.state = entry->state};
	if (entry->state == AGGREGATE_EMPTY)
		return;
	to->round = (uint8_t)(entry->chunk / limits.slots);
	to->seen = (uint8_t)entry->seen;
	sum = entry->state == AGGREGATE_OPEN && !is_copy(entry->chunk)
		? (uint32_t)entry->lanes->sums[0]
		: data_get(AGGREGATE_INT32, entry->result, 0);
	to->parts = parts_of(model, entry->chunk, to->seen, sum);
	for (unsigned int w = 0; w < WORKERS; w++)
		to->port[w] = to->seen >> w & 1
			? (uint8_t)((entry->ports[w] - FIRST_PORT) * PROCESSES)
			: 0;
}

/* Of a job that is over nothing counts but that its slots are not free yet. */
static void
keep_job(struct model_job *to, const struct job *job)
{
	*to = (struct model_job){.state = (uint8_t)job->state};
	to->released = job->state == JOB_ENDED && job->ended <= table->shards[0].quiet;
	if (job->state == JOB_FREE || job->state == JOB_ENDED)
		return;
	to->generation = (uint8_t)job->generation;
	to->joined = (uint8_t)job->joined;
	to->left = (uint8_t)job->left;
	for (unsigned int w = 0; w < WORKERS; w++) {
		if ((job->joined & worker_bit(w)) != 0) {
			const uint64_t number = job->places[w].incarnation - 1;

			to->port[w] = (uint8_t)(number / INCARNATIONS);
			to->incarnation[w] = (uint8_t)(number % INCARNATIONS);
		}
		to->serial[w] = (uint8_t)job->places[w].serial;
	}
}

static void
keep(struct model *model)
{
	bool open = false;

	if (table->generation >= NUMBERS || *job_ended_count(table, NUMBER, TOKEN) >= NUMBERS)
		fail("the model has too few numbers", model);
	model->generation = (uint8_t)table->generation;
	model->ended = (uint8_t)*job_ended_count(table, NUMBER, TOKEN);
	for (unsigned int j = 0; j < JOBS; j++) {
		keep_job(&model->job[j], &table->jobs[j]);
		open |= model->job[j].state == JOB_OPEN;
	}
	memset(model->entry, 0, sizeof(model->entry));
	for (unsigned int e = 0; open && e < 2 * limits.slots; e++)
		keep_entry(model, e);
}

/* ---- Packets ---- */

uint64_t
table_cookie(const struct packet *packet)
{
	return cookies[packet->worker][packet->port][packet->incarnation][packet->session]
		      [packet->chunk];
}

uint64_t
table_session(unsigned int number)
{
	return sessions[number];
}

uint64_t
table_incarnation(const struct packet *packet)
{
	return incarnation_of(packet->port, packet->incarnation);
}

static uint64_t
secret_of(const struct packet *packet)
{
	return packet->cookie ? table_cookie(packet) : sessions[packet->session];
}

static struct aggregate_message
message_of(const struct packet *packet, uint8_t *values)
{
	struct aggregate_message message = {.job = NUMBER, .worker = packet->worker};

	if (packet->kind == JOIN) {
		message.op = AGGREGATE_JOIN;
		message.token = TOKEN;
		message.join = (struct aggregate_join){
			.workers = WORKERS, .slots = (uint16_t)limits.slots, .bytes = 4};
		message.join.incarnation = incarnation_of(packet->port, packet->incarnation);
		message.join.cookie =
			packet->cookie || packet->session != 0 ? secret_of(packet) : 0;
		return message;
	}
	message.op = AGGREGATE_LEAVE;
	message.session = secret_of(packet);
	if (packet->kind == LEAVE)
		return message;
	message.op = is_copy(packet->chunk) ? AGGREGATE_COPY : AGGREGATE_SUM;
	message.owner = owner_byte(packet->chunk);
	message.format = AGGREGATE_INT32;
	message.count = 1;
	message.id = packet->chunk;
	if (aggregate_sends_values(message.op, message.owner, message.worker))
		message.values = values;
	data_put(AGGREGATE_INT32, values, 0,
		value_of(packet->chunk, packet->worker, packet->incarnation));
	return message;
}

/* What a cookie was made of. */
static void
name_cookie(const struct model *model, struct packet *reply, uint64_t cookie)
{
	for (uint8_t e = 0; e < NUMBERS; e++)
		for (uint8_t s = 0; s < NUMBERS; s++) {
			if (cookies[reply->worker][reply->port][reply->incarnation][e][s] != cookie)
				continue;
			reply->cookie = true;
			reply->session = e;
			reply->chunk = s;
			return;
		}
	fail("a cookie that is made of something else", model);
}

static void
name_session(const struct model *model, struct packet *reply, uint64_t session)
{
	for (uint8_t g = 1; g < NUMBERS; g++)
		if (sessions[g] == session) {
			reply->session = g;
			return;
		}
	fail("a session that no job has", model);
}

static struct packet
result_for(const struct model *model, const struct packet *request,
	const struct aggregate_entry *entry, unsigned int worker)
{
	struct packet reply = {.kind = RESULT,
		.worker = (uint8_t)worker,
		.port = (uint8_t)((entry->ports[worker] - FIRST_PORT) * PROCESSES),
		.session = request->session,
		.chunk = request->chunk};

	reply.parts = parts_of(model, entry->chunk, (unsigned int)entry->seen,
		data_get(AGGREGATE_INT32, entry->result, 0));
	/* A copy has no part of the others. */
	if (is_copy(entry->chunk) && reply.parts != 0)
		reply.parts = (1u << WORKERS) - 1;
	return reply;
}

/* One who is in and is asked for a cookie has lost its job: that says as much as a refusal. */
static void
answer_join(const struct model *model, const struct packet *request,
	const struct aggregate_outcome *outcome, struct packet *reply)
{
	reply->kind = ANSWER;
	reply->cookie = !request->cookie && request->session != 0;
	if (outcome->action == AGGREGATE_JOINED) {
		reply->chunk = ANSWER_JOINED;
		name_session(model, reply, outcome->join.session);
	} else if (outcome->action == AGGREGATE_COOKIE && !reply->cookie) {
		reply->kind = COOKIE;
		name_cookie(model, reply, outcome->join.cookie);
	} else {
		reply->chunk =
			outcome->action == AGGREGATE_WAITING ? ANSWER_WAITING : ANSWER_REFUSED;
	}
}

static void
make_replies(const struct model *model, const struct packet *request,
	const struct aggregate_outcome *outcome, struct packet *replies)
{
	struct packet *reply = &replies[0];

	*reply = (struct packet){.worker = request->worker,
		.port = request->port,
		.incarnation = request->incarnation,
		.parts = request->kind == CHUNK ? 0 : request->parts};
	if (request->kind == JOIN) {
		answer_join(model, request, outcome, reply);
		return;
	}
	switch (outcome->action) {
	case AGGREGATE_REPEATED:
		replies[0] = result_for(model, request, outcome->entry, request->worker);
		replies[0].port = request->port;
		break;
	case AGGREGATE_COMPLETED:
		for (unsigned int w = 0; w < WORKERS; w++)
			replies[w] = result_for(model, request, outcome->entry, w);
		break;
	case AGGREGATE_LEFT:
		reply->kind = LEFT;
		break;
	case AGGREGATE_NO_JOB:
		reply->kind = request->kind == LEAVE ? LEFT : NOTHING;
		break;
	default:
		break;
	}
}

int
table_handle(struct model *model, const struct packet *request, struct packet *replies)
{
	const struct aggregate_sender sender = sender_of(request->worker, request->port);
	struct aggregate_outcome outcome;
	uint8_t values[4];
	const struct aggregate_message message = message_of(request, values);

	memset(replies, 0, WORKERS * sizeof(*replies));
	restore(model);
	aggregate_shard_packet(aggregate_table_shard(table, 0), &message, &sender, NOW, &outcome);
	make_replies(model, request, &outcome, replies);
	keep(model);
	return (int)outcome.action;
}

void
table_pause(struct model *model)
{
	restore(model);
	aggregate_shard_quiescent(aggregate_table_shard(table, 0));
	keep(model);
}

void
table_poll(struct model *model)
{
	restore(model);
	aggregate_table_poll(table, NOW);
	keep(model);
}

void
table_restart(struct model *model)
{
	memset(model->job, 0, sizeof(model->job));
	memset(model->entry, 0, sizeof(model->entry));
	model->ended++; /* as its cookies are others */
}

void
table_poll_without(struct model *model, unsigned int worker)
{
	restore(model);
	for (unsigned int j = 0; j < JOBS; j++)
		table->jobs[j].places[worker].heard = NOW - HALF_OPEN;
	aggregate_table_poll(table, NOW);
	keep(model);
}

void
table_poll_late(struct model *model)
{
	restore(model);
	aggregate_table_poll(table, NOW + IDLE);
	keep(model);
}

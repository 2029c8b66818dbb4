/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts, packets and what follows from events, by number. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blobs.h"
#include "block.h"
#include "restarts.h"

#define PART_BITS 21
#define MOST_IN_A_ROW 64

/* What a part does with an event. */
struct question {
	uint32_t part, detail;
	uint8_t event, who, zero[2];
};

struct step {
	uint32_t part;
	uint16_t packet[MOST_SENT];
};

static struct blobs parts, packets, questions;
static struct question latest; /* that was asked */
static struct step *steps;     /* by question */
static uint32_t steps_room;
static uint8_t *bytes;

/* ---- Numbers ---- */

static uint16_t
packet_number(const struct packet *packet)
{
	const uint32_t number =
		blobs_number(&packets, packet, offsetof(struct packet, bytes) + packet->length);

	if (number > UINT16_MAX)
		fail("there are too many packets");
	return (uint16_t)number;
}

static struct packet
packet_of(uint32_t number)
{
	struct packet packet;

	memcpy(&packet, blobs_bytes(&packets, number), packets.blob[number].length);
	return packet;
}

static uint32_t
save_switch(unsigned int s)
{
	const uint32_t number = blobs_number(&parts, bytes, switch_save(s, bytes));

	if (number >> PART_BITS != 0)
		fail("there are too many parts");
	return number;
}

struct worker
model_worker(const struct model *model, unsigned int w)
{
	struct worker worker;

	memcpy(&worker, blobs_bytes(&parts, model->worker[w]), sizeof(worker));
	return worker;
}

void
model_set_worker(struct model *model, unsigned int w, const struct worker *worker)
{
	model->worker[w] = blobs_number(&parts, worker, sizeof(*worker));
	if (model->worker[w] >> PART_BITS != 0)
		fail("there are too many parts");
}

/* ---- Steps ---- */

static void
happen_at_switch(unsigned int s, enum event event, uint32_t detail, struct sent *sent)
{
	const struct packet packet =
		event == EVENT_ARRIVAL ? packet_of(detail) : (struct packet){0};

	switch (event) {
	case EVENT_ARRIVAL:
		switch_take(s, &packet, NOW, sent);
		break;
	case EVENT_SEND:
		switch_poll_job(s, detail, sent);
		break;
	case EVENT_PAUSE:
		switch_pause(s, NOW);
		break;
	case EVENT_MISS:
		switch_miss(s, detail);
		break;
	case EVENT_MISS_ALL:
		switch_miss_all(s);
		break;
	case EVENT_GIVE_UP:
		switch_give_up(s, detail);
		break;
	case EVENT_START_ANEW:
		switch_start_anew(s);
		break;
	default:
		fail("no such event of a switch");
	}
}

static void
happen_at_worker(struct worker *worker, enum event event, uint32_t detail, struct sent *sent)
{
	const struct packet packet =
		event == EVENT_ARRIVAL ? packet_of(detail) : (struct packet){0};

	switch (event) {
	case EVENT_ARRIVAL:
		worker_take(worker, &packet);
		break;
	case EVENT_SEND:
		worker_send(worker, NOW, sent);
		break;
	case EVENT_LIFE:
		worker_show_life(worker, sent);
		break;
	case EVENT_LEAVE:
		worker_leave(worker, sent);
		break;
	default:
		fail("no such event of a worker");
	}
}

static struct step
make_step(const struct question *question)
{
	struct sent sent = {0};
	struct step step = {0};

	if (question->who < FIRST_WORKER) {
		switch_load(question->who, blobs_bytes(&parts, question->part));
		happen_at_switch(question->who, question->event, question->detail, &sent);
		step.part = save_switch(question->who);
	} else {
		struct worker worker;

		memcpy(&worker, blobs_bytes(&parts, question->part), sizeof(worker));
		happen_at_worker(&worker, question->event, question->detail, &sent);
		step.part = blobs_number(&parts, &worker, sizeof(worker));
	}
	for (unsigned int p = 0; p < sent.count; p++)
		step.packet[p] = packet_number(&sent.packet[p]);
	return step;
}

static struct step
step_of(const struct question *question)
{
	const uint32_t before = questions.count,
		       number = blobs_number(&questions, question, sizeof(*question));

	latest = *question;
	if (number <= before)
		return steps[number];
	if (number >= steps_room) {
		steps_room = 2 * number + 1024;
		steps = realloc(steps, steps_room * sizeof(*steps));
		if (steps == NULL)
			fail("out of memory");
	}
	steps[number] = make_step(question);
	return steps[number];
}

/* ---- The model ---- */

void
model_start(struct model *model, unsigned int troubles, unsigned int jobs)
{
	*model = (struct model){.troubles = (uint8_t)troubles};
	switches_start();
	bytes = allocate(switch_bytes());
	for (unsigned int s = 0; s < shape->switches; s++)
		model->sw[s] = save_switch(s);
	for (unsigned int w = 0; w < WORKERS; w++) {
		struct worker worker;

		memset(&worker, 0, sizeof(worker));
		worker.number = (uint8_t)w;
		worker.jobs = (uint8_t)jobs;
		worker_begin(&worker);
		model_set_worker(model, w, &worker);
	}
}

void
model_free(void)
{
	switches_stop();
	blobs_free(&parts);
	blobs_free(&packets);
	blobs_free(&questions);
	free(steps);
	free(bytes);
}

/* One bit is always set: no state is all 0. */
void
model_pack(const struct model *model, uint64_t words[MODEL_WORDS])
{
	words[0] = 1;
	for (unsigned int s = 0; s < MOST_SWITCHES; s++)
		words[0] |= (uint64_t)model->sw[s] << (1 + s * PART_BITS);
	words[1] = model->troubles | (uint64_t)model->troubled << 4;
	for (unsigned int w = 0; w < WORKERS; w++)
		words[1] |= (uint64_t)model->worker[w] << (8 + w * PART_BITS);
	words[2] = 0;
	for (unsigned int l = 0; l < MOST_LATE; l++)
		words[2] |= (uint64_t)model->late[l] << 16 * l;
}

struct model
model_unpack(const uint64_t words[MODEL_WORDS])
{
	const uint32_t part = (1u << PART_BITS) - 1;
	struct model model = {.troubles = words[1] & 15, .troubled = words[1] >> 4 & 1};

	for (unsigned int s = 0; s < MOST_SWITCHES; s++)
		model.sw[s] = (uint32_t)(words[0] >> (1 + s * PART_BITS)) & part;
	for (unsigned int w = 0; w < WORKERS; w++)
		model.worker[w] = (uint32_t)(words[1] >> (8 + w * PART_BITS)) & part;
	for (unsigned int l = 0; l < MOST_LATE; l++)
		model.late[l] = (uint16_t)(words[2] >> 16 * l);
	return model;
}

/* ---- What happens ---- */

static bool
take_step(struct model *model, uint32_t *part, const struct question *question)
{
	const struct step step = step_of(question);
	const bool changes = *part != step.part || step.packet[0] != 0;

	*part = step.part;
	for (unsigned int p = 0; p < MOST_SENT && step.packet[p] != 0; p++) {
		if (model->fresh_count == MOST_FRESH)
			fail("packets make more and more packets");
		model->fresh[model->fresh_count++] = step.packet[p];
	}
	return changes;
}

bool
model_switch(struct model *model, unsigned int s, enum event event, uint32_t detail)
{
	const struct question question = {
		.part = model->sw[s], .detail = detail, .event = (uint8_t)event, .who = (uint8_t)s};

	return take_step(model, &model->sw[s], &question);
}

/*
 * Two processes that had a result of each other's values had no other, and all of them were started
 * by the same launch.
 */
static void
check_partners(const struct worker *worker, const struct worker *other)
{
	for (unsigned int life = 0; life <= worker->life; life++) {
		const unsigned int partner = worker->partner[life];

		if (partner == 0)
			continue;
		if (other->epoch_of[partner - 1] != worker->epoch_of[life])
			fail("a sum has a value of before all were started anew");
		if (other->partner[partner - 1] != 0 && other->partner[partner - 1] != life + 1)
			fail("a sum has a value of a process that is in another job");
		for (unsigned int before = 0; before < life; before++)
			if (worker->partner[before] == partner)
				fail("a sum has a value that was for the process of before");
	}
}

static void
check_worker(const struct model *model, unsigned int w)
{
	const struct worker worker = model_worker(model, w), other = model_worker(model, 1 - w);

	check_partners(&worker, &other);
	check_partners(&other, &worker);
	if (!model->troubled && worker.reason != 0)
		fail("a worker is told of a failure that there was not");
}

bool
model_worker_does(struct model *model, unsigned int w, enum event event, uint32_t detail)
{
	const uint32_t before = model->worker[w];
	const struct question question = {.part = before,
		.detail = detail,
		.event = (uint8_t)event,
		.who = (uint8_t)(FIRST_WORKER + w)};
	const bool changes = take_step(model, &model->worker[w], &question);

	if (model->worker[w] != before)
		check_worker(model, w);
	return changes;
}

uint16_t
model_next(struct model *model)
{
	const uint16_t packet = model->fresh_count == 0 ? 0 : model->fresh[0];

	if (packet != 0)
		memmove(model->fresh, model->fresh + 1,
			--model->fresh_count * sizeof(*model->fresh));
	return packet;
}

void
model_deliver(struct model *model, uint16_t packet)
{
	const uint8_t to = ((const struct packet *)blobs_bytes(&packets, packet))->to;

	if (to < FIRST_WORKER)
		model_switch(model, to, EVENT_ARRIVAL, packet);
	else
		model_worker_does(model, to - FIRST_WORKER, EVENT_ARRIVAL, packet);
}

void
model_deliver_all(struct model *model)
{
	for (unsigned int p = 0; model->fresh_count > 0; p++) {
		if (p == MOST_IN_A_ROW)
			fail("packets make more and more packets");
		model_deliver(model, model_next(model));
	}
}

void
model_load(const struct model *model, struct worker workers[WORKERS])
{
	for (unsigned int s = 0; s < shape->switches; s++)
		switch_load(s, blobs_bytes(&parts, model->sw[s]));
	for (unsigned int w = 0; w < WORKERS; w++)
		workers[w] = model_worker(model, w);
}

/* ---- To show it ---- */

static void
show_who(uint8_t host)
{
	if (host < FIRST_WORKER)
		printf("switch %u", host);
	else
		printf("worker %u", host - FIRST_WORKER);
}

void
model_show_packet(uint16_t number, const char *fate)
{
	const struct packet packet = packet_of(number);
	struct aggregate_message message;
	const bool is_reply = aggregate_parse_request(packet.bytes, packet.length, &message) != 0;

	if (is_reply)
		aggregate_parse_reply(packet.bytes, packet.length, &message);
	printf("    %s, ", fate);
	show_who(packet.from);
	printf(" to ");
	show_who(packet.to);
	printf(": %s%s, id %u, member %u, session %#" PRIx64, aggregate_op_name(message.op),
		is_reply ? "'s reply" : "", message.id, message.worker, message.session);
	if (is_reply && message.code != 0)
		printf(", reason %u, absence %u", message.reason, message.absence);
	if (message.op == AGGREGATE_JOIN)
		printf(", incarnation %#" PRIx64 ", cookie %#" PRIx64, message.join.incarnation,
			message.join.cookie);
	printf("\n");
}

void
model_show_event(enum event event, uint8_t who, uint32_t detail)
{
	static const char *const names[] = {[EVENT_SEND] = "sends",
		[EVENT_LIFE] = "shows that it is alive",
		[EVENT_PAUSE] = "is between two packets",
		[EVENT_MISS] = "has not heard a member for long",
		[EVENT_MISS_ALL] = "has not heard anything for long",
		[EVENT_GIVE_UP] = "gives up leaving",
		[EVENT_START_ANEW] = "is started anew",
		[EVENT_LEAVE] = "leaves",
		[EVENT_STARTED] = "is started anew",
		[EVENT_LAUNCH] = "and all others are started anew"};

	if (event == EVENT_ARRIVAL || event == EVENT_LATE_ARRIVAL || event == EVENT_LATE_LOSS) {
		model_show_packet((uint16_t)detail,
			event == EVENT_ARRIVAL             ? "arrives"
				: event == EVENT_LATE_LOSS ? "late, lost"
				: detail >> 16 != 0        ? "late, twice"
							   : "late");
		return;
	}
	printf("  ");
	show_who(who);
	printf(" %s (%u)\n", names[event], detail);
}

void
model_show_latest(void)
{
	model_show_event(latest.event, latest.who, latest.detail);
}

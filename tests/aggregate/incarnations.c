/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggregate_member.h>

#include "incarnations.h"
#include "states.h"

static void
code_flag(struct coder *coder, bool *flag)
{
	uint8_t field = *flag;

	code(coder, &field, 1);
	*flag = field;
}

static void
code_job(struct coder *coder, struct model_job *job)
{
	code(coder, &job->state, 2);
	code_flag(coder, &job->released);
	code(coder, &job->generation, 3);
	code(coder, &job->joined, 2);
	code(coder, &job->left, 2);
	for (unsigned int w = 0; w < WORKERS; w++) {
		code(coder, &job->port[w], 2);
		code(coder, &job->incarnation[w], 1);
		code(coder, &job->serial[w], 3);
	}
}

static void
code_entry(struct coder *coder, struct model_entry *entry)
{
	code(coder, &entry->state, 2);
	code(coder, &entry->round, 2);
	code(coder, &entry->seen, 2);
	code(coder, &entry->parts, 2);
	for (unsigned int w = 0; w < WORKERS; w++)
		code(coder, &entry->port[w], 2);
}

static void
code_worker(struct coder *coder, struct model_worker *worker)
{
	code(coder, &worker->incarnation, 2);
	code(coder, &worker->state, 3);
	code(coder, &worker->port, 2);
	code(coder, &worker->id, 2);
	code(coder, &worker->cookie_id, 2);
	code_flag(coder, &worker->bare);
	code_flag(coder, &worker->cookie);
	code(coder, &worker->ended, 3);
	code(coder, &worker->serial, 3);
	code(coder, &worker->session, 3);
	for (unsigned int s = 0; s < MAX_SLOTS; s++)
		code(coder, &worker->done[s], 3);
}

static void
code_model(struct coder *coder, struct model *model)
{
	code(coder, &model->generation, 3);
	code(coder, &model->ended, 3);
	code(coder, &model->troubles, 2);
	code_flag(coder, &model->forgotten);
	for (unsigned int j = 0; j < JOBS; j++)
		code_job(coder, &model->job[j]);
	for (unsigned int e = 0; e < MAX_ENTRIES; e++)
		code_entry(coder, &model->entry[e]);
	for (unsigned int w = 0; w < WORKERS; w++)
		code_worker(coder, &model->worker[w]);
}

/* The last word is the packets in flight. One bit is always set: no state is all 0. */
void
model_pack(const struct model *model, uint64_t words[MODEL_WORDS])
{
	struct coder coder = {words, 1, false};
	struct model copy = *model;

	memset(words, 0, MODEL_WORDS * sizeof(*words));
	words[0] = 1;
	code_model(&coder, &copy);
	for (unsigned int f = 0; f < MAX_IN_FLIGHT; f++)
		words[MODEL_WORDS - 1] |= (uint64_t)model->flight[f] << 16 * f;
}

struct model
model_unpack(const uint64_t words[MODEL_WORDS])
{
	uint64_t copy[MODEL_WORDS];
	struct coder coder = {copy, 1, true};
	struct model model = {0};

	memcpy(copy, words, sizeof(copy));
	code_model(&coder, &model);
	for (unsigned int f = 0; f < MAX_IN_FLIGHT; f++)
		model.flight[f] = (uint16_t)(words[MODEL_WORDS - 1] >> 16 * f);
	return model;
}

static void
code_packet(struct coder *coder, struct packet *packet)
{
	code(coder, &packet->kind, 3);
	code(coder, &packet->worker, 1);
	code(coder, &packet->port, 2);
	code(coder, &packet->incarnation, 1);
	code_flag(coder, &packet->cookie);
	code(coder, &packet->session, 3);
	code(coder, &packet->chunk, 3);
	code(coder, &packet->parts, 2);
}

uint16_t
packet_pack(const struct packet *packet)
{
	uint64_t word = 0;
	struct coder coder = {&word, 0, false};
	struct packet copy = *packet;

	code_packet(&coder, &copy);
	return (uint16_t)word;
}

struct packet
packet_unpack(uint16_t packed)
{
	uint64_t word = packed;
	struct coder coder = {&word, 0, true};
	struct packet packet = {0};

	code_packet(&coder, &packet);
	return packet;
}

static void
show_packet(const struct packet *packet)
{
	static const char *const names[] = {
		"nothing", "join", "cookie", "answer", "chunk", "result", "leave", "left"};

	printf("  in flight: %s, worker %u at port %u, incarnation %u", names[packet->kind],
		packet->worker, packet->port, packet->incarnation);
	if (packet->cookie)
		printf(", cookie of %u ended, serial %u\n", packet->session, packet->chunk);
	else
		printf(", session %u, chunk %u, parts %u\n", packet->session, packet->chunk,
			packet->parts);
}

void
fail(const char *what, const struct model *model)
{
	printf("%s\n  %u jobs begun, %u ended\n", what, model->generation, model->ended);
	for (unsigned int j = 0; j < JOBS; j++) {
		const struct model_job *job = &model->job[j];

		printf("  job %u: state %u, session %u, joined %u, left %u, ports %u %u, serials "
		       "%u %u\n",
			j, job->state, job->generation, job->joined, job->left, job->port[0],
			job->port[1], job->serial[0], job->serial[1]);
	}
	for (unsigned int e = 0; e < MAX_ENTRIES; e++) {
		const struct model_entry *entry = &model->entry[e];

		printf("  entry %u: state %u, round %u, seen %u, parts %u\n", e, entry->state,
			entry->round, entry->seen, entry->parts);
	}
	for (unsigned int w = 0; w < WORKERS; w++) {
		const struct model_worker *worker = &model->worker[w];

		printf("  worker %u at port %u: incarnation %u, %s, session %u, done %u %u\n", w,
			worker->port, worker->incarnation,
			aggregate_member_state_name(worker->state), worker->session,
			worker->done[0], worker->done[1]);
	}
	for (unsigned int f = 0; f < MAX_IN_FLIGHT && model->flight[f] != 0; f++) {
		const struct packet packet = packet_unpack(model->flight[f]);

		show_packet(&packet);
	}
	exit(1);
}

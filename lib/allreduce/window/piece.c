/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/window.h"

#include <aggregate_wire.h>

/* So few of a chunk's parts are sent again at least, as the least congestion window allows. */
#define LEAST_PARTS 4

/* So often half as many as before, and then all again: what is missing may be any of them. */
#define HALVINGS 2

/* Of nothing: any would do. */
#define LABEL_FORMAT AGGREGATE_FP32

void
calls_append(struct calls *calls, struct call *call)
{
	TAILQ_INSERT_TAIL(&calls->queue, call, in_queue);
	call->first = calls->next_chunk;
	calls->next_chunk += call->chunks;
}

struct call *
calls_find(const struct calls *calls, uint64_t number)
{
	struct call *call = TAILQ_FIRST(&calls->queue);

	while (number - call->first >= call->chunks)
		call = TAILQ_NEXT(call, in_queue);
	return call;
}

/* Of results, where there are so many of values. */
static uint64_t
result_bytes(const struct call *call, uint64_t bytes)
{
	return bytes / call->word_bytes * call->result_word_bytes;
}

static struct piece
piece_of_values(const struct call *call, uint64_t number)
{
	uint64_t block = number % call->blocks;
	uint64_t first = number / call->blocks * call->in_chunk;
	uint64_t left = call->bytes - first;
	uint32_t bytes = left < call->in_chunk ? (uint32_t)left : call->in_chunk;
	uint8_t owner = call->owner != 0 ? (uint8_t)(call->owner + block) : 0;
	bool sends = bytes > 0 && aggregate_sends_values(call->op, owner, call->worker);
	bool receives = bytes > 0 && aggregate_receives_values(call->op, owner, call->worker);

	return (struct piece){
		.from = sends ? call->from + block * call->from_step + first : NULL,
		.to = receives ? call->to + block * call->to_step + result_bytes(call, first)
			       : NULL,
		.bytes = bytes,
		.result_bytes = (uint32_t)result_bytes(call, bytes),
		.count = (uint16_t)((bytes + call->value_bytes - 1) / call->value_bytes),
		.op = call->op,
		.format = call->format,
		.owner = owner,
	};
}

struct piece
piece_numbered(const struct call *call, uint64_t number)
{
	number -= call->first;
	if (call->label != 0 && number == 0)
		return (struct piece){
			.label = call->label, .op = AGGREGATE_COPY, .format = LABEL_FORMAT};
	return piece_of_values(call, number - (call->label != 0));
}

unsigned int
parts_to_send(unsigned int all, uint32_t times)
{
	const unsigned int some = times > 1 ? all >> (times - 1) % (HALVINGS + 1) : all;
	const unsigned int least = all < LEAST_PARTS ? all : LEAST_PARTS;

	return some < least ? least : some;
}

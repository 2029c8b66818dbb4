/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/piece.h"

#include <aggregate_owner.h>

/* Of results, where there are so many of values. */
static uint64_t
result_bytes(const struct netfc_allreduce_handle *handle, uint64_t bytes)
{
	return bytes / handle->word_bytes * handle->result_word_bytes;
}

struct piece
piece_of(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot)
{
	const struct netfc_allreduce_handle *handle = slot->handle;
	uint64_t number = piece_number(comm, peer, slot->chunk) - handle->first;
	uint64_t block = number % handle->blocks;
	uint64_t first = number / handle->blocks * handle->in_chunk;
	uint64_t left = handle->bytes - first;
	uint32_t bytes = left < handle->in_chunk ? (uint32_t)left : handle->in_chunk;
	uint8_t owner = handle->owner != 0 ? (uint8_t)(handle->owner + block) : 0;
	unsigned int worker = comm->options.worker;
	bool sends = bytes > 0 && aggregate_sends_values(handle->op, owner, worker);
	bool receives = bytes > 0 && aggregate_receives_values(handle->op, owner, worker);

	return (struct piece){
		.from = sends ? handle->from + block * handle->from_step + first : NULL,
		.to = receives ? handle->to + block * handle->to_step + result_bytes(handle, first)
			       : NULL,
		.bytes = bytes,
		.result_bytes = (uint32_t)result_bytes(handle, bytes),
		.count = (uint16_t)((bytes + handle->value_bytes - 1) / handle->value_bytes),
		.owner = owner,
	};
}

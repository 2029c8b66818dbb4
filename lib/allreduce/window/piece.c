/* SPDX-License-Identifier: BSD-3-Clause */
#include "window/piece.h"

struct piece
piece_of(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot)
{
	const struct netfc_allreduce_handle *handle = slot->handle;
	uint64_t first = (piece_number(comm, peer, slot->chunk) - handle->first) * handle->in_chunk;
	uint64_t left = handle->count - first;

	return (struct piece){
		.values = handle->data + first * handle->value_bytes,
		.count = (uint16_t)(left < handle->in_chunk ? left : handle->in_chunk),
	};
}

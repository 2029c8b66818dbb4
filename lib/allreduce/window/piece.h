/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_PIECE_H
#define ALLREDUCE_PIECE_H

/** @file Which values of which arrays a chunk holds. */

#include "internal.h"

/* A chunk's values in the arrays. */
struct piece {
	const uint8_t *from; /* NULL: this worker sends none */
	uint8_t *to;         /* NULL: it receives none */
	uint32_t bytes;      /* of values */
	uint32_t result_bytes;
	uint16_t count; /* values; the last one's bytes may be there in part */
	uint8_t owner;  /* as in requests */
};

/* The number, among those of all switches, of a switch's chunk. */
static inline uint64_t
piece_number(const struct netfc_allreduce *comm, const struct peer *peer, uint64_t chunk)
{
	return chunk * comm->peers + peer->index;
}

/* The values of the chunk that a slot has in flight. */
struct piece
piece_of(const struct netfc_allreduce *comm, const struct peer *peer, const struct slot *slot);

#endif /* ALLREDUCE_PIECE_H */

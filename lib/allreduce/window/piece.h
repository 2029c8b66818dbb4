/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ALLREDUCE_PIECE_H
#define ALLREDUCE_PIECE_H

/** @file Which values of which array a chunk holds. */

#include "internal.h"

/* A chunk's values in the array. */
struct piece {
	uint8_t *values;
	uint16_t count;
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

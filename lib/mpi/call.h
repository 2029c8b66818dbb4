/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_CALL_H
#define NETFC_MPI_CALL_H

/**
 * @file
 * A reduction that a program asked for, whichever function it called.
 *
 * Each could be an allreduce whose results a rank keeps in part: all of them, none, or those from
 * `first` on. Where the switch can, it gives each rank no more than that.
 */

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#include "shape.h"

struct call {
	const char *name; /**< "MPI_Allreduce" */
	const void *send; /**< what this rank gives; MPI_IN_PLACE is resolved */
	void *receive;    /**< where `kept` results go; NULL if none is kept */
	size_t count;     /**< values that each rank gives */
	size_t first, kept;
	unsigned int kind; /**< enum netfc_collective_kind: what the switch could do */
	unsigned int root; /**< of a reduce */
	MPI_Datatype type;
	MPI_Op op;
	MPI_Comm comm;
	struct shape shape;
};

#endif /* NETFC_MPI_CALL_H */

/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_CALL_H
#define NETFC_MPI_CALL_H

/**
 * @file
 * A reduction that a program asked for, whichever function it called.
 *
 * All are allreduces whose results a rank keeps in part: all of them, none, or those from `first`
 * on.
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
	MPI_Datatype type;
	MPI_Op op;
	MPI_Comm comm;
	struct shape shape;
};

#endif /* NETFC_MPI_CALL_H */

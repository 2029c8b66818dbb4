/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_REAL_H
#define NETFC_MPI_REAL_H

/**
 * @file
 * The MPI library's own reductions. By their names, even those with P, the preloaded library is
 * called.
 */

#include <stdbool.h>

#include <mpi.h>

#ifdef MPI_LARGE_COUNTS
#define REAL_LARGE_(X)            \
	X(Allreduce_c)            \
	X(Reduce_c)               \
	X(Reduce_scatter_c)       \
	X(Reduce_scatter_block_c) \
	X(Iallreduce_c)           \
	X(Ireduce_c)              \
	X(Ireduce_scatter_c)      \
	X(Ireduce_scatter_block_c)
#else
#define REAL_LARGE_(X)
#endif

#define REAL_REDUCTIONS(X)       \
	X(Allreduce)             \
	X(Reduce)                \
	X(Reduce_scatter)        \
	X(Reduce_scatter_block)  \
	X(Iallreduce)            \
	X(Ireduce)               \
	X(Ireduce_scatter)       \
	X(Ireduce_scatter_block) \
	REAL_LARGE_(X)

struct real {
#define REAL_FIELD_(name) __typeof__(&MPI_##name) name;
	REAL_REDUCTIONS(REAL_FIELD_)
#undef REAL_FIELD_
};

/** A function of the MPI library that the process has loaded, or of one that it needs; or NULL. */
void *real_symbol(const char *name);

/** Find them in the MPI library that the process has loaded. */
bool real_find(struct real *real);

#endif /* NETFC_MPI_REAL_H */

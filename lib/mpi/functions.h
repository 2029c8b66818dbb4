/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_MPI_FUNCTIONS_H
#define NETFC_MPI_FUNCTIONS_H

/** @file MPI's functions that the library has itself: X(name, how many arguments). */

#ifdef MPI_LARGE_COUNTS
#define LARGE_(X, name, count) X(name##_c, count)
#else
#define LARGE_(X, name, count)
#endif
#define BOTH_(X, name, count) X(name, count) LARGE_(X, name, count)

#define FUNCTIONS_THAT_REDUCE(X)          \
	BOTH_(X, Allreduce, 6)            \
	BOTH_(X, Reduce, 7)               \
	BOTH_(X, Reduce_scatter, 6)       \
	BOTH_(X, Reduce_scatter_block, 6) \
	BOTH_(X, Iallreduce, 7)           \
	BOTH_(X, Ireduce, 8)              \
	BOTH_(X, Ireduce_scatter, 7)      \
	BOTH_(X, Ireduce_scatter_block, 7)

/** By names that depend on the MPI library: MPI_PERSISTENT(). */
#define FUNCTIONS_THAT_PERSIST(X)        \
	BOTH_(X, Allreduce_init, 8)      \
	BOTH_(X, Reduce_init, 9)         \
	BOTH_(X, Reduce_scatter_init, 8) \
	BOTH_(X, Reduce_scatter_block_init, 8)

/** What is done with requests. */
#define FUNCTIONS_OF_REQUESTS(X) \
	X(Cancel, 1)             \
	X(Request_free, 1)       \
	X(Start, 1)              \
	X(Startall, 2)           \
	X(Test, 3)               \
	X(Testall, 4)            \
	X(Testany, 5)            \
	X(Testsome, 5)           \
	X(Wait, 2)               \
	X(Waitall, 3)            \
	X(Waitany, 4)            \
	X(Waitsome, 5)

/** What makes a communicator from another one. */
#define FUNCTIONS_THAT_MAKE(X)            \
	X(Cart_create, 6)                 \
	X(Cart_sub, 3)                    \
	X(Comm_create, 3)                 \
	X(Comm_create_group, 4)           \
	X(Comm_dup, 2)                    \
	X(Comm_dup_with_info, 3)          \
	X(Comm_split, 4)                  \
	X(Comm_split_type, 5)             \
	X(Dist_graph_create, 9)           \
	X(Dist_graph_create_adjacent, 10) \
	X(Graph_create, 6)                \
	X(Intercomm_merge, 3)

/** Where other ranks are waited for, in an MPI library that then lets nothing else go on. */
#ifdef MPI_WAITS_ALONE
#define FUNCTIONS_THAT_WAIT(X)        \
	BOTH_(X, Allgather, 7)        \
	BOTH_(X, Allgatherv, 8)       \
	BOTH_(X, Alltoall, 7)         \
	BOTH_(X, Alltoallv, 9)        \
	BOTH_(X, Alltoallw, 9)        \
	X(Barrier, 1)                 \
	BOTH_(X, Bcast, 5)            \
	X(Comm_disconnect, 1)         \
	X(Comm_free, 1)               \
	BOTH_(X, Exscan, 6)           \
	BOTH_(X, Gather, 8)           \
	BOTH_(X, Gatherv, 9)          \
	BOTH_(X, Scan, 6)             \
	BOTH_(X, Scatter, 8)          \
	BOTH_(X, Scatterv, 9)         \
	X(Improbe, 6)                 \
	X(Iprobe, 5)                  \
	X(Mprobe, 5)                  \
	X(Probe, 4)                   \
	BOTH_(X, Recv, 7)             \
	X(Request_get_status, 3)      \
	BOTH_(X, Send, 6)             \
	BOTH_(X, Sendrecv, 12)        \
	BOTH_(X, Sendrecv_replace, 9) \
	BOTH_(X, Ssend, 6)
#else
#define FUNCTIONS_THAT_WAIT(X)
#endif

/** What gives MPI_COMM_WORLD, in an MPI library where all communicators are prepared for. */
#ifdef MPI_IDUP_IS_MIXED_UP
#define FUNCTIONS_THAT_BEGIN(X) \
	X(Init, 2)              \
	X(Init_thread, 4)
#else
#define FUNCTIONS_THAT_BEGIN(X)
#endif

/** All but those that persist. */
#define FUNCTIONS_BY_NAME(X)     \
	FUNCTIONS_THAT_REDUCE(X) \
	FUNCTIONS_OF_REQUESTS(X) \
	FUNCTIONS_THAT_MAKE(X)   \
	FUNCTIONS_THAT_WAIT(X)   \
	FUNCTIONS_THAT_BEGIN(X)

#endif /* NETFC_MPI_FUNCTIONS_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/* Other collectives, and what makes communicators. */
#include "job.h"
#include "shim.h"

/* ---- communicators -------------------------------------------------------------------------- */

static int
prepared(int error, const MPI_Comm *made)
{
	return error == MPI_SUCCESS ? raise_error(*made, job_prepare(*made)) : error;
}

#define CONSTRUCTOR(name, parent, parameters, arguments)         \
	FUNCTION(name, parameters)                               \
	{                                                        \
		finish_earlier(parent);                          \
		return prepared(shim.real.name arguments, made); \
	}
#define WHICH MPI_Comm comm
#define MADE MPI_Comm *made

CONSTRUCTOR(Comm_dup, comm, (WHICH, MADE), (comm, made))
CONSTRUCTOR(Comm_dup_with_info, comm, (WHICH, MPI_Info info, MADE), (comm, info, made))
CONSTRUCTOR(Comm_create, comm, (WHICH, MPI_Group group, MADE), (comm, group, made))
/* Only those of the group call it. */
CONSTRUCTOR(Comm_create_group, MPI_COMM_NULL, (WHICH, MPI_Group group, int tag, MADE),
	(comm, group, tag, made))
CONSTRUCTOR(Comm_split, comm, (WHICH, int color, int key, MADE), (comm, color, key, made))
CONSTRUCTOR(Comm_split_type, comm, (WHICH, int kind, int key, MPI_Info info, MADE),
	(comm, kind, key, info, made))
CONSTRUCTOR(Intercomm_merge, MPI_COMM_NULL, (WHICH, int high, MADE), (comm, high, made))
CONSTRUCTOR(Cart_create, comm,
	(WHICH, int dimensions, const int sizes[], const int periods[], int reorder, MADE),
	(comm, dimensions, sizes, periods, reorder, made))
CONSTRUCTOR(Cart_sub, comm, (WHICH, const int remain[], MADE), (comm, remain, made))
CONSTRUCTOR(Graph_create, comm,
	(WHICH, int nodes, const int index[], const int edges[], int reorder, MADE),
	(comm, nodes, index, edges, reorder, made))
CONSTRUCTOR(Dist_graph_create, comm,
	(WHICH, int count, const int sources[], const int degrees[], const int destinations[],
		const int weights[], MPI_Info info, int reorder, MADE),
	(comm, count, sources, degrees, destinations, weights, info, reorder, made))
CONSTRUCTOR(Dist_graph_create_adjacent, comm,
	(WHICH, int in, const int sources[], const int weights_in[], int out,
		const int destinations[], const int weights_out[], MPI_Info info, int reorder,
		MADE),
	(comm, in, sources, weights_in, out, destinations, weights_out, info, reorder, made))

/* ---- collectives ---------------------------------------------------------------------------- */

#ifdef MPI_WAITS_ALONE

#define COLLECTIVE(name, parameters, arguments)  \
	FUNCTION(name, parameters)               \
	{                                        \
		finish_earlier(comm);            \
		return shim.real.name arguments; \
	}
#define SENT(count_type) const void *sent, count_type sent_count, MPI_Datatype sent_type
#define RECEIVED(count_type) void *received, count_type count, MPI_Datatype type
#define MANY_SENT(count_type, place_type, types) \
	const void *sent, const count_type *sent_counts, const place_type *sent_places, types
#define MANY_RECEIVED(count_type, place_type, types) \
	void *received, const count_type *counts, const place_type *places, types
#define SENT_TYPE MPI_Datatype sent_type
#define SENT_TYPES const MPI_Datatype sent_types[]
#define TYPE MPI_Datatype type
#define TYPES const MPI_Datatype types[]
#define SCANNED(count_type) const void *sent, void *received, count_type count, TYPE, MPI_Op op

/* Of counts and places of these types. */
#define COLLECTIVES(suffix, counted, place)                                                        \
	COLLECTIVE(Bcast##suffix, (RECEIVED(counted), int root, MPI_Comm comm),                    \
		(received, count, type, root, comm))                                               \
	COLLECTIVE(Gather##suffix, (SENT(counted), RECEIVED(counted), int root, MPI_Comm comm),    \
		(sent, sent_count, sent_type, received, count, type, root, comm))                  \
	COLLECTIVE(Gatherv##suffix,                                                                \
		(SENT(counted), MANY_RECEIVED(counted, place, TYPE), int root, MPI_Comm comm),     \
		(sent, sent_count, sent_type, received, counts, places, type, root, comm))         \
	COLLECTIVE(Scatter##suffix, (SENT(counted), RECEIVED(counted), int root, MPI_Comm comm),   \
		(sent, sent_count, sent_type, received, count, type, root, comm))                  \
	COLLECTIVE(Scatterv##suffix,                                                               \
		(MANY_SENT(counted, place, SENT_TYPE), RECEIVED(counted), int root,                \
			MPI_Comm comm),                                                            \
		(sent, sent_counts, sent_places, sent_type, received, count, type, root, comm))    \
	COLLECTIVE(Allgather##suffix, (SENT(counted), RECEIVED(counted), MPI_Comm comm),           \
		(sent, sent_count, sent_type, received, count, type, comm))                        \
	COLLECTIVE(Allgatherv##suffix,                                                             \
		(SENT(counted), MANY_RECEIVED(counted, place, TYPE), MPI_Comm comm),               \
		(sent, sent_count, sent_type, received, counts, places, type, comm))               \
	COLLECTIVE(Alltoall##suffix, (SENT(counted), RECEIVED(counted), MPI_Comm comm),            \
		(sent, sent_count, sent_type, received, count, type, comm))                        \
	COLLECTIVE(Alltoallv##suffix,                                                              \
		(MANY_SENT(counted, place, SENT_TYPE), MANY_RECEIVED(counted, place, TYPE),        \
			MPI_Comm comm),                                                            \
		(sent, sent_counts, sent_places, sent_type, received, counts, places, type, comm)) \
	COLLECTIVE(Alltoallw##suffix,                                                              \
		(MANY_SENT(counted, place, SENT_TYPES), MANY_RECEIVED(counted, place, TYPES),      \
			MPI_Comm comm),                                                            \
		(sent, sent_counts, sent_places, sent_types, received, counts, places, types,      \
			comm))                                                                     \
	COLLECTIVE(Scan##suffix, (SCANNED(counted), MPI_Comm comm),                                \
		(sent, received, count, type, op, comm))                                           \
	COLLECTIVE(Exscan##suffix, (SCANNED(counted), MPI_Comm comm),                              \
		(sent, received, count, type, op, comm))

COLLECTIVES(, int, int)
COLLECTIVE(Barrier, (MPI_Comm comm), (comm))
#ifdef MPI_LARGE_COUNTS
COLLECTIVES(_c, MPI_Count, MPI_Aint)
#endif

/*
 * The library's own communicator is made of it, maybe, and so keeps it: it would only end, with its
 * job, amid what makes that one.
 */
#define LAST(name)                           \
	FUNCTION(name, (MPI_Comm * comm))    \
	{                                    \
		finish_earlier(*comm);       \
		return shim.real.name(comm); \
	}

LAST(Comm_disconnect)
LAST(Comm_free)

#endif /* MPI_WAITS_ALONE */

#ifdef MPI_IDUP_IS_MIXED_UP

FUNCTION(Init, (int *count, char ***words))
{
	MPI_Comm world = MPI_COMM_WORLD;

	return prepared(shim.real.Init(count, words), &world);
}

FUNCTION(Init_thread, (int *count, char ***words, int required, int *provided))
{
	MPI_Comm world = MPI_COMM_WORLD;

	return prepared(shim.real.Init_thread(count, words, required, provided), &world);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions that are started and waited for, and what else goes on meanwhile. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#define STARTED 5
#define COUNT 3000
#define MOST 8
#define LARGE (4 << 20) /* bytes that no MPI library sends before they are asked for */

struct started {
	float mine[COUNT], results[COUNT];
};

static void
start(struct started *started, unsigned int seed, MPI_Comm comm, MPI_Request *request)
{
	draw_floats(started->mine, COUNT, seed);
	MPI_Iallreduce(started->mine, started->results, COUNT, MPI_FLOAT, MPI_SUM, comm, request);
}

static void
check_one(const struct started *started, MPI_Comm comm)
{
	struct kept kept = {started->results, 0, COUNT, started->mine, COUNT, comm};

	check_floats(&kept, MPI_FLOAT, MPI_SUM);
}

int
wait_for_all(MPI_Request requests[], int count, int way)
{
	int index, done = 0, error = MPI_SUCCESS, indices[MOST];
	MPI_Status statuses[MOST];

	switch (way) {
	case 0:
		return MPI_Waitall(count, requests, statuses);
	case 1:
		for (int i = 0; i < count && error == MPI_SUCCESS; i++)
			error = MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
		return error;
	case 2:
		while (!done && error == MPI_SUCCESS)
			error = MPI_Testall(count, requests, &done, statuses);
		return error;
	case 3:
		for (int left = count; left > 0 && done != MPI_UNDEFINED && error == MPI_SUCCESS;
			left -= done)
			error = MPI_Waitsome(count, requests, &done, indices, statuses);
		return error;
	default:
		for (int i = count - 1; i >= 0 && error == MPI_SUCCESS; i--)
			error = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
		return error;
	}
}

void
check_started(void)
{
	struct started *all = malloc(STARTED * sizeof(*all));
	MPI_Request requests[STARTED];
	float now = 1, sum;

	for (int way = 0; way < WAYS; way++) {
		for (unsigned int i = 0; i < STARTED; i++)
			start(&all[i], i + 10, world, &requests[i]);
		MPI_Allreduce(&now, &sum, 1, MPI_FLOAT, MPI_SUM, world);
		CHECK(sum == (float)ranks);
		wait_for_all(requests, STARTED, way);
		for (int i = 0; i < STARTED; i++) {
			CHECK(requests[i] == MPI_REQUEST_NULL);
			check_one(&all[i], world);
		}
	}
	free(all);
}

/* Rank 0 reduces in one communicator while the others wait for what it has started in another. */
void
check_two_communicators(void)
{
	MPI_Comm waited, other;
	MPI_Request request;
	float mine = 1, first, second;

	MPI_Comm_dup(world, &waited);
	MPI_Comm_dup(world, &other);
	MPI_Allreduce(&mine, &first, 1, MPI_FLOAT, MPI_SUM, waited);
	MPI_Allreduce(&mine, &second, 1, MPI_FLOAT, MPI_SUM, other);
	MPI_Barrier(world);
	MPI_Iallreduce(&mine, &first, 1, MPI_FLOAT, MPI_SUM, waited, &request);
	if (rank != 0)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Allreduce(&mine, &second, 1, MPI_FLOAT, MPI_SUM, other);
	if (rank == 0)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	CHECK(first == (float)ranks && second == (float)ranks);
	MPI_Comm_free(&waited);
	MPI_Comm_free(&other);
}

/* The communicator has no job yet, and some ranks hear of it from the others only. */
void
check_first_started(void)
{
	struct started *one = malloc(sizeof(*one));
	MPI_Request request;
	int word = 0;

	if (rank > 0)
		MPI_Recv(&word, 1, MPI_INT, rank - 1, 0, world, MPI_STATUS_IGNORE);
	start(one, 1, world, &request);
	if (rank + 1 < ranks)
		MPI_Send(&word, 1, MPI_INT, rank + 1, 0, world);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	check_one(one, world);
	free(one);
}

/* A message of a count of 64 bits, where MPI has that. */
static void
receive_large_count(int way, int *word, int from, MPI_Comm comm)
{
#if MPI_VERSION >= 4
	if (way == 10)
		MPI_Recv_c(word, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
	else
		MPI_Sendrecv_c(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, word, 1, MPI_INT, from, 0, comm,
			MPI_STATUS_IGNORE);
#else
	(void)way;
	MPI_Recv(word, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
#endif
}

#define AWAITED 12

/* Rank 0 waits in MPI, in one of its ways, for a rank that first waits for the reduction. */
static void
wait_for_last(int way, MPI_Comm comm)
{
	const int last = ranks - 1;
	int word = way, other = way, index, done = 0;
	MPI_Request request = MPI_REQUEST_NULL;
	MPI_Status status;

	if (way >= 3 && way < 9)
		MPI_Irecv(&other, 1, MPI_INT, last, 0, comm, &request);
	switch (way) {
	case 0:
		MPI_Recv(&other, 1, MPI_INT, last, 0, comm, MPI_STATUS_IGNORE);
		break;
	case 1:
		MPI_Probe(last, 0, comm, MPI_STATUS_IGNORE);
		MPI_Recv(&other, 1, MPI_INT, last, 0, comm, MPI_STATUS_IGNORE);
		break;
	case 2:
		MPI_Sendrecv(&word, 1, MPI_INT, last, 1, &other, 1, MPI_INT, last, 0, comm,
			MPI_STATUS_IGNORE);
		break;
	case 3:
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	case 4:
		MPI_Waitall(1, &request, &status);
		break;
	case 5:
		MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
		break;
	case 6:
		MPI_Waitsome(1, &request, &done, &index, &status);
		break;
	case 7:
		while (!done)
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		break;
	case 8:
		while (!done)
			MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	case 9:
		MPI_Sendrecv_replace(&other, 1, MPI_INT, last, 1, last, 0, comm, MPI_STATUS_IGNORE);
		break;
	default:
		receive_large_count(way, &other, last, comm);
	}
	if (way != 2 && way != 9)
		MPI_Ssend(&word, 1, MPI_INT, last, 1, comm);
	CHECK(other == way);
}

/* What all ranks are, by MPI_Alltoallw(). */
static void
exchange_all(int words[], MPI_Comm comm)
{
	int mine[64], counts[64], places[64];
	MPI_Datatype types[64];

	for (int r = 0; r < ranks; r++) {
		mine[r] = rank;
		counts[r] = 1;
		places[r] = r * (int)sizeof(int);
		types[r] = MPI_INT;
	}
	MPI_Alltoallw(mine, counts, places, types, words, counts, places, types, comm);
}

/* A reduction by an operation that is left to MPI. */
static void
reduce_by_mpi(int way, MPI_Comm comm)
{
	int ones[64], counts[64], result = 0;

	for (int r = 0; r < ranks; r++)
		ones[r] = counts[r] = 1;
	if (way == 5)
		MPI_Allreduce(ones, &result, 1, MPI_INT, MPI_LAND, comm);
	if (way == 6)
		MPI_Reduce_scatter(ones, &result, counts, MPI_INT, MPI_PROD, comm);
	if (way == 7)
		MPI_Reduce_scatter_block(ones, &result, 1, MPI_INT, MPI_BAND, comm);
	CHECK(result == 1);
}

/* Another collective, by one of its ways. */
#define OTHERS 8
static void
call_other(int way, MPI_Comm comm)
{
	int word = rank, words[64];

	if (way == 0)
		MPI_Barrier(comm);
	if (way == 1)
		MPI_Bcast(&word, 1, MPI_INT, ranks - 1, comm);
	if (way == 2)
		MPI_Allgather(&rank, 1, MPI_INT, words, 1, MPI_INT, comm);
	if (way == 3)
		exchange_all(words, comm);
#if MPI_VERSION >= 4
	if (way == 4)
		MPI_Allgather_c(&rank, 1, MPI_INT, words, 1, MPI_INT, comm);
#endif
	if (way >= 5)
		reduce_by_mpi(way, comm);
	if (way == 1)
		CHECK(word == ranks - 1);
	for (int r = 0; (way == 2 || way == 3) && r < ranks; r++)
		CHECK(words[r] == r);
}

/* The same of one that is started. */
#define STARTS 3
static void
start_other(int way, MPI_Comm comm)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int word = rank, words[64];

	if (way == 0)
		MPI_Ibarrier(comm, &request);
	if (way == 1)
		MPI_Ibcast(&word, 1, MPI_INT, ranks - 1, comm, &request);
	if (way == 2)
		MPI_Iallgather(&rank, 1, MPI_INT, words, 1, MPI_INT, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (way == 1)
		CHECK(word == ranks - 1);
	for (int r = 0; way == 2 && r < ranks; r++)
		CHECK(words[r] == r);
}

static void
make_graph(int way, MPI_Comm comm, MPI_Comm *made)
{
	const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, one = 1;
	int degrees[64], neighbors[64];

	for (int r = 0; r < ranks; r++) {
		degrees[r] = r + 1;
		neighbors[r] = (r + 1) % ranks;
	}
	if (way == 0)
		MPI_Graph_create(comm, ranks, degrees, neighbors, 0, made);
	if (way == 1)
		MPI_Dist_graph_create(comm, 1, &rank, &one, &next, &one, MPI_INFO_NULL, 0, made);
	if (way == 2)
		MPI_Dist_graph_create_adjacent(
			comm, 1, &before, &one, 1, &next, &one, MPI_INFO_NULL, 0, made);
}

/* Another communicator, by one of MPI's ways. */
#define MAKES 9
static void
make_other(int way, MPI_Comm comm)
{
	const int sizes[] = {ranks}, periods[] = {0}, remain[] = {1};
	MPI_Comm made = MPI_COMM_NULL, grid;
	MPI_Group group;

	if (way == 0)
		MPI_Comm_dup(comm, &made);
	if (way == 1)
		MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made);
	if (way == 2)
		MPI_Comm_split(comm, 0, rank, &made);
	if (way == 3)
		MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &made);
	if (way == 4) {
		MPI_Comm_group(comm, &group);
		MPI_Comm_create(comm, group, &made);
		MPI_Group_free(&group);
	}
	if (way == 5) {
		MPI_Cart_create(comm, 1, sizes, periods, 0, &grid);
		MPI_Cart_sub(grid, remain, &made);
		MPI_Comm_free(&grid);
	}
	if (way > 5)
		make_graph(way - 6, comm, &made);
	CHECK(made != MPI_COMM_NULL);
	MPI_Comm_free(&made);
}

/* One is started, too. */
static void
start_to_make(int way, MPI_Comm comm)
{
	MPI_Request request;
	MPI_Comm made;

	(void)way;
	MPI_Comm_idup(comm, &made, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_free(&made);
}

/* Rank 0 calls what is collective before it waits for the reduction, the others afterwards. */
static void
check_beside(void (*call)(int way, MPI_Comm comm), int ways)
{
	float mine = 1, sum = 0;
	MPI_Request request;
	MPI_Comm comm;

	for (int way = 0; way < ways; way++) {
		MPI_Comm_dup(world, &comm);
		MPI_Iallreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm, &request);
		if (rank == 0)
			call(way, comm);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		CHECK(sum == (float)ranks);
		if (rank != 0)
			call(way, comm);
		MPI_Comm_free(&comm);
	}
}

/* The same at the first reduction of each communicator: nothing of its job is there yet. */
void
check_first_awaited(void)
{
	float mine = 1, sum = 0;
	MPI_Request request;
	MPI_Comm comm;

	for (int way = 0, other; way < AWAITED; way++) {
		MPI_Comm_dup(world, &comm);
		MPI_Iallreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm, &request);
		if (rank == 0)
			wait_for_last(way, comm);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		if (rank == ranks - 1) {
			MPI_Send(&way, 1, MPI_INT, 0, 0, comm);
			MPI_Recv(&other, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
			CHECK(other == way);
		}
		CHECK(sum == (float)ranks);
		MPI_Comm_free(&comm);
	}
}

/* There MPI's other collectives are called, too. */
void
check_first_beside(void)
{
	check_beside(call_other, OTHERS);
	check_beside(start_other, STARTS);
	check_beside(make_other, MAKES);
	check_beside(start_to_make, 1);
}

/*
 * The last rank computes between the first reduction's start and its end, for longer than joining
 * (5 s) may take, and longer than the others would wait for what a rank that joins has to say.
 */
void
check_first_computes(void)
{
	float mine = 1, sum = 0;
	MPI_Request request;

	MPI_Iallreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, world, &request);
	if (rank == ranks - 1)
		sleep(17);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	CHECK(sum == (float)ranks);
}

/* Rank 0 sends while it reduces, what rank 1 wants to have before it reduces. */
void
check_progress(void)
{
	char *large = calloc(1, LARGE);
	MPI_Request request = MPI_REQUEST_NULL;

	for (int round = 0; round < 3; round++) {
		float mine = 1, sum;

		if (rank == 0)
			MPI_Isend(large, LARGE, MPI_CHAR, 1, 0, world, &request);
		if (rank == 1)
			MPI_Recv(large, LARGE, MPI_CHAR, 0, 0, world, MPI_STATUS_IGNORE);
		MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, world);
		CHECK(sum == (float)ranks);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	free(large);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that are started again and again. */
#include <stdio.h>
#include <string.h>

#include "persistent.h"
#include "support.h"

#define COUNT 3000
#define ROUNDS 6
#define REQUESTS 5

static float mine[REQUESTS][COUNT], results[REQUESTS][COUNT];

/* One of each kind; the last is no reduction, but a message to itself. */
static void
make(MPI_Comm comm, int counts[], MPI_Request requests[REQUESTS])
{
	const int part = COUNT / ranks;

	for (int r = 0; r < ranks; r++)
		counts[r] = r == 0 ? COUNT - 2 * (ranks - 1) : 2;
	MPI_Allreduce_init(
		mine[0], results[0], COUNT, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
	MPI_Reduce_init(mine[1], results[1], COUNT, MPI_FLOAT, MPI_MIN, ranks - 1, comm,
		MPI_INFO_NULL, &requests[1]);
	MPI_Reduce_scatter_block_init(
		mine[2], results[2], part, MPI_FLOAT, MPI_SUM, comm, MPI_INFO_NULL, &requests[2]);
	MPI_Reduce_scatter_init(
		mine[3], results[3], counts, MPI_FLOAT, MPI_MAX, comm, MPI_INFO_NULL, &requests[3]);
	MPI_Recv_init(results[4], COUNT, MPI_FLOAT, rank, 0, comm, &requests[4]);
}

static void
draw(int round)
{
	for (unsigned int i = 0; i < REQUESTS; i++)
		draw_floats(mine[i], COUNT, (unsigned int)round * REQUESTS + i);
	memset(results, 0, sizeof(results));
}

/* In an order that is each rank's, with another reduction before or after them. */
static void
start(int round, MPI_Comm comm, MPI_Request requests[REQUESTS])
{
	float one = 1, sum = 0;

	if (rank % 2 == 0)
		MPI_Allreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, comm);
	if (round == 0)
		MPI_Startall(REQUESTS, requests);
	for (int i = 0; i < REQUESTS && round > 0; i++)
		MPI_Start(&requests[(i + rank) % REQUESTS]);
	if (rank % 2 != 0)
		MPI_Allreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, comm);
	CHECK(sum == (float)ranks);
	MPI_Send(mine[4], COUNT, MPI_FLOAT, rank, 0, comm);
}

static void
check_round(const int counts[], MPI_Comm comm)
{
	const size_t part = COUNT / (size_t)ranks;
	size_t first = 0;

	for (int r = 0; r < rank; r++)
		first += (size_t)counts[r];
	check_floats(
		&(struct kept){results[0], 0, COUNT, mine[0], COUNT, comm}, MPI_FLOAT, MPI_SUM);
	check_floats(
		&(struct kept){results[1], 0, rank == ranks - 1 ? COUNT : 0, mine[1], COUNT, comm},
		MPI_FLOAT, MPI_MIN);
	check_floats(&(struct kept){results[2], part * (size_t)rank, part, mine[2],
			     part * (size_t)ranks, comm},
		MPI_FLOAT, MPI_SUM);
	check_floats(&(struct kept){results[3], first, (size_t)counts[rank], mine[3], COUNT, comm},
		MPI_FLOAT, MPI_MAX);
	CHECK(memcmp(results[4], mine[4], sizeof(mine[4])) == 0);
}

static int copies;

static int
count_copy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *has_copy)
{
	(void)comm;
	(void)key;
	(void)extra;
	*(void **)copy = value;
	*has_copy = 1;
	copies++;
	return MPI_SUCCESS;
}

/* Nobody sees the communicators that they have: with MPICH they are duplicates nonetheless. */
void
check_persistent_attributes(void)
{
	MPI_Request request;
	float one = 1, sum;
	int key;

	MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(world, key, &copies);
	MPI_Allreduce_init(&one, &sum, 1, MPI_FLOAT, MPI_SUM, world, MPI_INFO_NULL, &request);
	MPI_Start(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	CHECK(sum == (float)ranks);
	MPI_Request_free(&request);
	MPI_Comm_delete_attr(world, key);
	MPI_Comm_free_keyval(&key);
#ifdef OPEN_MPI
	CHECK(copies == 0);
#endif
}

void
check_persistent(void)
{
	MPI_Request requests[REQUESTS];
	int counts[64];
	MPI_Comm comm;

	MPI_Comm_dup(world, &comm);
	make(comm, counts, requests);
	for (int round = 0; round < ROUNDS; round++) {
		draw(round);
		start(round, comm, requests);
		if (round == ROUNDS - 1) /* they go on without it */
			MPI_Comm_free(&comm);
		wait_for_all(requests, REQUESTS, round % WAYS);
		check_round(counts, world);
	}
	for (int i = 0; i < REQUESTS; i++) {
		MPI_Request_free(&requests[i]);
		CHECK(requests[i] == MPI_REQUEST_NULL);
	}
}

static int
class_of(int error)
{
	int class;

	MPI_Error_class(error, &class);
	return class;
}

/* MPI then says nothing of which have completed, nor how many. */
static void
wait_for_a_wrong_number(MPI_Request *request)
{
	int index = 1 << 30, some = 1 << 30, done = 1, indices[1] = {1 << 30};
	MPI_Status statuses[1];

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	CHECK(MPI_Waitany(-1, request, &index, MPI_STATUS_IGNORE) != MPI_SUCCESS);
	CHECK(MPI_Testany(-1, request, &index, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS);
	CHECK(MPI_Waitsome(-1, request, &some, indices, statuses) != MPI_SUCCESS);
	CHECK(MPI_Testsome(-1, request, &some, indices, statuses) != MPI_SUCCESS);
}

/* What MPI forbids is an error, and the reduction goes on. */
void
check_persistent_misuse(void)
{
	float mine_ = 1, sum = 0, pair[2] = {0, 0};
	MPI_Request request, copy;

	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	CHECK(MPI_Allreduce_init(pair, &sum, 1, MPI_C_FLOAT_COMPLEX, MPI_MIN, world, MPI_INFO_NULL,
		      &request) != MPI_SUCCESS);
	MPI_Allreduce_init(&mine_, &sum, 1, MPI_FLOAT, MPI_SUM, world, MPI_INFO_NULL, &request);
	MPI_Start(&request);
	wait_for_a_wrong_number(&request);
	copy = request;
	CHECK(class_of(MPI_Start(&copy)) == MPI_ERR_REQUEST);
	CHECK(class_of(MPI_Startall(1, &copy)) == MPI_ERR_REQUEST);
	CHECK(class_of(MPI_Request_free(&copy)) == MPI_ERR_REQUEST);
	CHECK(class_of(MPI_Cancel(&copy)) == MPI_ERR_REQUEST);
	MPI_Barrier(world); /* it may be done by now, but nobody has waited for it */
	CHECK(class_of(MPI_Start(&copy)) == MPI_ERR_REQUEST);
	CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	CHECK(sum == (float)ranks);
	CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS); /* inactive: nothing to do */
	CHECK(MPI_Start(&request) == MPI_SUCCESS);
	CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	CHECK(MPI_Request_free(&request) == MPI_SUCCESS);
}

/* Reduces until that fails, waiting in each of MPI's ways, and prints what MPI says then. */
void
check_persistent_until_error(void)
{
	char text[MPI_MAX_ERROR_STRING];
	MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	float given = 1, sum;
	int error = MPI_SUCCESS, length;

	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	MPI_Allreduce_init(&given, &sum, 1, MPI_FLOAT, MPI_SUM, world, MPI_INFO_NULL, &requests[1]);
	for (int way = 0; error == MPI_SUCCESS; way++) {
		sum = 0;
		CHECK(MPI_Start(&requests[1]) == MPI_SUCCESS);
		error = wait_for_all(requests, 2, way % WAYS);
		CHECK(error != MPI_SUCCESS || sum == (float)ranks);
		if (rank == 0 && way == 0)
			puts("reduced");
		fflush(stdout);
	}
	MPI_Error_string(error, text, &length);
	printf("rank %d: %s\n", rank, text);
	for (int way = 0; way < WAYS; way++) {
		CHECK(MPI_Start(&requests[1]) == MPI_SUCCESS);
		CHECK(wait_for_all(requests, 2, way) == error);
	}
	CHECK(MPI_Request_free(&requests[1]) == MPI_SUCCESS);
}

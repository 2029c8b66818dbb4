/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that come and go, threads, what is left to MPI, failures and ends. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define COMMS 4
#define ROUNDS 30
#define HUNDRED 100

static void
sum_ranks(MPI_Comm comm)
{
	int here, size;
	float mine, sum;

	MPI_Comm_rank(comm, &here);
	MPI_Comm_size(comm, &size);
	mine = (float)here;
	MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm);
	CHECK(sum == (float)(size * (size - 1) / 2));
}

/* Duplicates and parts, freed in an order that is not theirs; two stay until MPI_Finalize(). */
void
check_communicators(void)
{
	for (int round = 0; round < 3; round++) {
		MPI_Comm copy, part, copy_of_part;

		sum_ranks(world);
		MPI_Comm_dup(world, &copy);
		MPI_Comm_split(copy, rank % 2, -rank, &part);
		sum_ranks(part);
		MPI_Comm_dup(part, &copy_of_part);
		sum_ranks(copy);
		MPI_Comm_free(&part);
		sum_ranks(copy_of_part);
		if (round == 2)
			return;
		MPI_Comm_free(&copy);
		sum_ranks(world);
		MPI_Comm_free(&copy_of_part);
	}
}

/* What is under way ends although its communicator is freed, be it the first that this has. */
void
check_freed(void)
{
	for (int round = 0; round < 4; round++) {
		float mine = (float)rank, sum = -1;
		MPI_Request request;
		MPI_Comm comm;

		MPI_Comm_dup(world, &comm);
		if (round >= 2)
			sum_ranks(comm);
		MPI_Iallreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm, &request);
		CHECK((round % 2 == 0 ? MPI_Comm_free : MPI_Comm_disconnect)(&comm) == MPI_SUCCESS);
		CHECK(comm == MPI_COMM_NULL);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		CHECK(sum == (float)(ranks * (ranks - 1) / 2));
	}
}

/* The same in all ranks. */
static void
shuffle(MPI_Comm *comms, int count, unsigned int seed)
{
	for (int i = count - 1; i > 0; i--) {
		MPI_Comm comm = comms[i];
		int other = (int)((seed = seed * 1103515245U + 12345U) >> 16) % (i + 1);

		comms[i] = comms[other];
		comms[other] = comm;
	}
}

static void
make_comms(MPI_Comm *comms, int count)
{
	for (int i = 0; i < count; i++) {
		MPI_Comm unused;

		MPI_Comm_dup(world, &comms[i]);
		sum_ranks(comms[i]);
		MPI_Comm_dup(comms[i], &unused); /* it takes nothing of the switch */
		if (i % 2 == 0)
			MPI_Comm_free(&unused);
	}
}

/* HUNDRED at a time; half of them go and others come, in orders that are nobody's. */
void
check_hundred(void)
{
	static MPI_Comm comms[HUNDRED];

	make_comms(comms, HUNDRED);
	for (unsigned int round = 0; round < 2; round++) {
		shuffle(comms, HUNDRED, round);
		for (int i = 0; i < HUNDRED / 2; i++)
			MPI_Comm_free(&comms[i]);
		make_comms(comms, HUNDRED / 2);
		for (int i = 0; i < HUNDRED; i++)
			sum_ranks(comms[i]);
	}
	shuffle(comms, HUNDRED, 2);
	for (int i = 0; i < HUNDRED; i++)
		MPI_Comm_free(&comms[i]);
}

/* A child's reduction is an error, and no part of its parent's. */
static void
reduce_in_child(MPI_Comm comm)
{
	pid_t child = fork();
	float mine = 1000, sum = -1;
	int status = -1;

	CHECK(child >= 0);
	if (child == 0) {
		alarm(60); /* it hangs */
		if (MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm) == MPI_SUCCESS ||
			sum != -1)
			_exit(1);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(status == 0);
}

void
check_forks(void)
{
	for (int round = 0; round < 3; round++) {
		sum_ranks(world);
		if (rank % 2 == round % 2)
			reduce_in_child(world);
		sum_ranks(world);
	}
}

static void
add_up(void *in, void *inout, int *count, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *count; i++)
		((float *)inout)[i] += ((float *)in)[i];
}

/* All of it gives what MPI gives. */
void
check_left_to_mpi(void)
{
	long double wide = rank, sum_of_wide;
	float mine[2] = {(float)rank, 1}, sums[2], product;
	struct {
		float value;
		int where;
	} pair = {(float)rank, rank}, greatest;
	unsigned char byte = (unsigned char)(1 << rank), bytes;
	MPI_Datatype two, empty;
	MPI_Op own;

	MPI_Allreduce(&wide, &sum_of_wide, 1, MPI_LONG_DOUBLE, MPI_SUM, world);
	CHECK(sum_of_wide == ranks * (ranks - 1) / 2);
	MPI_Allreduce(&mine[1], &product, 1, MPI_FLOAT, MPI_PROD, world);
	CHECK(product == 1);
	MPI_Allreduce(&pair, &greatest, 1, MPI_FLOAT_INT, MPI_MAXLOC, world);
	CHECK(greatest.where == ranks - 1);
	MPI_Allreduce(&byte, &bytes, 1, MPI_UNSIGNED_CHAR, MPI_BOR, world);
	CHECK(bytes == (1 << ranks) - 1);
	MPI_Type_contiguous(2, MPI_FLOAT, &two);
	MPI_Type_commit(&two);
	MPI_Op_create(add_up, 1, &own);
	MPI_Allreduce(mine, sums, 2, MPI_FLOAT, own, world);
	CHECK(sums[1] == (float)ranks);
	MPI_Op_free(&own);
	MPI_Type_free(&two);
	MPI_Allreduce(mine, sums, 0, MPI_FLOAT, MPI_SUM, world);
	MPI_Allreduce(mine, sums, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_SELF);
	CHECK(sums[0] == mine[0]);
	/* MPI has the words for what is wrong. */
	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	CHECK(MPI_Allreduce(mine, sums, 1, MPI_C_FLOAT_COMPLEX, MPI_MIN, world) != MPI_SUCCESS);
	MPI_Type_contiguous(0, MPI_FLOAT, &empty);
	MPI_Type_commit(&empty);
	CHECK(MPI_Allreduce(mine, sums, 1, empty, MPI_SUM, world) != MPI_SUCCESS);
	MPI_Type_free(&empty);
}

static void *
reduce_often(void *argument)
{
	MPI_Comm comm = *(MPI_Comm *)argument;

	for (int round = 0; round < ROUNDS; round++) {
		float mine = (float)(rank + round), sum;
		MPI_Request request;

		if (round % 2 == 0) {
			MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm);
		} else {
			MPI_Iallreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		CHECK(sum == (float)(ranks * round + ranks * (ranks - 1) / 2));
	}
	return NULL;
}

void
check_threads(void)
{
	pthread_t threads[COMMS];
	MPI_Comm comms[COMMS];

	for (int i = 0; i < COMMS; i++)
		MPI_Comm_dup(world, &comms[i]);
	for (int i = 0; i < COMMS; i++)
		pthread_create(&threads[i], NULL, reduce_often, &comms[i]);
	for (int i = 0; i < COMMS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < COMMS; i++)
		MPI_Comm_free(&comms[i]);
}

/* Reduces until that fails, and prints what MPI says then. */
static void
reduce_until_error(MPI_Comm comm)
{
	char text[MPI_MAX_ERROR_STRING];
	float mine = 1, sum = 0;
	MPI_Request request;
	int error, length;

	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	do {
		error = MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm);
		if (error == MPI_SUCCESS && rank == 0 && sum > 0)
			puts("reduced");
		fflush(stdout);
	} while (error == MPI_SUCCESS);
	MPI_Error_string(error, text, &length);
	printf("rank %d: %s\n", rank, text);
	CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm) == error);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* some libraries ask this one */
	MPI_Iallreduce(&mine, &sum, 1, MPI_FLOAT, MPI_SUM, comm, &request);
	CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
}

void
check_until_error(void)
{
	reduce_until_error(world);
}

/* In each pair one is stopped: the pair's first, or its other. */
void
check_stops(void)
{
	const int pair = rank / 2;
	int here, process = (int)getpid();
	MPI_Comm comm;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH asks this one, too */
	MPI_Comm_split(world, pair, rank, &comm);
	MPI_Comm_rank(comm, &here);
	sum_ranks(comm);
	MPI_Bcast(&process, 1, MPI_INT, pair % 2, comm);
	if (here == pair % 2) {
		raise(SIGSTOP);
	} else {
		reduce_until_error(comm);
		fflush(stdout);
		kill(process, SIGCONT);
	}
	_exit(0);
}

/* Rank 0 reduces one value more than the others. */
void
check_mismatch(void)
{
	float mine[2] = {1, 2}, sums[2];
	int error;

	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	error = MPI_Allreduce(mine, sums, rank == 0 ? 2 : 1, MPI_FLOAT, MPI_SUM, world);
	CHECK(error != MPI_SUCCESS);
	printf("rank %d: refused\n", rank);
}

/* A rank ends without a word, the others see to it that MPI_Finalize() does not wait. */
static void
end_of(int victim)
{
	sum_ranks(world);
	if (rank == victim)
		_exit(0);
	check_until_error();
	fflush(stdout);
	_exit(0);
}

void
check_dies(void)
{
	end_of(ranks - 1);
}

void
check_first_dies(void)
{
	end_of(0);
}

/* A rank ends with a part of its values given, and others have to reduce some of them yet. */
void
check_dies_amid(void)
{
	enum {
		COUNT = 1000000
	};
	static float mine[COUNT], sums[COUNT];
	MPI_Request request;

	sum_ranks(world);
	if (rank == 1) {
		MPI_Iallreduce(mine, sums, COUNT, MPI_FLOAT, MPI_SUM, world, &request);
		_exit(0);
	}
	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	CHECK(MPI_Allreduce(mine, sums, COUNT, MPI_FLOAT, MPI_SUM, world) != MPI_SUCCESS);
	check_until_error();
	fflush(stdout);
	_exit(0);
}

/* The same sums for some seconds, while the switch ends: no call fails. */
void
check_survive(void)
{
	double end = MPI_Wtime() + 4;
	int on = 1, rounds = 0;

	while (on) {
		float mine[2] = {(float)(rank + rounds), 1}, sums[2];
		MPI_Request request;

		MPI_Allreduce(mine, sums, 2, MPI_FLOAT, MPI_SUM, world);
		CHECK(sums[0] == (float)(ranks * rounds + ranks * (ranks - 1) / 2));
		MPI_Iallreduce(MPI_IN_PLACE, mine, 2, MPI_FLOAT, MPI_SUM, world, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		CHECK(mine[1] == (float)ranks);
		if (rank == 0 && rounds == 0)
			puts("reduced");
		fflush(stdout);
		on = MPI_Wtime() < end;
		MPI_Bcast(&on, 1, MPI_INT, 0, world);
		rounds++;
	}
}

/* One rank ends all the others. */
void
check_exits(void)
{
	sum_ranks(world);
	if (rank == 0)
		MPI_Abort(MPI_COMM_WORLD, 3);
	for (;;)
		pause();
}

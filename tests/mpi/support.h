/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_TESTS_MPI_SUPPORT_H
#define NETFC_TESTS_MPI_SUPPORT_H

/**
 * @file
 * What the checks share: each ends the program with a message where something is wrong.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

/** Of MPI_COMM_WORLD. */
extern int rank, ranks;

/** All ranks, in a communicator that only the check which runs has reduced in. */
extern MPI_Comm world;

#define CHECK(condition) check_((condition), #condition, __FILE__, __LINE__)
void check_(bool condition, const char *text, const char *file, int line);

/** Floats of every kind that this rank gives, drawn by a seed. */
void draw_floats(float *values, size_t count, unsigned int seed);

/** The same of doubles. */
void draw_doubles(double *values, size_t count, unsigned int seed);

/** Results that a rank kept of a reduction of `total` values, and what it gave. */
struct kept {
	const void *results;
	size_t first, count;
	const void *given;
	size_t total;
	MPI_Comm comm;
};

/** Whether floats or doubles are right to the bit. */
void check_floats(const struct kept *kept, MPI_Datatype type, MPI_Op op);

/** Whether integers are right, sums as they wrap. */
void check_integers(const struct kept *kept, MPI_Datatype type, MPI_Op op);

/** Waits for requests in one of MPI's ways, until they are done or one is an error: MPI's code. */
#define WAYS 5
int wait_for_all(MPI_Request requests[], int count, int way);

struct check {
	const char *name;
	void (*run)(void);
};

#define CHECKS(X)                 \
	X(doubles)                \
	X(many)                   \
	X(allreduce)              \
	X(all_types)              \
	X(reduce)                 \
	X(scatter)                \
	X(counts_reused)          \
	X(unaligned)              \
	X(bits)                   \
	X(started)                \
	X(first_started)          \
	X(first_awaited)          \
	X(first_beside)           \
	X(first_computes)         \
	X(two_communicators)      \
	X(persistent)             \
	X(persistent_attributes)  \
	X(persistent_misuse)      \
	X(persistent_until_error) \
	X(progress)               \
	X(communicators)          \
	X(freed)                  \
	X(hundred)                \
	X(forks)                  \
	X(left_to_mpi)            \
	X(threads)                \
	X(until_error)            \
	X(mismatch)               \
	X(stops)                  \
	X(survive)                \
	X(dies)                   \
	X(first_dies)             \
	X(dies_amid)              \
	X(exits)

#define DECLARE_CHECK_(name) void check_##name(void);
CHECKS(DECLARE_CHECK_)
#undef DECLARE_CHECK_

#endif /* NETFC_TESTS_MPI_SUPPORT_H */

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What LD_PRELOAD loads: the reductions of MPI, what is done with requests, and what waits, by
 * name, handed on to the core, which knows the MPI library, or to that library where there is no
 * core for it.
 *
 * Nothing of MPI is linked here, so that the library can be loaded into any process: a shell, a
 * Python that loads MPI later, a program that was built for another MPI. Handles are pointers in
 * one MPI library and integers in the other; all arguments are passed on as words, which the
 * calling conventions of x86-64 and AArch64 allow.
 *
 * The names with P are here as well: Open MPI's entry points for Fortran call them.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* X(name, parameters, arguments), by how many there are. */
#define PARAMETERS_1 (uintptr_t a)
#define PARAMETERS_2 (uintptr_t a, uintptr_t b)
#define PARAMETERS_3 (uintptr_t a, uintptr_t b, uintptr_t c)
#define PARAMETERS_4 (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
#define PARAMETERS_5 (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e)
#define PARAMETERS_6 (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)
#define PARAMETERS_7 \
	(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g)
#define PARAMETERS_8                                                                   \
	(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, \
		uintptr_t g, uintptr_t h)
#define PARAMETERS_9                                                                   \
	(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, \
		uintptr_t g, uintptr_t h, uintptr_t i)
#define PARAMETERS_12                                                                  \
	(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, \
		uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j, uintptr_t k, uintptr_t l)
#define ARGUMENTS_1 (a)
#define ARGUMENTS_2 (a, b)
#define ARGUMENTS_3 (a, b, c)
#define ARGUMENTS_4 (a, b, c, d)
#define ARGUMENTS_5 (a, b, c, d, e)
#define ARGUMENTS_9 (a, b, c, d, e, f, g, h, i)
#define ARGUMENTS_12 (a, b, c, d, e, f, g, h, i, j, k, l)
#define ARGUMENTS_6 (a, b, c, d, e, f)
#define ARGUMENTS_7 (a, b, c, d, e, f, g)
#define ARGUMENTS_8 (a, b, c, d, e, f, g, h)

#ifdef MPI_LARGE_COUNTS
#define LARGE(X, name, count) X(name##_c, count)
#else
#define LARGE(X, name, count)
#endif

#define BOTH(X, name, count) X(name, count) LARGE(X, name, count)
#define REDUCTIONS(X)                    \
	BOTH(X, Allreduce, 6)            \
	BOTH(X, Reduce, 7)               \
	BOTH(X, Reduce_scatter, 6)       \
	BOTH(X, Reduce_scatter_block, 6) \
	BOTH(X, Iallreduce, 7)           \
	BOTH(X, Ireduce, 8)              \
	BOTH(X, Ireduce_scatter, 7)      \
	BOTH(X, Ireduce_scatter_block, 7)
#define PERSISTENT(X)                   \
	BOTH(X, Allreduce_init, 8)      \
	BOTH(X, Reduce_init, 9)         \
	BOTH(X, Reduce_scatter_init, 8) \
	BOTH(X, Reduce_scatter_block_init, 8)
#define REQUESTS(X)        \
	X(Cancel, 1)       \
	X(Request_free, 1) \
	X(Start, 1)        \
	X(Startall, 2)     \
	X(Test, 3)         \
	X(Testall, 4)      \
	X(Testany, 5)      \
	X(Testsome, 5)     \
	X(Wait, 2)         \
	X(Waitall, 3)      \
	X(Waitany, 4)      \
	X(Waitsome, 5)

/* Where other ranks are waited for, in an MPI library that then lets nothing else go on. */
#ifdef MPI_WAITS_ALONE
#define WAITING(X)               \
	BOTH(X, Allgather, 7)    \
	BOTH(X, Allgatherv, 8)   \
	BOTH(X, Alltoall, 7)     \
	BOTH(X, Alltoallv, 9)    \
	BOTH(X, Alltoallw, 9)    \
	X(Barrier, 1)            \
	BOTH(X, Bcast, 5)        \
	X(Comm_create, 3)        \
	X(Comm_dup, 2)           \
	X(Comm_dup_with_info, 3) \
	X(Comm_split, 4)         \
	X(Comm_split_type, 5)    \
	BOTH(X, Exscan, 6)       \
	BOTH(X, Gather, 8)       \
	BOTH(X, Gatherv, 9)      \
	BOTH(X, Scan, 6)         \
	BOTH(X, Scatter, 8)      \
	BOTH(X, Scatterv, 9)     \
	X(Improbe, 6)            \
	X(Iprobe, 5)             \
	X(Mprobe, 5)             \
	X(Probe, 4)              \
	X(Recv, 7)               \
	X(Request_get_status, 3) \
	X(Send, 6)               \
	X(Sendrecv, 12)          \
	X(Ssend, 6)
#else
#define WAITING(X)
#endif

enum call {
#define NUMBER(name, count) CALL_##name,
	REDUCTIONS(NUMBER)
	PERSISTENT(NUMBER) REQUESTS(NUMBER) WAITING(NUMBER)
#undef NUMBER
		CALLS
};

/* Their names in MPI, but for a P in front. */
static const char *const names[CALLS] = {
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define NAME(name, count) "MPI_" #name,
#define NAME_OF_PERSISTENT(name, count) TEXT(MPI_PERSISTENT(name)),
	REDUCTIONS(NAME) PERSISTENT(NAME_OF_PERSISTENT) REQUESTS(NAME) WAITING(NAME)
#undef NAME
};

static const char *const own[] = {MPI_LIBRARIES, NULL};
static const char *const others[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", NULL};

/* The first of these libraries that the process has loaded. */
static void *
first_loaded(const char *const *libraries)
{
	void *found = NULL;

	for (; *libraries != NULL && found == NULL; libraries++)
		found = dlopen(*libraries, RTLD_LAZY | RTLD_NOLOAD);
	return found;
}

/* Only the first process of a run reports, if the launcher tells which one it is. */
static void
report_error(const char *what, const char *why)
{
	const char *rank = getenv("PMI_RANK");

	if (rank == NULL)
		rank = getenv("OMPI_COMM_WORLD_RANK");
	if (rank == NULL || strcmp(rank, "0") == 0)
		fprintf(stderr, "netfc-mpi: %s%s; the program runs without it\n", what, why);
}

static void *
load_core(void)
{
	void *core = dlopen(MPI_CORE, RTLD_NOW | RTLD_LOCAL);

	if (core == NULL)
		report_error("", dlerror());
	return core;
}

/* Where a call goes: the core's function, else the MPI library's own. */
static void *
find(enum call call)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	void *mpi = first_loaded(own), *core = mpi == NULL ? NULL : load_core(), *found = NULL;
	char name[64];

	if (core != NULL) {
		snprintf(name, sizeof(name), "netfc_mpi%s", strchr(names[call], '_'));
		found = dlsym(core, name);
	} else if (mpi == NULL && !atomic_flag_test_and_set(&said)) {
		report_error(
			"this library is for " MPI_NAME ", which the program does not use", "");
	}
	snprintf(name, sizeof(name), "P%s", names[call]);
	if (found == NULL && (mpi != NULL || (mpi = first_loaded(others)) != NULL))
		found = dlsym(mpi, name);
	if (found == NULL)
		found = dlsym(RTLD_NEXT, name);
	if (found == NULL) {
		fprintf(stderr, "netfc-mpi: no MPI library has %s\n", name);
		abort();
	}
	return found;
}

static void *
target(enum call call)
{
	static _Atomic(void *) targets[CALLS];
	void *found = atomic_load_explicit(&targets[call], memory_order_acquire);

	if (found == NULL) {
		found = find(call);
		atomic_store_explicit(&targets[call], found, memory_order_release);
	}
	return found;
}

#define ENTRY_OF(call, name, count)                                                \
	EXPORT int name PARAMETERS_##count;                                        \
	int name PARAMETERS_##count                                                \
	{                                                                          \
		return ((int(*) PARAMETERS_##count)target(call))ARGUMENTS_##count; \
	}
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ENTRY(name, count) ENTRY_OF(CALL_##name, MPI_##name, count)
#define BOTH_ENTRIES(name, count) ENTRY(name, count) ENTRY_OF(CALL_##name, PMPI_##name, count)
#define ENTRIES_OF_PERSISTENT(name, count)                 \
	ENTRY_OF(CALL_##name, MPI_PERSISTENT(name), count) \
	ENTRY_OF(CALL_##name, JOIN(P, MPI_PERSISTENT(name)), count)
REDUCTIONS(BOTH_ENTRIES)
PERSISTENT(ENTRIES_OF_PERSISTENT)
REQUESTS(BOTH_ENTRIES)
/* The core calls those with P itself. */
WAITING(ENTRY)

/* A program that is linked with another MPI library is told at its start. */
__attribute__((constructor)) static void
look_at_program(void)
{
	if (first_loaded(own) == NULL && first_loaded(others) != NULL)
		(void)target(CALL_Allreduce);
}

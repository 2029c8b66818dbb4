/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What LD_PRELOAD loads: the functions of MPI that the library has, by name, handed on to the core,
 * which knows the MPI library, or to that library where there is no core for it.
 *
 * Nothing of MPI is linked here, so that the library can be loaded into any process: a shell, a
 * Python that loads MPI later, a program that was built for another MPI. Handles are pointers in
 * one MPI library and integers in the other; all arguments are passed on as words, which the
 * calling conventions of x86-64 and AArch64 allow.
 *
 * The names with P are here as well: the MPI libraries' entry points for Fortran call them.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

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
#define PARAMETERS_10                                                                  \
	(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, \
		uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j)
#define PARAMETERS_12                                                                  \
	(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, \
		uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j, uintptr_t k, uintptr_t l)
#define ARGUMENTS_1 (a)
#define ARGUMENTS_2 (a, b)
#define ARGUMENTS_3 (a, b, c)
#define ARGUMENTS_4 (a, b, c, d)
#define ARGUMENTS_5 (a, b, c, d, e)
#define ARGUMENTS_9 (a, b, c, d, e, f, g, h, i)
#define ARGUMENTS_10 (a, b, c, d, e, f, g, h, i, j)
#define ARGUMENTS_12 (a, b, c, d, e, f, g, h, i, j, k, l)
#define ARGUMENTS_6 (a, b, c, d, e, f)
#define ARGUMENTS_7 (a, b, c, d, e, f, g)
#define ARGUMENTS_8 (a, b, c, d, e, f, g, h)

enum call {
#define NUMBER(name, count) CALL_##name,
	FUNCTIONS_BY_NAME(NUMBER)
	FUNCTIONS_THAT_PERSIST(NUMBER)
#undef NUMBER
		CALLS
};

/* Their names in MPI, but for a P in front. */
static const char *const names[CALLS] = {
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define NAME(name, count) "MPI_" #name,
#define NAME_OF_PERSISTENT(name, count) TEXT(MPI_PERSISTENT(name)),
	FUNCTIONS_BY_NAME(NAME) FUNCTIONS_THAT_PERSIST(NAME_OF_PERSISTENT)
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
	static const char *const variables[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
	const char *rank = NULL;

	for (size_t v = 0; v < sizeof(variables) / sizeof(variables[0]) && rank == NULL; v++)
		rank = getenv(variables[v]);
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

/*
 * A tool's that is loaded after this library, by MPI's profiling interface: without this library
 * the program would call that, and the tool calls the name with P.
 */
static void *
find_tool(enum call call)
{
	void *mpi = first_loaded(own), *next = dlsym(RTLD_NEXT, names[call]);

	return mpi == NULL || next == dlsym(mpi, names[call]) ? NULL : next;
}

static void *
target(enum call call, bool has_p)
{
	static _Atomic(void *) targets[CALLS][2];
	_Atomic(void *) *known = &targets[call][has_p];
	void *found = atomic_load_explicit(known, memory_order_acquire);

	if (found == NULL) {
		found = has_p ? NULL : find_tool(call);
		found = found != NULL ? found : find(call);
		atomic_store_explicit(known, found, memory_order_release);
	}
	return found;
}

#define ENTRY_OF(call, name, count, has_p)                                                \
	EXPORT int name PARAMETERS_##count;                                               \
	int name PARAMETERS_##count                                                       \
	{                                                                                 \
		return ((int(*) PARAMETERS_##count)target(call, has_p))ARGUMENTS_##count; \
	}
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ENTRIES(name, count)                            \
	ENTRY_OF(CALL_##name, MPI_##name, count, false) \
	ENTRY_OF(CALL_##name, PMPI_##name, count, true)
#define ENTRIES_OF_PERSISTENT(name, count)                        \
	ENTRY_OF(CALL_##name, MPI_PERSISTENT(name), count, false) \
	ENTRY_OF(CALL_##name, JOIN(P, MPI_PERSISTENT(name)), count, true)
FUNCTIONS_BY_NAME(ENTRIES)
FUNCTIONS_THAT_PERSIST(ENTRIES_OF_PERSISTENT)

/* A program that is linked with another MPI library is told at its start. */
__attribute__((constructor)) static void
look_at_program(void)
{
	if (first_loaded(own) == NULL && first_loaded(others) != NULL)
		(void)target(CALL_Allreduce, true);
}

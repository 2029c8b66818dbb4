/* SPDX-License-Identifier: BSD-3-Clause */
#include "shim.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "operation.h"

#define JOIN_S 60
#define DEADLINE_S 3600 /* a rank that computes is waited for, as MPI does */
#define MAX_S 1000000
#define LINE 1024

struct shim shim = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.persistent_lock = PTHREAD_MUTEX_INITIALIZER,
	.tally_lock = PTHREAD_MUTEX_INITIALIZER,
};

void
shim_log(const char *format, ...)
{
	char text[LINE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(stderr, "netfc-mpi: %s\n", text);
}

void
shim_log_left(enum left_to_mpi why, const char *what, MPI_Comm comm)
{
	static const char *const sentences[] = {
#define SENTENCE(symbol, sentence) sentence,
		LEFT_TO_MPI(SENTENCE)
#undef SENTENCE
	};
	unsigned int bit = 1U << why;
	int rank = 0;

	if ((atomic_fetch_or(&shim.said, bit) & bit) != 0 && shim.settings.verbose < 2)
		return;
	PMPI_Comm_rank(comm, &rank);
	if (rank == 0)
		shim_log("%s is left to MPI: %s%s", what, sentences[why],
			shim.settings.verbose < 2 ? " (said once)" : "");
}

void
shim_count(const char *function, MPI_Datatype type, MPI_Op op, enum tally_way way, uint64_t values)
{
	atomic_fetch_add(way == TALLY_MPI ? &shim.by_mpi : &shim.by_switch, 1);
	if (shim.settings.verbose == 0)
		return;
	pthread_mutex_lock(&shim.tally_lock);
	tally_add(&shim.tally, function, type, op, way, values);
	pthread_mutex_unlock(&shim.tally_lock);
}

/* The first rank's table; the others' may be no different. */
static void
report_totals(void)
{
	if (shim.settings.verbose == 0)
		return;
	shim_log("rank %d: %llu reductions by the switch or the node, %llu left to MPI", shim.rank,
		atomic_load(&shim.by_switch), atomic_load(&shim.by_mpi));
	if (shim.rank == 0 || shim.settings.verbose > 1)
		tally_print(&shim.tally, shim_log);
}

static const char *
text_of(const char *variable)
{
	const char *value = getenv(variable);

	return value == NULL || value[0] == '\0' ? NULL : value;
}

static unsigned int
digit(const char *variable, unsigned int most, unsigned int otherwise)
{
	const char *value = text_of(variable);

	if (value == NULL)
		return otherwise;
	if (value[0] >= '0' && value[0] <= (char)('0' + most) && value[1] == '\0')
		return (unsigned int)(value[0] - '0');
	shim_log("%s=%s is not a number from 0 to %u: using %u", variable, value, most, otherwise);
	return otherwise;
}

/* A decimal number, whatever the program's locale writes for a point; -1: none. */
static double
decimal(const char *text)
{
	size_t whole = strspn(text, "0123456789");
	size_t point = text[whole] == '.';
	size_t fraction = strspn(text + whole + point, "0123456789");
	double number = 0, unit = 1;

	if (whole + fraction == 0 || text[whole + point + fraction] != '\0')
		return -1;
	for (size_t i = 0; i < whole; i++)
		number = 10 * number + (text[i] - '0');
	for (size_t i = 0; i < fraction; i++)
		number += (text[whole + point + i] - '0') * (unit /= 10);
	return number;
}

static unsigned int
milliseconds(const char *variable, unsigned int seconds)
{
	const char *value = text_of(variable);
	double given;

	if (value == NULL)
		return seconds * 1000;
	given = decimal(value);
	if (given >= 0.001 && given <= MAX_S)
		return (unsigned int)(given * 1000 + 0.5);
	shim_log("%s=%s is not a number of seconds from 0.001 to %d: using %u", variable, value,
		MAX_S, seconds);
	return seconds * 1000;
}

/* A power of two; 0: none is given. */
static unsigned int
slots_of(const char *variable)
{
	const char *value = text_of(variable);
	double given = value == NULL ? 0 : decimal(value);

	for (unsigned int slots = 1; slots <= NETFC_ALLREDUCE_MAX_SLOTS; slots *= 2)
		if (given == (double)slots)
			return slots;
	if (value != NULL)
		shim_log("%s=%s is not a power of two from 1 to %d: using a share", variable, value,
			NETFC_ALLREDUCE_MAX_SLOTS);
	return 0;
}

/* A name that is misspelt would change nothing, and nobody would know. */
static void
report_unknown_variables(void)
{
	static const char *const known[] = {"INTERFACE", "BIND_ADDRESS", "FALLBACK", "VERBOSE",
		"SHARED_MEMORY", "LOCAL", "DEADLINE", "JOIN_TIMEOUT", "SLOTS"};
	static const char prefix[] = "NETFC_MPI_";

	for (char **variable = environ; *variable != NULL; variable++) {
		const char *name = *variable + sizeof(prefix) - 1;
		size_t k = 0;

		if (strncmp(*variable, prefix, sizeof(prefix) - 1) != 0)
			continue;
		while (k < sizeof(known) / sizeof(known[0]) &&
			(strlen(known[k]) != strcspn(name, "=") ||
				strncmp(name, known[k], strlen(known[k])) != 0))
			k++;
		if (k == sizeof(known) / sizeof(known[0]))
			shim_log("there is no variable %.*s: see libnetfc-mpi(7)",
				(int)strcspn(*variable, "="), *variable);
	}
}

/*
 * Slurm starts tasks that do not find each other if it was told another kind of launch than the MPI
 * library has: each is a program of one rank then, and all of them are right, and say nothing.
 */
static void
report_tasks_apart(void)
{
	const char *tasks = text_of("SLURM_STEP_NUM_TASKS"), *task = text_of("SLURM_PROCID");
	int ranks = 0;

	PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks != 1 || tasks == NULL || strcmp(tasks, "1") == 0 || task == NULL ||
		strcmp(task, "0") != 0)
		return;
	/* Ranks that mpirun starts in a step of Slurm's. */
	if (text_of("PMI_SIZE") != NULL || text_of("OMPI_COMM_WORLD_SIZE") != NULL)
		return;
	shim_log(
		"each of Slurm's %s tasks is an MPI program of its own: start them by an --mpi= of "
		"srun that the MPI library knows (Debian's Open MPI: pmix, MPICH: pmi2)",
		tasks);
}

static void
read_settings(struct settings *settings)
{
	report_unknown_variables();
	report_tasks_apart();
	settings->switches = text_of("NETFC_SWITCH");
	settings->interface = text_of("NETFC_MPI_INTERFACE");
	settings->bind_address = text_of("NETFC_MPI_BIND_ADDRESS");
	settings->fallback = digit("NETFC_MPI_FALLBACK", 1, 0) != 0;
	settings->verbose = (int)digit("NETFC_MPI_VERBOSE", 2, 0);
	settings->separate = digit("NETFC_MPI_SHARED_MEMORY", 1, 1) == 0;
	settings->local = digit("NETFC_MPI_LOCAL", 1, settings->switches == NULL) != 0;
	settings->deadline_ms = milliseconds("NETFC_MPI_DEADLINE", DEADLINE_S);
	settings->join_ms = milliseconds("NETFC_MPI_JOIN_TIMEOUT", JOIN_S);
	settings->slots = slots_of("NETFC_MPI_SLOTS");
}

/* MPI_Finalize() deletes what MPI_COMM_SELF has before all else, with MPI still in order. */
static int
finalizing(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm;
	(void)keyval;
	(void)value;
	(void)extra;
	if (shim_is_forked())
		return MPI_SUCCESS;
	pthread_mutex_lock(&shim.lock);
	shim.ended = true;
	pthread_mutex_unlock(&shim.lock);
	job_leave_all();
	report_totals();
	return MPI_SUCCESS;
}

static int
copy_nothing(MPI_Comm comm, int keyval, void *extra, void *value, void *copy, int *flag)
{
	(void)comm;
	(void)keyval;
	(void)extra;
	(void)value;
	(void)copy;
	*flag = 0;
	return MPI_SUCCESS;
}

static bool
prepare_mpi(void)
{
	int self;

	PMPI_Comm_rank(MPI_COMM_WORLD, &shim.rank);
	return PMPI_Comm_create_keyval(copy_nothing, job_deleted, &shim.keyval, NULL) ==
		MPI_SUCCESS &&
		PMPI_Comm_create_keyval(copy_nothing, finalizing, &self, NULL) == MPI_SUCCESS &&
		PMPI_Comm_set_attr(MPI_COMM_SELF, self, NULL) == MPI_SUCCESS &&
		PMPI_Add_error_class(&shim.error_class) == MPI_SUCCESS &&
		PMPI_Add_error_string(shim.error_class,
			"a reduction by the switch failed (netfc-mpi)") == MPI_SUCCESS;
}

void *
real_symbol(const char *name)
{
	static const char *const libraries[] = {MPI_LIBRARIES};
	void *library = NULL;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]) && library == NULL; i++)
		library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
	return library == NULL ? NULL : dlsym(library, name);
}

/* Find them in the MPI library that the process has loaded, and because of which it loads this. */
__attribute__((constructor)) static void
find_real(void)
{
	struct real *real = &shim.real;

	real->complete = true;
#define FIND(name, text)                               \
	*(void **)&real->name = real_symbol("P" text); \
	real->complete = real->complete && real->name != NULL;
#define FIND_FUNCTION(name, count) FIND(name, "MPI_" #name)
	FUNCTIONS_BY_NAME(FIND_FUNCTION)
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
#define FIND_PERSISTENT(name, count) FIND(name, TEXT(MPI_PERSISTENT(name)))
	FUNCTIONS_THAT_PERSIST(FIND_PERSISTENT)
#undef FIND
}

bool
shim_is_forked(void)
{
	return shim.process != 0 && shim.process != getpid();
}

/* The lock is held. */
static bool
attach(void)
{
	int initialized = 0, finalized = 0;

	if (!shim.attached) {
		PMPI_Initialized(&initialized);
		PMPI_Finalized(&finalized);
		if (shim.real.complete && initialized && !finalized) {
			shim.usable = prepare_mpi() && progress_begin();
			shim.process = getpid();
			shim.attached = true;
		}
	}
	return shim.usable && !shim.ended;
}

bool
shim_attach(void)
{
	bool usable;

	pthread_mutex_lock(&shim.lock);
	usable = attach();
	pthread_mutex_unlock(&shim.lock);
	return usable;
}

bool
shim_begin(void)
{
	bool usable;

	pthread_mutex_lock(&shim.lock);
	usable = attach();
	if (usable && !shim.begun)
		read_settings(&shim.settings);
	shim.begun = shim.begun || usable;
	pthread_mutex_unlock(&shim.lock);
	return usable;
}

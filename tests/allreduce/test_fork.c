/* SPDX-License-Identifier: BSD-3-Clause */
/* A forked process has a copy of the communicator, and no part in the job. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pthread.h>

#include "cases.h"
#include "server.h"
#include "workers.h"

#define COUNT 5000
#define FORKS 20
#define HANGS_S 60   /* a child that is not through by then */
#define LOOKS_MS 200 /* who waits for others has looked at them by then */

#define EXPECT(condition)                                                         \
	do {                                                                      \
		if (!(condition)) {                                               \
			fprintf(stderr, "# line %d: %s\n", __LINE__, #condition); \
			wrong++;                                                  \
		}                                                                 \
	} while (0)

/*
 * Before GCC 15, a child of a process with threads has the locks of the address sanitizer's
 * allocator as they were, and waits for one that a thread held: in one of three runs of these
 * tests.
 */
#if defined(__SANITIZE_ADDRESS__) && __GNUC__ < 15
#define CHILD_MAY_ALLOCATE 0
#else
#define CHILD_MAY_ALLOCATE 1
#endif

static void
skip_unless_a_child_may_allocate(void)
{
	if (CHILD_MAY_ALLOCATE)
		return;
	print_message(
		"skipped: the address sanitizer of GCC before 15 hangs in children of threads\n");
	skip();
}

/* What a child has of its parent's. */
struct inherited {
	struct netfc_allreduce *comm;
	struct netfc_allreduce_handle *handle;
	struct netfc_allreduce_options options;
};

/* Each collective is refused, and so is what waits for one. */
static int
reduce(struct inherited *inherited)
{
	struct netfc_allreduce *comm = inherited->comm;
	const struct netfc_collective barrier = {.kind = NETFC_COLLECTIVE_BARRIER};
	struct netfc_allreduce_totals *totals = netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP32, 1);
	struct netfc_allreduce_handle *handle = inherited->handle;
	int32_t values[2] = {100, 100};
	float one = 1, result = 0;
	int wrong = 0;

	EXPECT(netfc_allreduce(comm, values, 2, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM) ==
		NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_reduce(comm, values, values, 2, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM,
		       0) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_reduce_scatter(comm, values, values, 2, NETFC_ALLREDUCE_INT32,
		       NETFC_ALLREDUCE_SUM) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_allgather(comm, values, values, 4) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_broadcast(comm, values, 4, 0) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_barrier(comm) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_allreduce_sum(comm, &one, 1, NETFC_ALLREDUCE_FP32, &result, NULL) ==
		NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_allreduce_sum(comm, &one, 1, 0, &result, NULL) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_allreduce_dot(comm, &one, &one, 1, NETFC_ALLREDUCE_FP32, &result, NULL) ==
		NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_allreduce_digits(comm, totals, &result, NETFC_ALLREDUCE_SUM) ==
		NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_collective(comm, &barrier) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_allreduce_wait(&handle, -1, NULL) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(handle == NULL);
	EXPECT(netfc_collective_start(comm, &barrier, false, &handle) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(handle == NULL);
	EXPECT(netfc_allreduce_start(comm, values, 2, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM,
		       true, &handle) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(values[0] == 100 && values[1] == 100);
	netfc_allreduce_totals_free(totals);
	return wrong;
}

/* All that there is to call. */
static int
use_all(struct inherited *inherited)
{
	struct netfc_allreduce *comm = inherited->comm;
	struct netfc_allreduce_info info;
	struct netfc_allreduce_stats stats;
	unsigned int level = 1;
	int wrong = reduce(inherited);

	EXPECT(strstr(netfc_allreduce_error(comm), "forked") != NULL);
	EXPECT(netfc_allreduce_silent_worker(comm) == -1);
	EXPECT(netfc_allreduce_silent_member(comm, &level) == -1 && level == 0);
	EXPECT(netfc_allreduce_failed_switch(comm) == -1);
	netfc_allreduce_info(comm, &info);
	EXPECT(info.switches == 0 && info.slots == 0);
	netfc_allreduce_stats(comm, &stats);
	EXPECT(stats.sent == 0);
	netfc_allreduce_abort(comm);
	EXPECT(netfc_allreduce_leave(comm) == NETFC_ALLREDUCE_BROKEN);
	EXPECT(netfc_allreduce_join(comm, &inherited->options) == NETFC_ALLREDUCE_BROKEN);
	netfc_allreduce_free(comm);
	return wrong;
}

/* One of its own is as good as in any process, unless that may start no threads. */
static int
join_another_job(const struct inherited *inherited)
{
	struct netfc_allreduce_options options = inherited->options;
	struct netfc_allreduce *comm;
	int32_t value = 5;
	int wrong = 0;

#ifdef __SANITIZE_THREAD__ /* not in a process that was forked from threads */
	return wrong;
#endif
	options.worker = 0;
	options.workers = 1;
	options.job = (uint16_t)(1000 + getpid() % 50000);
	comm = worker_join(&options);
	EXPECT(comm != NULL);
	if (comm == NULL)
		return wrong;
	EXPECT(netfc_allreduce(comm, &value, 1, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM) ==
		NETFC_ALLREDUCE_OK);
	EXPECT(value == 5);
	EXPECT(netfc_allreduce_leave(comm) == NETFC_ALLREDUCE_OK);
	netfc_allreduce_free(comm);
	return wrong;
}

/* Returns whether the child found all as it should be. */
static bool
fork_once(struct inherited *inherited)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		alarm(HANGS_S);
		_exit(use_all(inherited) + join_another_job(inherited));
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

struct scene {
	struct place place;
	atomic_bool over;
	bool threads; /* another thread of each worker's reduces meanwhile */
};

struct other {
	struct netfc_allreduce *comm;
	struct scene *scene;
	int wrong;
};

/* It has the lock most of the time. */
static void *
read_all_the_time(void *argument)
{
	struct other *other = argument;
	struct netfc_allreduce_stats stats;

	while (!atomic_load(&other->scene->over))
		netfc_allreduce_stats(other->comm, &stats);
	return NULL;
}

static int
reduce_in_parent(struct netfc_allreduce *comm, unsigned int w, unsigned int n, unsigned int round)
{
	static _Thread_local int32_t values[COUNT];
	int wrong = 0;

	for (unsigned int i = 0; i < COUNT; i++)
		values[i] = (int32_t)(w + round + i);
	EXPECT(netfc_allreduce(comm, values, COUNT, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM) ==
		NETFC_ALLREDUCE_OK);
	for (unsigned int i = 0; i < COUNT && wrong == 0; i++)
		EXPECT(values[i] == (int32_t)(n * (round + i) + n * (n - 1) / 2));
	return wrong;
}

static int
fork_now_and_then(unsigned int w, unsigned int n, void *context)
{
	struct scene *scene = context;
	struct inherited inherited = {.options = worker_options(&scene->place, w, n)};
	struct other other = {.scene = scene};
	int32_t value = 1;
	pthread_t thread;
	int wrong = 0;

	inherited.options.deadline_ms = 1000 * HANGS_S;
	inherited.comm = other.comm = worker_join(&inherited.options);
	EXPECT(inherited.comm != NULL);
	if (wrong != 0)
		return wrong;
	if (scene->threads)
		pthread_create(&thread, NULL, read_all_the_time, &other);
	for (unsigned int round = 0; round < FORKS; round++) {
		EXPECT(netfc_allreduce_start(inherited.comm, &value, 1, NETFC_ALLREDUCE_INT32,
			       NETFC_ALLREDUCE_MAX, round % 2 == 0,
			       &inherited.handle) == NETFC_ALLREDUCE_OK);
		EXPECT(fork_once(&inherited));
		EXPECT(netfc_allreduce_wait(&inherited.handle, -1, NULL) == NETFC_ALLREDUCE_OK);
		wrong += reduce_in_parent(inherited.comm, w, n, round);
	}
	if (scene->threads) {
		atomic_store(&scene->over, true);
		pthread_join(thread, NULL);
	}
	EXPECT(netfc_allreduce_leave(inherited.comm) == NETFC_ALLREDUCE_OK);
	netfc_allreduce_free(inherited.comm);
	return wrong;
}

TEST(a_child_has_no_part_in_the_job)
{
	skip_unless_a_child_may_allocate();
	for (int threads = 0; threads < 2; threads++) {
		struct server *server = server_start(&server_defaults);
		struct scene scene = {
			.place = place_at(server_port(server)), .threads = threads != 0};

		assert_int_equal(workers_run(2, fork_now_and_then, &scene), 0);
		assert_int_equal(server_jobs(server), 0);
		server_stop(server);
	}
}

struct waiting {
	struct place place;
	int joined[2]; /* a pipe: the other worker has */
	atomic_bool told;
	int ended; /* the child's status */
};

/*
 * The child comes back from here into the function that joins, when the switch would let it in, and
 * before its parent asks again.
 */
static void
fork_when_told(void *context, const char *text)
{
	struct waiting *waiting = context;
	pid_t child;
	char byte;

	(void)text;
	if (atomic_exchange(&waiting->told, true))
		return;
	child = fork();
	if (child != 0)
		waitpid(child, &waiting->ended, 0);
	else if (read(waiting->joined[0], &byte, 1) == 1)
		alarm(HANGS_S);
}

static int
fork_while_joining(unsigned int w, unsigned int n, void *context)
{
	struct waiting *waiting = context;
	struct netfc_allreduce_options options = worker_options(&waiting->place, w, n);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	const pid_t self = getpid();
	int wrong = 0, status;

	options.join_ms = 1000 * HANGS_S;
	options.notice = w == 0 ? fork_when_told : NULL;
	options.notice_context = waiting;
	while (w != 0 && !atomic_load(&waiting->told))
		usleep(1000);
	status = netfc_allreduce_join(comm, &options);
	if (getpid() != self)
		_exit(status != NETFC_ALLREDUCE_BROKEN);
	EXPECT(status == NETFC_ALLREDUCE_OK);
	if (w != 0)
		EXPECT(write(waiting->joined[1], "", 1) == 1);
	wrong += reduce_in_parent(comm, w, n, 1);
	EXPECT(waiting->ended == 0);
	EXPECT(netfc_allreduce_leave(comm) == NETFC_ALLREDUCE_OK);
	netfc_allreduce_free(comm);
	return wrong;
}

TEST(a_child_of_who_joins_does_not_join)
{
	struct waiting waiting = {.ended = -1};
	struct server *server;

	skip_unless_a_child_may_allocate();
	server = server_start(&server_defaults);
	waiting.place = place_at(server_port(server));
	assert_int_equal(pipe(waiting.joined), 0);
	assert_int_equal(workers_run(2, fork_while_joining, &waiting), 0);
	close(waiting.joined[0]);
	close(waiting.joined[1]);
	server_stop(server);
}

static void
free_in_child(struct netfc_allreduce *comm)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		alarm(HANGS_S);
		netfc_allreduce_free(comm);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* It ends, with or without freeing what it has. */
TEST(a_child_of_a_communicator_that_has_joined_nothing)
{
	struct netfc_allreduce *comm = netfc_allreduce_new();

	free_in_child(comm);
	netfc_allreduce_free(comm);
}

/* Others wait for its parent, and do not hear that it has left. */
TEST(a_child_does_not_leave_memory_that_is_shared)
{
	struct netfc_allreduce_options options;
	struct netfc_allreduce_handle *handle;
	struct netfc_allreduce *comm[2];
	int32_t values[2] = {1, 2};
	char path[64];
	int file;

	skip_unless_a_child_may_allocate();
	file = memfd_create("job", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), file);
	netfc_allreduce_options_init(&options, sizeof(options));
	options.memory = path;
	options.token = 5;
	options.workers = 2;
	for (options.worker = 0; options.worker < 2; options.worker++)
		comm[options.worker] = worker_join(&options);
	assert_int_equal(netfc_allreduce_start(comm[0], &values[0], 1, NETFC_ALLREDUCE_INT32,
				 NETFC_ALLREDUCE_SUM, false, &handle),
		NETFC_ALLREDUCE_OK);
	free_in_child(comm[1]);
	assert_int_equal(netfc_allreduce_wait(&handle, LOOKS_MS, NULL), NETFC_ALLREDUCE_PENDING);
	assert_int_equal(
		netfc_allreduce(comm[1], &values[1], 1, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_OK);
	assert_int_equal(netfc_allreduce_wait(&handle, -1, NULL), NETFC_ALLREDUCE_OK);
	assert_int_equal(values[0], 3);
	assert_int_equal(values[1], 3);
	netfc_allreduce_free(comm[0]);
	netfc_allreduce_free(comm[1]);
	close(file);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers that share memory, in the place of a switch: its bits, and who is to blame when it fails.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <aggregate_format.h>

#include "cases.h"
#include "memory/segment.h"
#include "workers.h"

#define COUNT 9000    /* several pieces of all formats */
#define LARGE 2000000 /* more of fp32 than there is room for at once */
#define LOOKS_MS 200  /* who waits for others has looked at them by then */

struct job {
	char path[64];
	int file;
	struct vector *vector;
	unsigned int deadline_ms, silence_ms;
	int wanted;       /* a status */
	const char *text; /* in the error */
};

static struct job
job_begin(void)
{
	struct job job = {.file = memfd_create("job", MFD_CLOEXEC), .deadline_ms = 20000};

	assert_true(job.file >= 0);
	snprintf(job.path, sizeof(job.path), "/proc/%d/fd/%d", (int)getpid(), job.file);
	return job;
}

static struct netfc_allreduce_options
options_of(const struct job *job, unsigned int w, unsigned int n)
{
	struct netfc_allreduce_options options;

	netfc_allreduce_options_init(&options, sizeof(options));
	options.memory = job->path;
	options.token = 0x123456789abcdef0;
	options.worker = w;
	options.workers = n;
	options.join_ms = 20000;
	options.deadline_ms = job->deadline_ms;
	options.silence_ms = job->silence_ms;
	return options;
}

static struct netfc_allreduce *
join(const struct job *job, unsigned int w, unsigned int n)
{
	const struct netfc_allreduce_options options = options_of(job, w, n);

	return worker_join(&options);
}

static void
leave(struct netfc_allreduce *comm)
{
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
}

/* ---- bits ----------------------------------------------------------------------------------- */

static uint8_t *
results_of(const struct vector *vector)
{
	return malloc((size_t)vector->count * 8);
}

/* A collective of a kind, as worker w; its results are those of the oracle, or what is copied. */
static int
reduce(struct netfc_allreduce *comm, const struct vector *vector, unsigned int w, unsigned int n)
{
	const struct netfc_collective collective = {.kind = NETFC_COLLECTIVE_ALLREDUCE,
		.format = vector->format,
		.op = vector->op,
		.values = vector->values[w],
		.count = vector->count};
	struct netfc_collective to_one = collective;
	struct netfc_allreduce_handle *handle, *second;
	uint8_t *results = results_of(vector), *others = results_of(vector);
	unsigned int flags;
	int wrong = 0;

	to_one.kind = NETFC_COLLECTIVE_REDUCE;
	to_one.root = n - 1;
	to_one.result = w == n - 1 ? others : NULL;
	wrong |= netfc_collective_start(comm,
			 &(struct netfc_collective){.kind = collective.kind,
				 .format = collective.format,
				 .op = collective.op,
				 .values = collective.values,
				 .result = results,
				 .count = collective.count},
			 false, &handle) != 0;
	wrong |= netfc_collective_start_labelled(comm, &to_one, 7, true, &second) != 0;
	wrong |= wrong || netfc_allreduce_wait(&second, -1, NULL) != 0 ||
		netfc_allreduce_wait(&handle, -1, &flags) != 0 || flags != vector->flags ||
		vector_differs(vector, results) || (w == n - 1 && vector_differs(vector, others));
	if (wrong)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	free(results);
	free(others);
	return wrong;
}

static int
reduce_all(unsigned int w, unsigned int n, void *context)
{
	const struct job *job = context;
	struct netfc_allreduce *comm = join(job, w, n);
	int wrong = reduce(comm, job->vector, w, n);

	leave(comm);
	return wrong;
}

TEST(test_formats)
{
	static const unsigned int teams[] = {1, 2, 3, 5, 64};

	for (unsigned int format = 1; format < AGGREGATE_PAIR_END; format++) {
		for (unsigned int op = AGGREGATE_SUM; op <= AGGREGATE_MAX; op++) {
			const unsigned int n = teams[(format + op) % 5];
			struct job job = job_begin();

			if (aggregate_has_format(op, format)) {
				job.vector = vector_new(
					format, op, n, COUNT / (n == 64 ? 8 : 1), format + op);
				assert_int_equal(workers_run(n, reduce_all, &job), 0);
				vector_free(job.vector);
			}
			close(job.file);
		}
	}
}

static int
copy_and_scatter(unsigned int w, unsigned int n, void *context)
{
	enum {
		BYTES = 50001,
		PART = 5000
	};
	const struct job *job = context;
	struct netfc_allreduce *comm = join(job, w, n);
	uint8_t *own = malloc(BYTES), *all = malloc((size_t)n * BYTES);
	int32_t *parts = malloc((size_t)n * PART * sizeof(*parts)), sums[PART];
	int wrong = 0;

	for (unsigned int round = 0; round < 3; round++) {
		memset(own, (int)(w + round), BYTES);
		wrong |= netfc_allgather(comm, own, all, BYTES) != 0;
		for (size_t i = 0; i < (size_t)n * BYTES; i++)
			wrong |= all[i] != i / BYTES + round;
		wrong |= netfc_broadcast(comm, own, BYTES, n - 1) != 0 ||
			own[BYTES - 1] != n - 1 + round;
		wrong |= netfc_barrier(comm) != 0;
		for (unsigned int i = 0; i < n * PART; i++)
			parts[i] = (int32_t)(i * (w + 1));
		wrong |= netfc_reduce_scatter(comm, parts, sums, PART, NETFC_ALLREDUCE_INT32,
				 NETFC_ALLREDUCE_SUM) != 0;
		for (unsigned int i = 0; i < PART; i++)
			wrong |= sums[i] != (int32_t)((w * PART + i) * n * (n + 1) / 2);
	}
	if (wrong)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	free(own);
	free(all);
	free(parts);
	leave(comm);
	return wrong;
}

TEST(test_copies)
{
	struct job job = job_begin();

	assert_int_equal(workers_run(3, copy_and_scatter, &job), 0);
	close(job.file);
}

/* Each worker has the exact sum of several vectors. */
static int
give_totals(unsigned int w, unsigned int n, void *context)
{
	const struct job *job = context;
	const struct vector *vector = job->vector;
	struct netfc_allreduce *comm = join(job, w, n);
	struct netfc_allreduce_totals *totals =
		netfc_allreduce_totals_new(vector->format, vector->count);
	uint8_t *results = results_of(vector);
	int wrong;

	for (unsigned int v = w; v < vector->workers; v += n)
		netfc_allreduce_totals_add(totals, vector->values[v]);
	netfc_allreduce_totals_divide(totals, vector->workers);
	wrong = netfc_allreduce_digits(comm, totals, results, vector->op) != 0 ||
		vector_differs(vector, results) ||
		netfc_allreduce_digits(comm, totals, results, vector->op) != 0 ||
		vector_differs(vector, results);
	if (wrong)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	netfc_allreduce_totals_free(totals);
	free(results);
	leave(comm);
	return wrong;
}

TEST(test_totals)
{
	for (unsigned int format = 1; format < AGGREGATE_PAIR_END; format++) {
		const unsigned int op = format % 2 == 0 ? AGGREGATE_SUM : AGGREGATE_MEAN;
		struct job job = job_begin();

		if (aggregate_has_format(op, format)) {
			job.vector = vector_new(format, op, 12, 2000, format);
			assert_int_equal(workers_run(1 + format % 5, give_totals, &job), 0);
			vector_free(job.vector);
		}
		close(job.file);
	}
}

/* ---- failures ------------------------------------------------------------------------------- */

/* Nonzero, and said, unless a worker hears what the job's workers have to hear. */
static int
heard_else(const struct job *job, struct netfc_allreduce *comm, unsigned int w, int status)
{
	const char *text = netfc_allreduce_error(comm);

	if (status == job->wanted && strstr(text, job->text) != NULL)
		return 0;
	fprintf(stderr, "worker %u: %s: %s\n", w, netfc_allreduce_status_name(status), text);
	return 1;
}

static int
sum(struct netfc_allreduce *comm, uint64_t count)
{
	float *values = calloc(count, sizeof(*values));
	int status =
		netfc_allreduce(comm, values, count, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM);

	free(values);
	return status;
}

static int
differ(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce *comm = join(context, w, n);
	int wrong = heard_else(context, comm, w, sum(comm, w == 1 ? 10 : 11));

	wrong |= sum(comm, 10) != NETFC_ALLREDUCE_BROKEN;
	leave(comm);
	return wrong;
}

static int
one_gives_totals(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce *comm = join(context, w, n);
	struct netfc_allreduce_totals *totals =
		netfc_allreduce_totals_new(NETFC_ALLREDUCE_FP32, 10);
	float values[10] = {0};
	int status = w == 1
		? netfc_allreduce_digits(comm, totals, values, NETFC_ALLREDUCE_SUM)
		: netfc_allreduce(comm, values, 10, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM);
	int wrong = heard_else(context, comm, w, status);

	netfc_allreduce_totals_free(totals);
	leave(comm);
	return wrong;
}

static int
one_leaves(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce *comm = join(context, w, n);
	int wrong = sum(comm, 100000) != NETFC_ALLREDUCE_OK;

	if (w != 1)
		wrong |= heard_else(context, comm, w, sum(comm, 100000));
	leave(comm);
	return wrong;
}

static int
one_is_late(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce *comm = join(context, w, n);
	int wrong = sum(comm, 10) != NETFC_ALLREDUCE_OK;

	if (w == 1)
		sleep(2);
	wrong |= heard_else(context, comm, w, sum(comm, 10));
	leave(comm);
	return wrong;
}

static int
one_aborts(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce *comm = join(context, w, n);
	int wrong = sum(comm, 10) != NETFC_ALLREDUCE_OK;

	if (w == 1)
		netfc_allreduce_abort(comm);
	else
		wrong |= heard_else(context, comm, w, sum(comm, 10));
	leave(comm);
	return wrong;
}

/* Worker 1 has all results, and is gone before the others have looked for theirs. */
static int
one_is_done_first(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce *comm = join(context, w, n);
	struct netfc_allreduce_handle *handle;
	float value = 1;
	int wrong;

	wrong = netfc_allreduce_start(comm, &value, 1, NETFC_ALLREDUCE_FP32, NETFC_ALLREDUCE_SUM,
			w != 1, &handle) != NETFC_ALLREDUCE_OK;
	if (w != 1) {
		usleep(1000);
		wrong |= netfc_allreduce_wait(&handle, 0, NULL) == NETFC_ALLREDUCE_BROKEN;
		usleep(200000);
	}
	wrong |= handle != NULL && netfc_allreduce_wait(&handle, -1, NULL) != NETFC_ALLREDUCE_OK;
	if (w == 1)
		netfc_allreduce_abort(comm);
	wrong |= value != 3;
	if (wrong)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	leave(comm);
	return wrong;
}

TEST(test_results_of_who_has_left)
{
	for (unsigned int i = 0; i < 10; i++) {
		struct job job = job_begin();

		assert_int_equal(workers_run(3, one_is_done_first, &job), 0);
		close(job.file);
	}
}

TEST(test_failures)
{
	static const struct {
		worker_body body;
		int wanted;
		const char *text;
	} trials[] = {
		{differ, NETFC_ALLREDUCE_MISMATCH,
			"Worker 1 and others call different collectives"},
		{one_gives_totals, NETFC_ALLREDUCE_MISMATCH, "whether totals are given"},
		{one_leaves, NETFC_ALLREDUCE_LEFT, "Worker 1 (process"},
		{one_is_late, NETFC_ALLREDUCE_TIMEOUT, "Worker 1 is late"},
		{one_aborts, NETFC_ALLREDUCE_FAILED, "Worker 1 has failed (aborted)"},
	};

	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		struct job job = job_begin();

		job.wanted = trials[i].wanted;
		job.text = trials[i].text;
		job.deadline_ms = 1000;
		assert_int_equal(workers_run(3, trials[i].body, &job), 0);
		close(job.file);
	}
}

/*
 * All have given as much as there is room for, and reduced it: there is no more room before worker
 * 2 takes its results.
 */
TEST(test_who_does_not_take)
{
	struct job job = job_begin();
	struct netfc_allreduce *comms[3];
	struct netfc_allreduce_handle *handles[3];
	float *values[3];

	job.deadline_ms = 100;
	for (unsigned int w = 0; w < 3; w++)
		comms[w] = join(&job, w, 3);
	for (unsigned int w = 0; w < 3; w++) {
		values[w] = calloc(LARGE, sizeof(float));
		assert_int_equal(
			netfc_allreduce_start(comms[w], values[w], LARGE, NETFC_ALLREDUCE_FP32,
				NETFC_ALLREDUCE_SUM, true, &handles[w]),
			NETFC_ALLREDUCE_OK);
	}
	for (unsigned int w = 0; w < 2; w++)
		assert_int_equal(
			netfc_allreduce_wait(&handles[w], 0, NULL), NETFC_ALLREDUCE_PENDING);
	assert_int_equal(netfc_allreduce_wait(&handles[0], -1, NULL), NETFC_ALLREDUCE_TIMEOUT);
	assert_non_null(strstr(netfc_allreduce_error(comms[0]),
		"Worker 2 has called this allreduce, and has not done its share"));
	assert_int_equal(netfc_allreduce_silent_worker(comms[0]), 2);
	for (unsigned int w = 0; w < 3; w++) {
		netfc_allreduce_free(comms[w]);
		free(values[w]);
	}
	close(job.file);
}

/* A process that has all that its parent has, until the other end of a pipe is closed. */
static void
fork_heir(const int lives[2])
{
	char word;

	if (fork() != 0)
		return;
	close(lives[1]);
	_exit(read(lives[0], &word, 1) != 0);
}

/* Worker 1 is a process that ends, or is stopped, in the middle; 0 is this one. */
static void
lose(int signal, int wanted, const char *text, bool has_heir)
{
	int lives[2];
	struct job job = job_begin();
	struct netfc_allreduce *comm;
	pid_t child;

	assert_int_equal(pipe(lives), 0);
	job.silence_ms = 500;
	child = fork(); /* before there are threads */
	job.wanted = wanted;
	job.text = text;
	if (child == 0) {
		struct netfc_allreduce *its = join(&job, 1, 2);

		sum(its, 10);
		if (has_heir)
			fork_heir(lives);
		raise(signal);
		_exit(0);
	}
	comm = join(&job, 0, 2);
	assert_int_equal(sum(comm, 10), NETFC_ALLREDUCE_OK);
	if (has_heir)
		waitpid(child, NULL, 0);
	assert_int_equal(heard_else(&job, comm, 0, sum(comm, 10)), 0);
	assert_int_equal(netfc_allreduce_silent_worker(comm), 1);
	close(lives[0]);
	close(lives[1]);
	if (!has_heir) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	leave(comm);
	close(job.file);
}

TEST(test_lost_processes)
{
	lose(SIGKILL, NETFC_ALLREDUCE_LEFT, "has ended", false);
	lose(SIGKILL, NETFC_ALLREDUCE_LEFT, "has ended", true);
	lose(SIGSTOP, NETFC_ALLREDUCE_SILENT, "is stopped", false);
}

/* ---- joining -------------------------------------------------------------------------------- */

static void
refused(const struct netfc_allreduce_options *options, int wanted, const char *text)
{
	struct netfc_allreduce *comm = netfc_allreduce_new();

	assert_int_equal(netfc_allreduce_join(comm, options), wanted);
	if (strstr(netfc_allreduce_error(comm), text) == NULL)
		fail_msg("%s", netfc_allreduce_error(comm));
	netfc_allreduce_free(comm);
}

/* Neither twice, in this process or in another, nor again. */
static void
only_once(void)
{
	struct job job = job_begin();
	struct netfc_allreduce_options first = options_of(&job, 0, 2);
	const struct netfc_allreduce_options second = options_of(&job, 1, 2);
	struct netfc_allreduce *comms[2];
	int status = 0, go[2];
	char word = 0;
	pid_t child;

	assert_int_equal(pipe(go), 0);
	child = fork(); /* before there are threads */
	if (child == 0) {
		assert_int_equal(read(go[0], &word, 1), 1);
		refused(&second, NETFC_ALLREDUCE_TAKEN, "has joined before");
		_exit(0);
	}
	comms[0] = worker_join(&first);
	comms[1] = worker_join(&second);
	assert_int_equal(write(go[1], &word, 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(go[0]);
	close(go[1]);
	refused(&second, NETFC_ALLREDUCE_TAKEN, "has joined before");
	leave(comms[1]);
	refused(&second, NETFC_ALLREDUCE_TAKEN, "has joined before");
	leave(comms[0]);
	close(job.file);
}

/* Worker 1 of another process joins twice: it is there as before, for who waits for it. */
static void
refused_and_still_there(void)
{
	struct job job = job_begin();
	const struct netfc_allreduce_options own = options_of(&job, 0, 2);
	const struct netfc_allreduce_options other = options_of(&job, 1, 2);
	struct netfc_allreduce_handle *handle;
	struct netfc_allreduce *comm;
	int status = 0, refuses[2], go[2];
	float value = 1;
	char word = 0;
	pid_t child;

	assert_int_equal(pipe(refuses), 0);
	assert_int_equal(pipe(go), 0);
	child = fork(); /* before there are threads */
	if (child == 0) {
		close(refuses[0]);
		close(go[1]);
		comm = worker_join(&other);
		refused(&other, NETFC_ALLREDUCE_TAKEN, "has joined before");
		assert_int_equal(write(refuses[1], &word, 1), 1);
		assert_int_equal(read(go[0], &word, 1), 1);
		_exit(sum(comm, 1) != NETFC_ALLREDUCE_OK);
	}
	comm = worker_join(&own);
	assert_int_equal(read(refuses[0], &word, 1), 1);
	assert_int_equal(netfc_allreduce_start(comm, &value, 1, NETFC_ALLREDUCE_FP32,
				 NETFC_ALLREDUCE_SUM, false, &handle),
		NETFC_ALLREDUCE_OK);
	assert_int_equal(netfc_allreduce_wait(&handle, LOOKS_MS, NULL), NETFC_ALLREDUCE_PENDING);
	assert_int_equal(write(go[1], &word, 1), 1);
	assert_int_equal(netfc_allreduce_wait(&handle, -1, NULL), NETFC_ALLREDUCE_OK);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (int i = 0; i < 2; i++) {
		close(refuses[i]);
		close(go[i]);
	}
	leave(comm);
	close(job.file);
}

/* Memory of 3 and of 7 workers is as long. */
static void
only_of_one_number(void)
{
	struct job job = job_begin();
	const struct netfc_allreduce_options of_3 = options_of(&job, 0, 3);
	const struct netfc_allreduce_options of_7 = options_of(&job, 1, 7);
	struct netfc_allreduce *comm = worker_join(&of_3);

	refused(&of_7, NETFC_ALLREDUCE_SYSTEM, "is not this job's file");
	leave(comm);
	close(job.file);
}

/* Another version's memory may be laid out in another way, and be of another size. */
static void
only_of_one_version(void)
{
	static const char other[SEGMENT_VERSION_BYTES] = "0.2.0";
	struct job job = job_begin();
	const struct netfc_allreduce_options first = options_of(&job, 0, 2);
	const struct netfc_allreduce_options second = options_of(&job, 1, 2);
	struct netfc_allreduce *comm = worker_join(&first);

	assert_int_equal(
		pwrite(job.file, other, sizeof(other), offsetof(struct segment_shared, version)),
		sizeof(other));
	refused(&second, NETFC_ALLREDUCE_SYSTEM, "and worker 0 another one");
	leave(comm);
	assert_int_equal(ftruncate(job.file, SEGMENT_PIECE_BYTES), 0);
	refused(&second, NETFC_ALLREDUCE_SYSTEM, "and worker 0 another one");
	close(job.file);
}

TEST(test_joining)
{
	static const char *const switches[] = {"127.0.0.1"};
	struct job job = job_begin();
	struct netfc_allreduce_options first = options_of(&job, 0, 2), second = first;
	const struct rlimit before = {RLIM_INFINITY, RLIM_INFINITY}, few = {65536, RLIM_INFINITY};
	struct netfc_allreduce *comm;
	struct netfc_allreduce_info info;

	second.worker = 1;
	second.join_ms = 50;
	refused(&second, NETFC_ALLREDUCE_WAITING, "Worker 0 has not joined within 0.1 s");
	comm = worker_join(&first);
	netfc_allreduce_info(comm, &info);
	assert_int_equal(info.path, NETFC_ALLREDUCE_LOCAL);
	refused(&first, NETFC_ALLREDUCE_ARGUMENT, "is not empty");
	second.token++;
	refused(&second, NETFC_ALLREDUCE_SYSTEM, "is not this job's file");
	second.token--;
	second.workers = 3;
	refused(&second, NETFC_ALLREDUCE_SYSTEM, "is not this job's file");
	second.workers = 2;
	second.memory = "/nonexistent/file";
	refused(&second, NETFC_ALLREDUCE_SYSTEM, "No such file");
	second.switches = switches;
	second.switch_count = 1;
	refused(&second, NETFC_ALLREDUCE_ARGUMENT, "Option memory");
	leave(comm);
	close(job.file);
	only_once();
	refused_and_still_there();
	only_of_one_number();
	only_of_one_version();

	job = job_begin();
	first = options_of(&job, 0, 2);
	second = options_of(&job, 1, 2);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	refused(&first, NETFC_ALLREDUCE_SYSTEM, "no memory that 2 workers could share");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	refused(&second, NETFC_ALLREDUCE_SYSTEM, "is not this job's file");
	close(job.file);
}

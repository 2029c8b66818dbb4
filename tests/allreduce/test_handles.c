/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Started and waited for, by several threads; aborted, left, joined again; and all that a caller
 * can get wrong.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pthread.h>

#include "cases.h"
#include "clock.h"
#include "network.h"

#define HANDLES 40
#define COUNT 3000

struct scene {
	struct network network;
	atomic_bool over;
};

static struct scene
scene_new(double lost)
{
	const struct relay_options bad = {.seed = 3, .lost = lost};

	return (struct scene){.network = network_start(&server_defaults, lost > 0 ? &bad : NULL)};
}

static struct netfc_allreduce *
join(const struct scene *scene, unsigned int w, unsigned int n)
{
	const struct netfc_allreduce_options options = worker_options(&scene->network.place, w, n);
	struct netfc_allreduce *comm = worker_join(&options);

	if (comm == NULL)
		abort();
	return comm;
}

static void
fill(int32_t *values, unsigned int count, int32_t value)
{
	for (unsigned int i = 0; i < count; i++)
		values[i] = value;
}

static int
differs(const int32_t *values, unsigned int count, int32_t value)
{
	for (unsigned int i = 0; i < count; i++) {
		if (values[i] != value)
			return 1;
	}
	return 0;
}

static int
start_many(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce *comm = join(context, w, n);
	struct netfc_allreduce_handle *handles[HANDLES];
	static _Thread_local int32_t values[HANDLES][COUNT];
	int wrong = 0;

	for (unsigned int i = 0; i < HANDLES; i++) {
		fill(values[i], 1 + 70 * i, (int32_t)(i * 10 + w));
		wrong |=
			netfc_allreduce_start(comm, values[i], 1 + 70 * i, NETFC_ALLREDUCE_INT32,
				NETFC_ALLREDUCE_SUM, i % 3 == 0, &handles[i]) != NETFC_ALLREDUCE_OK;
	}
	/* Waited for in an order of each worker's own. */
	for (unsigned int i = 0; i < HANDLES; i++) {
		unsigned int k = (i * 7 + w * 11) % HANDLES;
		unsigned int flags = 99;

		while (netfc_allreduce_wait(&handles[k], (int)(i % 3), &flags) ==
			NETFC_ALLREDUCE_PENDING)
			continue;
		wrong |= handles[k] != NULL || flags != 0 ||
			differs(values[k], 1 + 70 * k, (int32_t)(k * 10 * n + n * (n - 1) / 2));
	}
	wrong |= netfc_allreduce_leave(comm) != NETFC_ALLREDUCE_OK;
	netfc_allreduce_free(comm);
	return wrong;
}

TEST(test_many)
{
	for (int bad = 0; bad < 2; bad++) {
		struct scene scene = scene_new(bad * 0.1);

		assert_int_equal(workers_run(3, start_many, &scene), 0);
		network_stop(&scene.network);
	}
}

static int
start_and_sleep(unsigned int w, unsigned int n, void *context)
{
	struct netfc_allreduce *comm = join(context, w, n);
	struct netfc_allreduce_handle *handle;
	struct netfc_allreduce_stats stats;
	int32_t values[COUNT];
	int wrong;

	fill(values, COUNT, 1);
	netfc_allreduce_start(
		comm, values, COUNT, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM, false, &handle);
	for (int i = 0; i < 1000; i++) {
		netfc_allreduce_stats(comm, &stats);
		if (stats.allreduces != 0)
			break;
		usleep(10000);
	}
	wrong = stats.allreduces != 1 || stats.values != COUNT ||
		netfc_allreduce_wait(&handle, 0, NULL) != NETFC_ALLREDUCE_OK;
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	return wrong;
}

/* The communicator's thread does it while nobody waits. */
TEST(test_progress)
{
	struct scene scene = scene_new(0.2);

	assert_int_equal(workers_run(4, start_and_sleep, &scene), 0);
	network_stop(&scene.network);
}

struct shared {
	struct netfc_allreduce *comm;
	pthread_barrier_t barrier;
};

static int
wait_together(unsigned int t, unsigned int threads, void *context)
{
	struct shared *shared = context;
	int32_t values[COUNT];
	int wrong = 0;

	for (int i = 0; i < 50 && !wrong; i++) {
		fill(values, COUNT, (int32_t)t);
		pthread_barrier_wait(&shared->barrier);
		wrong = netfc_allreduce(shared->comm, values, COUNT, NETFC_ALLREDUCE_INT32,
				NETFC_ALLREDUCE_SUM) != NETFC_ALLREDUCE_OK ||
			differs(values, COUNT, (int32_t)t);
	}
	(void)threads;
	return wrong;
}

/* Several threads of a worker share its communicator. */
TEST(test_threads)
{
	struct scene scene = scene_new(0.05);
	struct shared shared = {.comm = join(&scene, 0, 1)};

	pthread_barrier_init(&shared.barrier, NULL, 4);
	assert_int_equal(workers_run(4, wait_together, &shared), 0);
	pthread_barrier_destroy(&shared.barrier);
	netfc_allreduce_leave(shared.comm);
	netfc_allreduce_free(shared.comm);
	network_stop(&scene.network);
}

/* All say why, as long as others fail. */
static int
read_errors(unsigned int t, unsigned int threads, void *context)
{
	struct shared *shared = context;
	const char *first = NULL;
	int32_t values[2] = {0};
	int wrong = 0;

	(void)threads;
	pthread_barrier_wait(&shared->barrier);
	for (unsigned int i = 0; i < 200; i++) {
		const char *text;
		unsigned int level;

		if (t == 0 && i == 100)
			netfc_allreduce_abort(shared->comm);
		wrong |= t != 0 &&
			netfc_allreduce(shared->comm, values, 1, t, NETFC_ALLREDUCE_SUM + 9) ==
				NETFC_ALLREDUCE_OK;
		text = netfc_allreduce_error(shared->comm);
		wrong |= strlen(text) > 0 && text[strlen(text) - 1] != '.';
		first = first == NULL ? text : first;
		netfc_allreduce_silent_member(shared->comm, &level);
		netfc_allreduce_silent_worker(shared->comm);
		netfc_allreduce_failed_switch(shared->comm);
	}
	return wrong;
}

/* The thread sanitizer sees what is read while it is written. */
TEST(test_errors_are_read_while_others_fail)
{
	struct scene scene = scene_new(0);
	struct shared shared = {.comm = join(&scene, 0, 1)};

	pthread_barrier_init(&shared.barrier, NULL, 2);
	assert_int_equal(workers_run(2, read_errors, &shared), 0);
	pthread_barrier_destroy(&shared.barrier);
	netfc_allreduce_leave(shared.comm);
	netfc_allreduce_free(shared.comm);
	network_stop(&scene.network);
}

/* What was said is not overwritten by what fails behind the program's back. */
TEST(test_a_text_stays)
{
	struct scene scene = scene_new(0);
	struct netfc_allreduce *comm = join(&scene, 0, 1);
	const char *text, *later;
	char before[512];
	int32_t value = 0;

	assert_int_equal(netfc_allreduce(comm, &value, 1, 15, NETFC_ALLREDUCE_SUM),
		NETFC_ALLREDUCE_ARGUMENT);
	text = netfc_allreduce_error(comm);
	strcpy(before, text);
	netfc_allreduce_abort(comm); /* in another thread */
	assert_string_equal(text, before);
	later = netfc_allreduce_error(comm);
	assert_non_null(strstr(later, "abort"));
	assert_string_equal(text, before);
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	network_stop(&scene.network);
}

static void *
abort_soon(void *comm)
{
	usleep(100000);
	netfc_allreduce_abort(comm);
	return NULL;
}

static int
aborted(unsigned int w, unsigned int n, void *context)
{
	struct scene *scene = context;
	struct netfc_allreduce *comm = join(scene, w, n);
	struct netfc_allreduce_handle *handles[2];
	pthread_t thread;
	int32_t values[COUNT] = {0};
	int wrong = 0;

	while (w != 0 && !atomic_load(&scene->over)) /* it does not come */
		usleep(1000);
	for (int i = 0; i < 2 && w == 0; i++)
		netfc_allreduce_start(comm, values, COUNT, NETFC_ALLREDUCE_INT32,
			NETFC_ALLREDUCE_SUM, i == 0, &handles[i]);
	if (w == 0) {
		pthread_create(&thread, NULL, abort_soon, comm);
		wrong |= netfc_allreduce_wait(&handles[1], -1, NULL) != NETFC_ALLREDUCE_ABORTED;
		wrong |= netfc_allreduce_wait(&handles[0], 0, NULL) != NETFC_ALLREDUCE_ABORTED;
		wrong |= netfc_allreduce(comm, values, 1, NETFC_ALLREDUCE_INT32,
				 NETFC_ALLREDUCE_SUM) != NETFC_ALLREDUCE_BROKEN;
		pthread_join(thread, NULL);
		wrong |= strstr(netfc_allreduce_error(comm), "abort") == NULL;
		atomic_store(&scene->over, true);
	}
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	return wrong;
}

TEST(test_abort)
{
	struct scene scene = scene_new(0);
	struct netfc_allreduce_options options;
	struct netfc_allreduce *comm;
	pthread_t thread;

	assert_int_equal(workers_run(2, aborted, &scene), 0);
	/* A join that waits ends, too. */
	comm = netfc_allreduce_new();
	options = worker_options(&scene.network.place, 0, 2);
	options.job = 9;
	pthread_create(&thread, NULL, abort_soon, comm);
	assert_int_equal(netfc_allreduce_join(comm, &options), NETFC_ALLREDUCE_ABORTED);
	pthread_join(thread, NULL);
	netfc_allreduce_free(comm);
	network_stop(&scene.network);
}

/* Handles that nobody waited for are freed with the communicator, and can be after leaving. */
TEST(test_leave_early)
{
	struct scene scene = scene_new(0);
	struct netfc_allreduce *comm = join(&scene, 0, 1);
	struct netfc_allreduce_handle *handles[2];
	int32_t values[COUNT] = {0};
	struct netfc_allreduce_info info;

	server_freeze(scene.network.server, true);
	for (int i = 0; i < 2; i++)
		assert_int_equal(netfc_allreduce_start(comm, values, COUNT, NETFC_ALLREDUCE_INT32,
					 NETFC_ALLREDUCE_SUM, false, &handles[i]),
			NETFC_ALLREDUCE_OK);
	assert_int_equal(netfc_allreduce_wait(&handles[0], 20, NULL), NETFC_ALLREDUCE_PENDING);
	assert_int_equal(netfc_allreduce_leave(comm), NETFC_ALLREDUCE_TIMEOUT);
	assert_int_equal(netfc_allreduce_wait(&handles[0], -1, NULL), NETFC_ALLREDUCE_ABORTED);
	netfc_allreduce_info(comm, &info);
	assert_int_equal(info.slots, 0);
	netfc_allreduce_free(comm);
	network_stop(&scene.network);
}

static void
argument(struct netfc_allreduce *comm, void *data, uint64_t count, unsigned int format,
	unsigned int op, const char *mention)
{
	struct netfc_allreduce_handle *handle;

	assert_int_equal(netfc_allreduce(comm, data, count, format, op), NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(netfc_allreduce_error(comm), mention));
	assert_int_equal(netfc_allreduce_start(comm, data, count, format, op, false, &handle),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_null(handle);
}

TEST(test_arguments)
{
	struct scene scene = scene_new(0);
	struct netfc_allreduce *comm = join(&scene, 0, 1);
	int32_t values[2] = {1, 2};

	argument(comm, NULL, 1, 6, 33, "NULL");
	argument(comm, values, 0, 6, 33, "0 values");
	argument(comm, values, UINT64_MAX, 6, 33, "values: give 1 to 1099511627776");
	argument(comm, values, 1, 0, 33, "format 0");
	argument(comm, values, 1, 15, 33, "format 15");
	argument(comm, values, 1, 6, 32, "operation 32");
	argument(comm, values, 1, 6, 40, "operation 40");
	argument(comm, (uint8_t *)values + 2, 1, 6, 33, "not aligned");
	/* Nothing of that has broken it. */
	assert_int_equal(netfc_allreduce(comm, values, 2, 6, 33), NETFC_ALLREDUCE_OK);
	assert_int_equal(values[1], 2);
	netfc_allreduce_leave(comm);
	assert_int_equal(netfc_allreduce(comm, values, 2, 6, 33), NETFC_ALLREDUCE_BROKEN);
	assert_int_equal(netfc_allreduce_leave(comm), NETFC_ALLREDUCE_OK);
	netfc_allreduce_free(comm);
	netfc_allreduce_free(NULL);
	network_stop(&scene.network);
}

static void
option(const struct netfc_allreduce_options *options, const char *mention)
{
	struct netfc_allreduce *comm = netfc_allreduce_new();

	assert_int_equal(netfc_allreduce_join(comm, options), NETFC_ALLREDUCE_ARGUMENT);
	if (strstr(netfc_allreduce_error(comm), mention) == NULL)
		fail_msg("no \"%s\": %s", mention, netfc_allreduce_error(comm));
	netfc_allreduce_free(comm);
}

TEST(test_options)
{
	static const struct {
		const char *address, *mention;
	} addresses[] = {{"", "address is missing"}, {"127.0.0.1:", "port"},
		{"127.0.0.1:0", "port"}, {"127.0.0.1:65536", "port"}, {"127.0.0.1:1x", "port"},
		{"[::1", "bracket"}, {"[::1]5", "colon"}, {"[]:5", "address is missing"},
		{"127.0.0.1.1", "127.0.0.1.1"}};
	const struct place place = place_at(9);
	const struct netfc_allreduce_options good = worker_options(&place, 0, 2);
	struct netfc_allreduce_options options;
	const char *two[] = {"127.0.0.1", "127.0.0.1"};

	option(NULL, "not initialized");
	options = (struct netfc_allreduce_options){0};
	option(&options, "not initialized");
#define WRONG(field, value, mention)       \
	do {                               \
		options = good;            \
		options.field = value;     \
		option(&options, mention); \
	} while (0)
	WRONG(switches, NULL, "0 addresses");
	WRONG(switch_count, 0, "0 addresses");
	WRONG(switch_count, 17, "17 addresses");
	WRONG(workers, 0, "workers is 0");
	WRONG(workers, 65, "workers is 65");
	WRONG(worker, 2, "worker is 2");
	WRONG(slots, 0, "slots is 0");
	WRONG(slots, 3, "slots is 3");
	WRONG(slots, 65536, "slots is 65536");
	WRONG(bytes, 6, "bytes is 6");
	WRONG(bytes, 65484, "bytes is 65484");
	WRONG(rto_min_us, 0, "rto_min_us is 0");
	WRONG(rto_min_us, 50001, "rto_min_us is 50001");
	WRONG(rto_max_us, 0, "rto_max_us is 0");
	WRONG(join_ms, 0, "join_ms is 0");
	WRONG(deadline_ms, 0, "deadline_ms is 0");
	WRONG(spin_us, 10001, "spin_us is 10001");
	WRONG(interface, "no-such", "no network device no-such");
	WRONG(bind_address, "::1", "one is IPv4, the other IPv6");
	WRONG(bind_address, "127.0.0.1:5", "without a port");
#undef WRONG
	options = good;
	options.switches = two;
	options.switch_count = 2;
	option(&options, "127.0.0.1 twice");
	two[1] = "127.0.0.1:20040";
	option(&options, "\"127.0.0.1:20040\" is one that is before it");
	for (unsigned int i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		options = good;
		options.switches = &addresses[i].address;
		option(&options, addresses[i].mention);
	}
}

/* A program with a newer, larger struct, whose new fields this library does not know. */
TEST(test_newer_program)
{
	struct {
		struct netfc_allreduce_options options;
		char more[64];
	} newer;

	memset(&newer, 0xff, sizeof(newer));
	netfc_allreduce_options_init(&newer.options, sizeof(newer));
	assert_int_equal(newer.options.size, sizeof(newer));
	assert_int_equal(newer.options.slots, 128);
	assert_int_equal(newer.more[63], 0);
	assert_string_equal(netfc_allreduce_status_name(NETFC_ALLREDUCE_NO_JOB), "no-job");
	assert_null(netfc_allreduce_status_name(-1));
	assert_null(netfc_allreduce_status_meaning(NETFC_ALLREDUCE_STATUS_COUNT));
}

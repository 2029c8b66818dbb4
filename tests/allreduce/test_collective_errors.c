/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that disagree or never come are told with who and why; wrong arguments are refused.
 */
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "plays.h"
#include "server.h"
#include "workers.h"

#define FORMAT NETFC_ALLREDUCE_FP32
#define OP NETFC_ALLREDUCE_SUM

/* A collective as all workers call it. */
struct call {
	unsigned int kind, root;
	uint64_t count;
};

struct quarrel {
	struct play play;
	struct call calls[2]; /* the last worker's is the second */
	bool other_op;        /* and by another operation */
	uint32_t label, last; /* that the others and the last one give it */
	int expected;
	const char *text;
};

static int
disagree(unsigned int w, unsigned int n, void *context)
{
	struct quarrel *quarrel = context;
	const struct call *call = &quarrel->calls[w == n - 1];
	struct netfc_allreduce *comm = play_join(&quarrel->play, w, n);
	float values[1000] = {0}, result[1000];
	struct netfc_collective collective = {.kind = call->kind,
		.format = FORMAT,
		.op = quarrel->other_op && w == n - 1 ? NETFC_ALLREDUCE_MIN : OP,
		.root = call->root,
		.values = values,
		.result = call->kind == NETFC_COLLECTIVE_BROADCAST ? values : result,
		.count = call->count};
	struct netfc_allreduce_handle *handle;
	int status, wrong = 0;

	if (comm == NULL)
		return 1;
	status = netfc_collective_start_labelled(
		comm, &collective, w == n - 1 ? quarrel->last : quarrel->label, true, &handle);
	if (status == NETFC_ALLREDUCE_OK)
		status = netfc_allreduce_wait(&handle, -1, NULL);
	if (status != quarrel->expected ||
		strstr(netfc_allreduce_error(comm), quarrel->text) == NULL) {
		fprintf(stderr, "worker %u: %s: %s\n", w, netfc_allreduce_status_name(status),
			netfc_allreduce_error(comm));
		wrong = 1;
	}
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	return wrong;
}

SERVER_TEST(test_disagreements)
{
	static const struct {
		struct call all, last;
		bool other_op;
	} quarrels[] = {
		/* roots that differ: a copy with values from two, and a reduction for two */
		{{NETFC_COLLECTIVE_BROADCAST, 0, 100}, {NETFC_COLLECTIVE_BROADCAST, 2, 100}, false},
		{{NETFC_COLLECTIVE_REDUCE, 0, 100}, {NETFC_COLLECTIVE_REDUCE, 1, 100}, false},
		{{NETFC_COLLECTIVE_REDUCE, 0, 100}, {NETFC_COLLECTIVE_ALLREDUCE, 0, 100}, false},
		{{NETFC_COLLECTIVE_REDUCE_SCATTER, 0, 100},
			{NETFC_COLLECTIVE_REDUCE_SCATTER, 0, 99}, false},
		{{NETFC_COLLECTIVE_REDUCE_SCATTER, 0, 100},
			{NETFC_COLLECTIVE_REDUCE_SCATTER, 0, 100}, true},
		{{NETFC_COLLECTIVE_ALLGATHER, 0, 100}, {NETFC_COLLECTIVE_ALLGATHER, 0, 50}, false},
		{{NETFC_COLLECTIVE_ALLGATHER, 0, 100}, {NETFC_COLLECTIVE_BROADCAST, 1, 100}, false},
		{{NETFC_COLLECTIVE_BARRIER, 0, 0}, {NETFC_COLLECTIVE_BROADCAST, 0, 2}, false},
		{{NETFC_COLLECTIVE_BARRIER, 0, 0}, {NETFC_COLLECTIVE_ALLREDUCE, 0, 1}, false},
	};

	for (unsigned int i = 0; i < sizeof(quarrels) / sizeof(quarrels[0]); i++) {
		struct quarrel quarrel = {.play = play_of(server),
			.calls = {quarrels[i].all, quarrels[i].last},
			.other_op = quarrels[i].other_op,
			.expected = NETFC_ALLREDUCE_MISMATCH,
			.text = "root"};

		quarrel.play.options.job = (uint16_t)(100 + i);
		if (workers_run(3, disagree, &quarrel) != 0)
			fail_msg("disagreement %u", i);
	}
}

/* Calls that are alike but for their labels, and one with a label where others have none. */
SERVER_TEST(test_labels_that_differ)
{
	static const uint32_t labels[][2] = {{7, 8}, {0x80000000, 0}, {0, UINT32_MAX}};
	static const struct call calls[] = {{NETFC_COLLECTIVE_ALLREDUCE, 0, 1000},
		{NETFC_COLLECTIVE_BARRIER, 0, 0}, {NETFC_COLLECTIVE_BROADCAST, 0, 100}};
	uint16_t job = 0;

	for (unsigned int l = 0; l < 3; l++)
		for (unsigned int c = 0; c < 3; c++) {
			struct quarrel quarrel = {.play = play_of(server),
				.calls = {calls[c], calls[c]},
				.label = labels[l][0],
				.last = labels[l][1],
				.expected = NETFC_ALLREDUCE_MISMATCH,
				.text = "label"};

			quarrel.play.options.job = job++;
			if (workers_run(3, disagree, &quarrel) != 0)
				fail_msg("labels %u, call %u", l, c);
		}
}

/* Who never calls is named, by who sends no values, too. */
static int
stay_away(unsigned int w, unsigned int n, void *context)
{
	struct quarrel *quarrel = context;

	if (w != n - 1)
		return disagree(w, n, context);
	struct netfc_allreduce *comm = play_join(&quarrel->play, w, n);
	if (comm == NULL)
		return 1;
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	return 0;
}

SERVER_TEST(test_absence)
{
	static const struct call calls[] = {{NETFC_COLLECTIVE_BROADCAST, 2, 500},
		{NETFC_COLLECTIVE_BARRIER, 0, 0}, {NETFC_COLLECTIVE_ALLGATHER, 0, 500},
		{NETFC_COLLECTIVE_REDUCE, 0, 100}};

	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct quarrel quarrel = {.play = play_of(server),
			.calls = {calls[i], calls[i]},
			.expected = NETFC_ALLREDUCE_LEFT,
			.text = "Worker 2 has left"};

		quarrel.play.options.job = (uint16_t)(200 + i);
		if (workers_run(3, stay_away, &quarrel) != 0)
			fail_msg("kind %u", calls[i].kind);
	}
}

static void
into_fails(struct netfc_allreduce *comm, void *values, void *result, unsigned int format,
	unsigned int op, const char *mention)
{
	assert_int_equal(
		netfc_reduce(comm, values, result, 8, format, op, 0), NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(netfc_allreduce_error(comm), mention));
}

/* They are longer: never over values, not even those of the own part. */
static void
test_results_of_another_format(struct netfc_allreduce *comm)
{
	const unsigned int e4m3 = NETFC_ALLREDUCE_FP8_E4M3, fp32 = NETFC_ALLREDUCE_FP32;
	const unsigned int wider = NETFC_ALLREDUCE_INTO(e4m3, fp32);
	union {
		float results[9];
		uint8_t values[8];
	} both;
	uint8_t values[8] = {0x38, 0xb8, 0x40, 0, 0x7e, 1, 0x38, 0x38};
	float results[9];

	into_fails(comm, both.values, both.results, wider, OP, "overwrite");
	into_fails(comm, both.values, both.results + 1, wider, OP, "overwrite");
	into_fails(comm, values, (uint8_t *)results + 1, wider, OP, "4 bytes");
	into_fails(comm, values, results, wider, NETFC_ALLREDUCE_MIN, "sums or means");
	into_fails(comm, values, results, NETFC_ALLREDUCE_INTO(fp32, e4m3), OP, "no format");
	into_fails(comm, values, results, NETFC_ALLREDUCE_INTO(e4m3, e4m3), OP, "no format");
	assert_int_equal(netfc_allreduce_value_bytes(wider), 1);
	results[8] = -1;
	assert_int_equal(
		netfc_reduce_scatter(comm, values, results, 8, wider, OP), NETFC_ALLREDUCE_OK);
	assert_true(results[0] == 1 && results[1] == -1 && results[4] == 448 && results[8] == -1);
}

static void
sums_fail(struct netfc_allreduce *comm, const void *values, void *result, const char *mention)
{
	static const float ones[2] = {1, 1};

	assert_int_equal(netfc_allreduce_sum(comm, values, 2, FORMAT, result, NULL),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(netfc_allreduce_error(comm), mention));
	assert_int_equal(netfc_allreduce_dot(comm, values, ones, 2, FORMAT, result, NULL),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_allreduce_dot(comm, ones, values, 2, FORMAT, result, NULL),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(netfc_allreduce_error(comm), mention));
}

SERVER_TEST(test_arguments_of_sums)
{
	struct play play = play_of(server);
	struct netfc_allreduce *comm = play_join(&play, 0, 1);
	float values[3] = {1, 2, 3}, result;

	sums_fail(comm, NULL, &result, "NULL");
	sums_fail(comm, values, NULL, "NULL");
	sums_fail(comm, (uint8_t *)values + 2, &result, "not aligned");
	sums_fail(comm, values, (uint8_t *)values + 1, "not aligned");
	/* Nothing of that has broken it. */
	assert_int_equal(
		netfc_allreduce_sum(comm, values, 3, FORMAT, &result, NULL), NETFC_ALLREDUCE_OK);
	assert_true(result == 6);
	assert_int_equal(
		netfc_allreduce_sum(comm, NULL, 0, FORMAT, &result, NULL), NETFC_ALLREDUCE_OK);
	assert_true(result == 0);
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
}

SERVER_TEST(test_arguments)
{
	struct play play = play_of(server);
	struct netfc_allreduce *comm = play_join(&play, 0, 1);
	float values[8] = {0}, result[8];

	assert_int_equal(
		netfc_reduce(comm, values, result, 8, FORMAT, OP, 1), NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(netfc_allreduce_error(comm), "worker 1"));
	assert_int_equal(netfc_broadcast(comm, values, 8, 1), NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_broadcast(comm, values, 0, 0), NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_broadcast(comm, NULL, 8, 0), NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_allgather(comm, values, NULL, 8), NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_allgather(comm, values, values + 1, 8), NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_reduce_scatter(comm, values, values + 1, 4, FORMAT, OP),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(
		netfc_reduce_scatter(comm, values, result, 4, 99, OP), NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_reduce_scatter(comm, values, (uint8_t *)result + 1, 4, FORMAT, OP),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(
		netfc_collective(comm, &(struct netfc_collective){.kind = NETFC_COLLECTIVE_KINDS}),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(
		netfc_reduce(comm, values, values + 1, 7, FORMAT, OP, 0), NETFC_ALLREDUCE_ARGUMENT);
	assert_int_equal(netfc_collective(comm,
				 &(struct netfc_collective){.kind = NETFC_COLLECTIVE_ALLREDUCE,
					 .format = FORMAT,
					 .op = OP,
					 .values = values + 1,
					 .result = values,
					 .count = 7}),
		NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(netfc_allreduce_error(comm), "overwrite"));
	test_results_of_another_format(comm);
	assert_int_equal(netfc_barrier(comm), NETFC_ALLREDUCE_OK);
	assert_int_equal(
		netfc_reduce_scatter(comm, values, result, 8, FORMAT, OP), NETFC_ALLREDUCE_OK);
	assert_memory_equal(values, result, sizeof(values));
	netfc_allreduce_leave(comm);
	assert_int_equal(netfc_barrier(comm), NETFC_ALLREDUCE_BROKEN);
	netfc_allreduce_free(comm);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths that take larger packets than Ethernet's, or whose ends think so. */
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "network.h"

#define COUNT 20000
#define JUMBO 8948
#define ETHERNET 1448

struct paths {
	struct place place[2]; /* each worker's own */
	unsigned int deadline_ms;
	bool small_first;      /* a sum that fits any path */
	unsigned int bytes[2]; /* that it asks for; 0: what its path takes */
	unsigned int granted[2];
	int status[2];
	char notice[2][512], error[2][512];
};

static void
keep_notice(void *context, const char *text)
{
	snprintf(context, 512, "%s", text);
}

static int
reduce(unsigned int w, unsigned int n, void *context)
{
	struct paths *paths = context;
	struct netfc_allreduce_options options = worker_options(&paths->place[w], w, n);
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_info info;
	static int32_t values[2][COUNT];
	int wrong = 0;

	options.bytes = paths->bytes[w];
	if (paths->deadline_ms != 0)
		options.deadline_ms = paths->deadline_ms;
	options.join_ms = 20000;
	options.notice = keep_notice;
	options.notice_context = paths->notice[w];
	for (int32_t i = 0; i < COUNT; i++)
		values[w][i] = i * (int32_t)(w + 1);
	paths->status[w] = netfc_allreduce_join(comm, &options);
	netfc_allreduce_info(comm, &info);
	paths->granted[w] = info.bytes;
	if (paths->status[w] == NETFC_ALLREDUCE_OK && paths->small_first)
		paths->status[w] = netfc_allreduce(
			comm, &(int32_t){1}, 1, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	if (paths->status[w] == NETFC_ALLREDUCE_OK)
		paths->status[w] = netfc_allreduce(
			comm, values[w], COUNT, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	snprintf(paths->error[w], sizeof(paths->error[w]), "%s", netfc_allreduce_error(comm));
	for (int32_t i = 0; i < COUNT && paths->status[w] == NETFC_ALLREDUCE_OK; i++)
		wrong += values[w][i] != 3 * i;
	netfc_allreduce_free(comm);
	return wrong;
}

/* A path in the middle of which is Ethernet: both ends have loopback's MTU. */
static enum relay_verdict
lose_long(void *context, bool from_server, uint8_t *payload, size_t length)
{
	(void)context;
	(void)from_server;
	(void)payload;
	return length > 1472 ? RELAY_LOSE : RELAY_PASS;
}

/* One that is so on the way back alone. */
static enum relay_verdict
lose_long_replies(void *context, bool from_server, uint8_t *payload, size_t length)
{
	return from_server ? lose_long(context, from_server, payload, length) : RELAY_PASS;
}

static struct paths
run(relay_judge judge, unsigned int first, unsigned int second, bool joins)
{
	const struct server_options options = {.bytes = JUMBO, .joins = joins};
	struct network network = network_start(&options, &(struct relay_options){.judge = judge});
	struct paths paths = {.bytes = {first, second},
		.place = {place_at(server_port(network.server)), network.place}};

	assert_int_equal(workers_run(2, reduce, &paths), 0);
	network_stop(&network);
	return paths;
}

/* Where all paths take it, chunks are as large as the switch grants, without being asked. */
TEST(test_wide)
{
	for (unsigned int joins = 0; joins < 2; joins++) {
		struct paths paths = run(NULL, 0, 0, joins != 0);

		for (unsigned int w = 0; w < 2; w++) {
			assert_int_equal(paths.status[w], NETFC_ALLREDUCE_OK);
			assert_int_equal(paths.granted[w], JUMBO);
			assert_string_equal(paths.notice[w], "");
		}
	}
}

/* One narrow path, whichever way: all have small chunks, and that worker's user is told. */
TEST(test_narrow)
{
	const relay_judge judges[] = {lose_long, lose_long_replies};

	for (unsigned int i = 0; i < 2; i++) {
		struct paths paths = run(judges[i], 0, 0, false);

		for (unsigned int w = 0; w < 2; w++) {
			assert_int_equal(paths.status[w], NETFC_ALLREDUCE_OK);
			assert_int_equal(paths.granted[w], ETHERNET);
		}
		assert_string_equal(paths.notice[0], "");
		assert_non_null(strstr(paths.notice[1], "Packets of 9000 bytes do not get to"));
		assert_non_null(strstr(paths.notice[1], "cut to 1448 bytes"));
	}
}

/* Who asks for a certain number gets that, and the others fit theirs to it. */
TEST(test_number)
{
	struct paths paths = run(lose_long, 1000, 0, false);

	for (unsigned int w = 0; w < 2; w++) {
		assert_int_equal(paths.status[w], NETFC_ALLREDUCE_OK);
		assert_int_equal(paths.granted[w], 1000);
	}
}

/* More than a path takes cannot be had: that is said when joining. */
TEST(test_too_much)
{
	struct paths paths = run(lose_long, ETHERNET, JUMBO, false);

	assert_int_equal(paths.status[1], NETFC_ALLREDUCE_ARGUMENT);
	assert_non_null(strstr(paths.error[1], "Chunks of 8948 bytes make packets of 9000"));
	assert_non_null(strstr(paths.error[1], "set option bytes to 1448, or to 0"));
}

/* A tunnel, of which neither end's device knows. */
static enum relay_verdict
lose_all_of_ethernet(void *context, bool from_server, uint8_t *payload, size_t length)
{
	(void)context;
	(void)from_server;
	(void)payload;
	return length > 1400 ? RELAY_LOSE : RELAY_PASS;
}

/* Packets of 1,500 bytes are not probed: who waits for results in vain is told what may be. */
static void
expect_a_hint(bool small_first)
{
	const struct server_options options = {.bytes = ETHERNET};
	struct network network =
		network_start(&options, &(struct relay_options){.judge = lose_all_of_ethernet});
	struct paths paths = {.place = {network.place, network.place},
		.deadline_ms = 2000,
		.small_first = small_first};

	workers_run(2, reduce, &paths);
	for (unsigned int w = 0; w < 2; w++) {
		assert_int_not_equal(paths.status[w], NETFC_ALLREDUCE_OK);
		assert_int_equal(paths.granted[w], ETHERNET);
	}
	if (paths.status[0] != NETFC_ALLREDUCE_TIMEOUT)
		assert_int_equal(paths.status[1], NETFC_ALLREDUCE_TIMEOUT);
	for (unsigned int w = 0; w < 2; w++) {
		if (paths.status[w] == NETFC_ALLREDUCE_TIMEOUT)
			assert_non_null(strstr(paths.error[w], "set option bytes to less"));
	}
	network_stop(&network);
}

TEST(test_narrower_than_ethernet)
{
	expect_a_hint(false);
}

TEST(test_narrower_than_ethernet_but_for_what_is_small)
{
	expect_a_hint(true);
}

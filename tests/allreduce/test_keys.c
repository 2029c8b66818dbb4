/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets with tags: sums are right whatever is forged on the way, and wrong keys are told. */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cases.h"
#include "exact.h"
#include "network.h"
#include "plays.h"

#define VALUES 20000
#define ROUNDS 3

static const uint8_t cluster_key[] = "thirty-two bytes of a cluster...";
static const struct server_options keyed_server = {.key = cluster_key};
static char key_file[] = "/tmp/netfc-key-XXXXXX";

static int
write_key_file(void **state)
{
	int fd = mkstemp(key_file);

	(void)state;
	return fd < 0 || write(fd, cluster_key, 32) != 32 || close(fd) != 0;
}

static int
remove_key_file(void **state)
{
	(void)state;
	return unlink(key_file);
}

/* Workers that add up what they know of each other. */
struct scene {
	struct place place;
	const char *key_file;
};

static int32_t
value_of(unsigned int w, unsigned int round, uint32_t i)
{
	return (int32_t)((w + 1) * (i % 1000) + 100000 * round);
}

static int
add_up(struct netfc_allreduce *comm, unsigned int w, unsigned int n, unsigned int round)
{
	int32_t *values = malloc(VALUES * sizeof(*values));
	int wrong = 0, status;

	for (uint32_t i = 0; i < VALUES; i++)
		values[i] = value_of(w, round, i);
	status = netfc_allreduce(comm, values, VALUES, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	for (uint32_t i = 0; i < VALUES && status == NETFC_ALLREDUCE_OK; i++) {
		int32_t sum = 0;

		for (unsigned int other = 0; other < n; other++)
			sum += value_of(other, round, i);
		wrong += values[i] != sum;
	}
	free(values);
	if (status != NETFC_ALLREDUCE_OK)
		fprintf(stderr, "worker %u: %s\n", w, netfc_allreduce_error(comm));
	return wrong + (status != NETFC_ALLREDUCE_OK);
}

static int
work(unsigned int w, unsigned int n, void *context)
{
	const struct scene *scene = context;
	struct netfc_allreduce_options options = worker_options(&scene->place, w, n);
	struct netfc_allreduce *comm;
	int wrong = 0;

	options.key_file = scene->key_file;
	options.slots = 16;
	comm = worker_join(&options);
	if (comm == NULL)
		return 1;
	for (unsigned int round = 0; round < ROUNDS; round++)
		wrong += add_up(comm, w, n, round);
	return play_leave(comm, wrong);
}

TEST(test_sums_over_a_bad_network)
{
	for (unsigned int shards = 1; shards < 4; shards += 2) {
		const struct server_options options = {.shards = shards, .key = cluster_key};
		const struct relay_options bad = {
			.lost = 0.1, .repeated = 0.1, .delayed = 0.3, .delay_us = 1000};
		struct network network = network_start(&options, &bad);
		struct scene scene = {.place = network.place, .key_file = key_file};

		assert_int_equal(workers_run(3, work, &scene), 0);
		assert_int_equal(server_count(network.server, AGGREGATE_BAD_TAG), 0);
		network_stop(&network);
	}
}

/* One bit of every tenth packet; the sockets make a good checksum of it. */
static enum relay_verdict
flip_bits(void *context, bool from_server, uint8_t *payload, size_t length)
{
	uint64_t *random = context;
	uint64_t drawn = next_random(random);

	(void)from_server;
	if (drawn % 10 == 0)
		payload[(drawn >> 8) % length] ^= 1u << (drawn >> 4 & 7);
	return RELAY_PASS;
}

/* Two words of the values change places, which a checksum does not see. */
static enum relay_verdict
swap_words(void *context, bool from_server, uint8_t *payload, size_t length)
{
	uint64_t *random = context;

	(void)from_server;
	if (length > 100 && next_random(random) % 10 == 0) {
		uint8_t word[4];

		memcpy(word, payload + 40, 4);
		memmove(payload + 40, payload + 80, 4);
		memcpy(payload + 80, word, 4);
	}
	return RELAY_PASS;
}

static void
forge(relay_judge judge)
{
	uint64_t random = 7;
	struct network network = network_start(
		&keyed_server, &(struct relay_options){.judge = judge, .context = &random});
	struct scene scene = {.place = network.place, .key_file = key_file};

	assert_int_equal(workers_run(3, work, &scene), 0);
	assert_true(server_count(network.server, AGGREGATE_BAD_TAG) > 0);
	print_message("# %d values, 0 wrong; the switch dropped %llu forged packets\n",
		3 * ROUNDS * VALUES,
		(unsigned long long)server_count(network.server, AGGREGATE_BAD_TAG));
	network_stop(&network);
}

TEST(test_what_is_forged_is_dropped)
{
	forge(flip_bits);
	forge(swap_words);
}

/* A switch's word that all are here, given as another's: what is sent there would be the other's.
 */
struct borrowed {
	pthread_mutex_t lock; /* both networks' threads borrow and give */
	uint8_t grant[256];
	size_t length;
	unsigned int given; /* how often */
};

static bool
is_join(const uint8_t *payload)
{
	return payload[offsetof(struct aggregate_hdr, op)] == AGGREGATE_JOIN;
}

static enum relay_verdict
borrow(void *context, bool from_server, uint8_t *payload, size_t length)
{
	struct borrowed *borrowed = context;

	pthread_mutex_lock(&borrowed->lock);
	if (from_server && is_join(payload) && length <= sizeof(borrowed->grant) &&
		payload[offsetof(struct aggregate_hdr, status)] == NETFC_STATUS_REPLY) {
		memcpy(borrowed->grant, payload, length);
		borrowed->length = length;
	}
	pthread_mutex_unlock(&borrowed->lock);
	return RELAY_PASS;
}

static enum relay_verdict
give(void *context, bool from_server, uint8_t *payload, size_t length)
{
	struct borrowed *borrowed = context;

	pthread_mutex_lock(&borrowed->lock);
	if (from_server && is_join(payload) && length == borrowed->length && borrowed->given < 10) {
		memcpy(payload, borrowed->grant, length);
		borrowed->given++;
	}
	pthread_mutex_unlock(&borrowed->lock);
	return RELAY_PASS;
}

TEST(test_what_one_switch_grants_is_not_taken_for_anothers)
{
	struct borrowed borrowed = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct network first = network_start(
		&keyed_server, &(struct relay_options){.judge = borrow, .context = &borrowed});
	struct network second = network_start(
		&keyed_server, &(struct relay_options){.judge = give, .context = &borrowed});
	const uint16_t ports[] = {first.place.ports[0], second.place.ports[0]};
	struct scene scene = {.place = place_of(2, ports), .key_file = key_file};

	assert_int_equal(workers_run(1, work, &scene), 0);
	network_stop(&first);
	network_stop(&second);
	assert_int_equal(borrowed.given, 10);
}

static void
join_fails(struct server *server, const char *file, int expected, const char *mention)
{
	const struct place place = place_at(server_port(server));
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct netfc_allreduce_options options = worker_options(&place, 0, 1);

	options.key_file = file;
	options.join_ms = 500;
	assert_int_equal(netfc_allreduce_join(comm, &options), expected);
	if (strstr(netfc_allreduce_error(comm), mention) == NULL)
		fail_msg("no \"%s\": %s", mention, netfc_allreduce_error(comm));
	netfc_allreduce_free(comm);
}

TEST(test_other_keys_are_told)
{
	const struct server_options of_other = {
		.key = (const uint8_t *)"thirty-two bytes of another one."};
	struct server *keyed = server_start(&keyed_server), *open = server_start(&server_defaults);
	struct server *other = server_start(&of_other);

	join_fails(keyed, NULL, NETFC_ALLREDUCE_TIMEOUT, "tags");
	join_fails(other, key_file, NETFC_ALLREDUCE_TIMEOUT, "tags");
	join_fails(open, key_file, NETFC_ALLREDUCE_PROTOCOL, "good tag");
	join_fails(keyed, "/nowhere/key", NETFC_ALLREDUCE_ARGUMENT, "/nowhere/key");
	/* What is to have tags has none without a word. */
	join_fails(open, "", NETFC_ALLREDUCE_ARGUMENT, "option key_file is empty");
	setenv("NETFC_KEY_FILE", "", 1);
	join_fails(open, NULL, NETFC_ALLREDUCE_ARGUMENT, "NETFC_KEY_FILE is empty");
	unsetenv("NETFC_KEY_FILE");
	chmod(key_file, 0644);
	join_fails(keyed, key_file, NETFC_ALLREDUCE_ARGUMENT, key_file);
	chmod(key_file, 0600);
	server_stop(keyed);
	server_stop(open);
	server_stop(other);
}

TEST(test_the_environment_names_the_key)
{
	struct server *server = server_start(&keyed_server);
	struct scene scene = {.place = place_at(server_port(server))};

	setenv("NETFC_KEY_FILE", key_file, 1);
	assert_int_equal(workers_run(2, work, &scene), 0);
	unsetenv("NETFC_KEY_FILE");
	server_stop(server);
}

int
main(void)
{
	return tests_run(write_key_file, remove_key_file);
}

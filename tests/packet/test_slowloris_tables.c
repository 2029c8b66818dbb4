/* SPDX-License-Identifier: BSD-3-Clause */
/* The detector's tables: lcores that meet in them, keys that somebody chose, buckets that are full.
 */
#include <pthread.h>
#include <sched.h>

#include "cases.h"
#include "detector.h"
#include "slowloris_fixture.h"

/* Without the writer lock, segments wait in order for the lcore that holds it. */
TEST(segments_are_left_in_order)
{
	struct slowloris_config config = fixture_usual;
	struct fixture *f;

	config.shared = true;
	f = fixture_create(&config);
	for (uint32_t client = 0; client < 300; client++) {
		assert_false(fixture_send(f, client % 2, client, false, SYN, 0));
		assert_false(fixture_send(f, 2, client, true, SYN | ACK, 0));
		assert_false(fixture_send(f, client % 2, client, false, ACK, 10));
	}
	assert_int_equal(fixture_registers(f).connections, 300);
	assert_int_equal(fixture_registers(f).established, 300);
	assert_int_equal(fixture_registers(f).bytes, 300 * 90);
	for (uint32_t client = 0; client < 300; client += 2)
		assert_false(fixture_send(f, 3, client, client % 4 == 0, FIN | ACK, 0));
	assert_int_equal(fixture_registers(f).connections, 150);
	assert_int_equal(fixture_registers(f).bytes, 150 * 90);
	fixture_destroy(f);
}

struct lcore {
	struct fixture *fixture;
	unsigned int number;
	pthread_t thread;
};

#define CLIENTS_EACH 1000u

static void
register_thread(const struct lcore *lcore)
{
	rte_rcu_qsbr_thread_register(lcore->fixture->qsbr, lcore->number);
	rte_rcu_qsbr_thread_online(lcore->fixture->qsbr, lcore->number);
}

/* All of a client's packets; a third of the clients leave. */
static void
speak(const struct lcore *lcore, uint32_t client)
{
	struct fixture *f = lcore->fixture;

	fixture_send(f, lcore->number, client, false, SYN, 0);
	for (unsigned int n = 0; n < 5; n++)
		fixture_send(f, lcore->number, client, false, ACK, 10);
	if (client % 3 == 0)
		fixture_send(f, lcore->number, client, false, FIN | ACK, 0);
	rte_rcu_qsbr_quiescent(f->qsbr, lcore->number);
	sched_yield(); /* here, rather than where others wait for it */
}

/* Each client on one lcore, as RSS has it. */
static void *
speak_all(void *arg)
{
	struct lcore *lcore = arg;
	uint32_t first = lcore->number * CLIENTS_EACH;

	register_thread(lcore);
	for (uint32_t client = first; client < first + CLIENTS_EACH; client++)
		speak(lcore, client);
	rte_rcu_qsbr_thread_offline(lcore->fixture->qsbr, lcore->number);
	return NULL;
}

/* And ends of every other lcore's clients, in the other direction: it never saw them begin. */
static void *
speak_and_end_others(void *arg)
{
	struct lcore *lcore = arg;
	struct fixture *f = lcore->fixture;
	uint32_t first = lcore->number * CLIENTS_EACH;
	uint32_t others = (lcore->number + 1) % FIXTURE_WORKERS * CLIENTS_EACH;

	register_thread(lcore);
	for (uint32_t client = first; client < first + CLIENTS_EACH; client++)
		speak(lcore, client);
	for (uint32_t client = others; client < others + CLIENTS_EACH; client++) {
		if (client % 3 == 1)
			fixture_send(f, lcore->number, client, true, FIN | ACK, 0);
		rte_rcu_qsbr_quiescent(f->qsbr, lcore->number);
	}
	rte_rcu_qsbr_thread_offline(f->qsbr, lcore->number);
	return NULL;
}

/* Run on all lcores at once. */
static struct fixture *
run_on_all_lcores(void *(*work)(void *))
{
	struct lcore lcore[FIXTURE_WORKERS];
	struct slowloris_config config = fixture_usual;
	struct fixture *f;

	config.shared = true;
	config.rules.time_ms = 3600000;
	f = fixture_create(&config);
	for (unsigned int l = 0; l < FIXTURE_WORKERS; l++) {
		lcore[l] = (struct lcore){.fixture = f, .number = l};
		assert_int_equal(pthread_create(&lcore[l].thread, NULL, work, &lcore[l]), 0);
	}
	for (unsigned int l = 0; l < FIXTURE_WORKERS; l++)
		pthread_join(lcore[l].thread, NULL);
	fixture_pass(f, 1000);
	return f;
}

/*
 * Where there are fewer CPUs than lcores, the system may stop the one that holds the writer lock
 * for so long that the others miss segments, as they say: then once more, until nothing is missed.
 */
static struct fixture *
on_all_lcores(void *(*work)(void *))
{
	for (unsigned int attempt = 0; attempt < 30; attempt++) {
		struct fixture *f = run_on_all_lcores(work);
		uint64_t missed = 0;

		for (unsigned int l = 0; l < FIXTURE_WORKERS; l++)
			missed += slowloris_worker_counters(f->worker[l])->missed;
		if (missed == 0)
			return f;
		fixture_destroy(f);
	}
	fail_msg("segments are missed in each of 30 runs");
	return NULL;
}

TEST(lcores_agree_to_the_byte)
{
	struct fixture *f = on_all_lcores(speak_all);
	uint32_t open = 0;

	for (uint32_t client = 0; client < FIXTURE_WORKERS * CLIENTS_EACH; client++)
		open += client % 3 != 0;
	assert_int_equal(fixture_registers(f).connections, open);
	assert_int_equal(fixture_registers(f).bytes, open * 290);
	fixture_destroy(f);
}

TEST(lcores_end_connections_of_others)
{
	struct fixture *f = on_all_lcores(speak_and_end_others);
	struct slowloris_registers found = fixture_registers(f);
	const struct slowloris_counters *counters = slowloris_counters(f->detector);
	struct slowloris_usage usage;

	slowloris_usage(f->detector, &usage);
	assert_int_equal(counters->opened, FIXTURE_WORKERS * CLIENTS_EACH);
	assert_int_equal(found.connections, usage.connections);
	assert_int_equal(found.connections, counters->opened - counters->closed);
	/* Bytes: those of open connections, and of ends that came for connections already ended. */
	assert_true(found.bytes >= found.connections * UINT64_C(290));
	assert_int_equal(found.bytes % 10, 0);
	fixture_destroy(f);
}

/* Behind complete ones, of which no packet looks at more than a few: an lcore is not held up. */
TEST(a_full_table_looks_for_a_handshake_in_small_pieces)
{
	struct fixture *f = fixture_create(&fixture_usual);
	const struct slowloris_counters *counters = slowloris_counters(f->detector);
	const uint32_t capacity = f->config.connections;
	uint32_t *first = &f->detector->connections.half_open_first;

	for (uint32_t client = 0; client < capacity - 1; client++)
		fixture_open(f, client);
	for (uint32_t client = capacity - 1; counters->half_open_evicted < 2; client++) {
		uint32_t before = *first;

		assert_false(fixture_send_from(f, client, SYN, 0));
		assert_in_range(*first - before, 0, 256);
		assert_in_range(client, 0, capacity + 1000);
	}
	assert_int_equal(fixture_registers(f).established, capacity - 1);
	fixture_destroy(f);
}

static pthread_barrier_t all_have_asked;

/* Its own clients' handshakes, but for the last packet, which all lcores have, and data with it. */
static void *
complete_together(void *arg)
{
	struct lcore *lcore = arg;
	struct fixture *f = lcore->fixture;
	uint32_t first = lcore->number * CLIENTS_EACH;

	register_thread(lcore);
	for (uint32_t client = first; client < first + CLIENTS_EACH; client++) {
		fixture_send(f, lcore->number, client, false, SYN, 0);
		fixture_send(f, lcore->number, client, true, SYN | ACK, 0);
	}
	pthread_barrier_wait(&all_have_asked);
	for (uint32_t client = 0; client < FIXTURE_WORKERS * CLIENTS_EACH; client++) {
		fixture_send(f, lcore->number, client, false, ACK, 10);
		if (client % 16 == 0)
			sched_yield();
	}
	rte_rcu_qsbr_thread_offline(f->qsbr, lcore->number);
	return NULL;
}

/* Bytes that count while another lcore completes the handshake. */
TEST(lcores_agree_on_what_is_complete)
{
	struct slowloris_registers found;
	struct fixture *f;

	assert_int_equal(pthread_barrier_init(&all_have_asked, NULL, FIXTURE_WORKERS), 0);
	f = on_all_lcores(complete_together);
	pthread_barrier_destroy(&all_have_asked);
	found = fixture_registers(f);
	assert_int_equal(found.established, FIXTURE_WORKERS * CLIENTS_EACH);
	assert_int_equal(found.bytes, found.established * (40 + FIXTURE_WORKERS * UINT64_C(50)));
	assert_int_equal(found.established_bytes, found.bytes);
	fixture_destroy(f);
}

/* All keys in one bucket, as if chance had it: those without a slot are found all the same. */
TEST(a_bucket_overflows)
{
	struct fixture *f = fixture_create(&fixture_usual);
	struct connections *connections = &f->detector->connections;
	const uint32_t mask = connections->bucket_mask;

	connections->bucket_mask = 0;
	for (uint32_t client = 0; client < 300; client++)
		fixture_open(f, client);
	assert_int_equal(bucket_elsewhere(connections->bucket), 300 - BUCKET_SLOTS);
	for (uint32_t client = 0; client < 300; client++)
		assert_false(fixture_send_from(f, client, ACK, 10));
	assert_int_equal(fixture_registers(f).connections, 300);
	assert_int_equal(fixture_registers(f).bytes, 300 * 130);
	/* Slots become free, and are taken again. */
	for (uint32_t client = 0; client < 300; client += 2)
		assert_false(fixture_send(f, 0, client, true, FIN | ACK, 0));
	assert_int_equal(fixture_registers(f).bytes, 150 * 130);
	for (uint32_t client = 300; client < 450; client++)
		fixture_open(f, client);
	for (uint32_t client = 1; client < 300; client += 2)
		assert_false(fixture_send_from(f, client, FIN | ACK, 0));
	for (uint32_t client = 300; client < 450; client++)
		assert_false(fixture_send_from(f, client, FIN | ACK, 0));
	assert_int_equal(slowloris_counters(f->detector)->closed, 450);
	assert_int_equal(fixture_registers(f).connections, 0);
	assert_int_equal(bucket_elsewhere(connections->bucket), 0);
	assert_int_equal(bucket_match(connections->bucket, 0), 0);
	connections->bucket_mask = mask;
	fixture_destroy(f);
}

/*
 * Keys that all fall into one bucket under one secret spread over all of them under another.
 */
TEST(collisions_cannot_be_prepared)
{
	struct hash_secret known = hash_secret_draw(), unknown = hash_secret_draw();
	struct connection_key key = {.destination = SERVER, .destination_port = 80};
	unsigned int buckets[1024] = {0}, fullest = 0, prepared = 0;

	for (uint32_t n = 0; prepared < 4096; n++) {
		key.source = n;
		key.source_port = (uint16_t)(n * 7);
		if ((hash_connection(&known, &key) & 1023) != 0)
			continue;
		prepared++;
		fullest = RTE_MAX(fullest, ++buckets[hash_connection(&unknown, &key) & 1023]);
	}
	/* 4 expected in each; all 4096 in one if the secret did not matter. */
	assert_true(fullest < 64);
}

/* Lcores find a key in the hash table before the writer has filled its record in. */
TEST(records_are_found_when_they_are_filled_in)
{
	const struct connection_key key = {.destination = SERVER, .destination_port = 80};
	struct fixture *f = fixture_create(&fixture_usual);
	struct destinations *destinations = &f->detector->destinations;
	struct connections *connections = &f->detector->connections;
	const uint32_t hash = hash_connection(&connections->secret, &key);
	uint32_t index = destinations_add(destinations, SERVER, 1);

	assert_int_equal(destinations_find(destinations, SERVER), index);
	destinations->record[index].used = 0;
	assert_int_equal(destinations_find(destinations, SERVER), NONE);
	destinations->record[index].used = 1;
	connections_bucket(connections, hash)->slot[BUCKET_SLOTS]++; /* have the hash table asked */
	index = connections_add(connections, &key, 1);
	assert_int_not_equal(index, NONE);
	assert_int_equal(connections_find(connections, &key, hash), NONE);
	fixture_destroy(f);
}

/* Timers of arm64 have 1 MHz to 1 GHz, those of x86 some gigahertz. */
TEST(ticks_are_short_at_any_frequency)
{
	for (uint64_t hz = 1000000; hz < UINT64_C(8000000000); hz += hz / 7) {
		double us = 1e6 * (1u << tick_shift_of(hz)) / (double)hz;

		assert_true(us > 8 && us <= 40);
	}
	assert_int_equal(tick_shift_of(UINT64_C(1000000000)), 15);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Stations are learned, move, are forgotten and find no place, with a clock of the test's own. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "eal.h"
#include "forward/station_table.h"

#define CAPACITY 64u
#define AGEING_S 100u
#define READERS 2u
#define WORKER 0u /* the worker that the test plays itself; readers follow it */

struct fixture {
	struct rte_rcu_qsbr *qsbr;
	struct station_table *table;
	uint64_t second; /* TSC cycles */
	uint64_t now;
};

/* Where threads may run: the EAL pins its own to one core. */
static cpu_set_t all_cpus;

static struct station_key
key_of(uint32_t station)
{
	struct station_key key = {
		.mac = {{0x02, 0, (uint8_t)(station >> 24), (uint8_t)(station >> 16),
			(uint8_t)(station >> 8), (uint8_t)station}}};

	return key;
}

/* Take a table of another size. */
static void
replace_table(struct fixture *f, uint32_t capacity)
{
	station_table_free(f->table);
	f->table = station_table_create(capacity, AGEING_S, f->qsbr);
	if (f->table == NULL)
		fail_msg("no table for %u stations", capacity);
}

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->second = rte_get_tsc_hz();
	f->now = f->second;
	f->qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(READERS + 1), RTE_CACHE_LINE_SIZE);
	assert_non_null(f->qsbr);
	assert_int_equal(rte_rcu_qsbr_init(f->qsbr, READERS + 1), 0);
	rte_rcu_qsbr_thread_register(f->qsbr, WORKER);
	rte_rcu_qsbr_thread_online(f->qsbr, WORKER);
	replace_table(f, CAPACITY);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;

	rte_rcu_qsbr_thread_offline(f->qsbr, WORKER);
	station_table_free(f->table);
	rte_free(f->qsbr);
	free(f);
	return 0;
}

/* Let the keeper catch up, and the worker go on in between. */
static void
keep(struct fixture *f)
{
	for (unsigned int calls = 0; calls < 100; calls++) {
		station_table_keep(f->table, f->now);
		rte_rcu_qsbr_quiescent(f->qsbr, WORKER);
	}
}

static struct station *
look_up(const struct fixture *f, const struct station_key *key)
{
	struct station *station;

	station_table_look_up(f->table, key, &station, 1);
	return station;
}

/* Returns whether the station was known. */
static bool
seen_key(struct fixture *f, const struct station_key *key, uint16_t port)
{
	struct station *station = look_up(f, key);

	station_table_seen(f->table, key, station, port, f->now);
	return station != NULL;
}

static bool
seen(struct fixture *f, uint32_t station, uint16_t port)
{
	struct station_key key = key_of(station);

	return seen_key(f, &key, port);
}

static uint16_t
find_key(const struct fixture *f, const struct station_key *key)
{
	const struct station *station = look_up(f, key);

	return station != NULL ? station_port(station) : STATION_UNKNOWN;
}

static uint16_t
find(const struct fixture *f, uint32_t station)
{
	struct station_key key = key_of(station);

	return find_key(f, &key);
}

static void
assert_counted(const struct fixture *f, uint64_t stations, uint64_t learned, uint64_t aged,
	uint64_t refused)
{
	const struct station_counters *counters = station_table_counters(f->table);

	assert_int_equal(counters->stations, stations);
	assert_int_equal(counters->learned, learned);
	assert_int_equal(counters->aged, aged);
	assert_int_equal(counters->refused, refused);
}

/* ---- learning ---- */

static void
the_keeper_learns_what_was_announced(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(find(f, 1), STATION_UNKNOWN);
	assert_false(seen(f, 1, 3));
	assert_int_equal(find(f, 1), STATION_UNKNOWN);
	keep(f);
	assert_int_equal(find(f, 1), 3);
	assert_true(seen(f, 1, 3));
	assert_int_equal(find(f, 2), STATION_UNKNOWN);
	assert_counted(f, 1, 1, 0, 0);
}

static void
announced_often_it_is_learned_once(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 100; i++)
		assert_false(seen(f, 1, (uint16_t)(i % 4)));
	keep(f);
	assert_int_equal(find(f, 1), 0);
	assert_counted(f, 1, 1, 0, 0);
}

static void
a_station_moves_at_once(void **state)
{
	struct fixture *f = *state;

	seen(f, 1, 3);
	keep(f);
	for (uint16_t port = 0; port < 8; port++) {
		assert_true(seen(f, 1, port));
		assert_int_equal(find(f, 1), port);
	}
	assert_counted(f, 1, 1, 0, 0);
}

static void
every_bit_of_a_key_counts(void **state)
{
	struct fixture *f = *state;
	struct station_key key = key_of(1);

	seen_key(f, &key, 3);
	keep(f);
	for (unsigned int bit = 0; bit < 8 * sizeof(key); bit++) {
		struct station_key other = key;

		((uint8_t *)&other)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(find_key(f, &other), STATION_UNKNOWN);
	}
}

static void
each_vlan_learns_on_its_own(void **state)
{
	struct fixture *f = *state;
	struct station_key key = key_of(1);

	for (key.vlan = 0; key.vlan < CAPACITY; key.vlan++)
		seen_key(f, &key, (uint16_t)(100 + key.vlan));
	keep(f);
	for (key.vlan = 0; key.vlan < CAPACITY; key.vlan++)
		assert_int_equal(find_key(f, &key), 100 + key.vlan);
	assert_int_equal(find_key(f, &key), STATION_UNKNOWN);
}

/* More at once than a look-up in the hash takes. */
static void
stations_are_looked_up_together(void **state)
{
	enum {
		STATIONS = CAPACITY / 2,
		ASKED = CAPACITY
	};
	struct fixture *f = *state;
	struct station_key keys[ASKED];
	struct station *stations[ASKED];

	for (uint32_t s = 0; s < ASKED; s++) {
		keys[s] = key_of(s);
		if (s < STATIONS)
			seen(f, s, (uint16_t)s);
	}
	keep(f);
	station_table_look_up(f->table, keys, stations, ASKED);
	for (uint32_t s = 0; s < STATIONS; s++)
		assert_int_equal(station_port(stations[s]), s);
	for (uint32_t s = STATIONS; s < ASKED; s++)
		assert_null(stations[s]);
}

/* What the ring has no room for is announced by the station's next packet. */
static void
a_flood_of_announcements_is_survived(void **state)
{
	const uint32_t many = 4000;
	struct fixture *f = *state;

	replace_table(f, 4096);
	for (unsigned int round = 0; round < 5; round++) {
		for (uint32_t s = 0; s < many; s++)
			seen(f, s, (uint16_t)(s % 4));
		keep(f);
	}
	for (uint32_t s = 0; s < many; s++)
		assert_int_equal(find(f, s), s % 4);
	assert_counted(f, many, many, 0, 0);
}

/* ---- ageing ---- */

static void
silent_ones_are_forgotten(void **state)
{
	struct fixture *f = *state;

	seen(f, 1, 3);
	keep(f);
	f->now += AGEING_S * f->second;
	keep(f);
	assert_int_equal(find(f, 1), 3);
	f->now++;
	keep(f);
	assert_int_equal(find(f, 1), STATION_UNKNOWN);
	assert_counted(f, 0, 1, 1, 0);
	assert_false(seen(f, 1, 2));
	keep(f);
	assert_int_equal(find(f, 1), 2);
	assert_counted(f, 1, 2, 1, 0);
}

static void
whoever_speaks_stays(void **state)
{
	struct fixture *f = *state;

	seen(f, 1, 3);
	seen(f, 2, 3);
	keep(f);
	for (unsigned int round = 0; round < 10; round++) {
		f->now += AGEING_S * f->second * 2 / 3;
		assert_true(seen(f, 1, 3));
		keep(f);
		assert_int_equal(find(f, 1), 3);
	}
	assert_int_equal(find(f, 2), STATION_UNKNOWN);
	assert_counted(f, 1, 2, 1, 0);
}

/* Another lcore's clock may be a little ahead of the keeper's. */
static void
seen_in_the_future_is_not_silent(void **state)
{
	struct fixture *f = *state;

	seen(f, 1, 3);
	keep(f);
	f->now += 10 * f->second;
	seen(f, 1, 3);
	f->now -= f->second;
	keep(f);
	assert_int_equal(find(f, 1), 3);
}

/* ---- a full table ---- */

static void
fill(struct fixture *f, uint32_t first)
{
	for (uint32_t s = first; s < first + CAPACITY; s++)
		seen(f, s, (uint16_t)(s % 8));
	keep(f);
}

static void
assert_all_known(const struct fixture *f, uint32_t first)
{
	for (uint32_t s = first; s < first + CAPACITY; s++)
		assert_int_equal(find(f, s), s % 8);
}

static void
a_full_table_refuses_the_next(void **state)
{
	struct fixture *f = *state;

	fill(f, 0);
	assert_all_known(f, 0);
	assert_false(seen(f, CAPACITY, 1));
	assert_false(seen(f, CAPACITY, 1));
	keep(f);
	assert_int_equal(find(f, CAPACITY), STATION_UNKNOWN);
	assert_all_known(f, 0);
	assert_counted(f, CAPACITY, CAPACITY, 0, 2);
}

static void
what_was_forgotten_leaves_room_for_others(void **state)
{
	struct fixture *f = *state;

	for (uint32_t round = 0; round < 5; round++) {
		fill(f, round * CAPACITY);
		assert_all_known(f, round * CAPACITY);
		f->now += 2 * AGEING_S * f->second;
		keep(f);
		assert_int_equal(find(f, round * CAPACITY), STATION_UNKNOWN);
	}
	assert_counted(f, 0, 5 * CAPACITY, 5 * CAPACITY, 0);
}

/* A worker that has not passed by may still look at the station: its place is not for others. */
static void
no_place_is_reused_under_a_worker(void **state)
{
	struct fixture *f = *state;

	fill(f, 0);
	f->now += 2 * AGEING_S * f->second;
	station_table_keep(f->table, f->now);
	seen(f, CAPACITY, 1);
	for (unsigned int calls = 0; calls < 100; calls++)
		station_table_keep(f->table, f->now);
	assert_int_equal(find(f, CAPACITY), STATION_UNKNOWN);
	assert_counted(f, 0, CAPACITY, CAPACITY, 1);
}

static void
any_capacity_will_do(void **state)
{
	static const uint32_t capacities[] = {1, 2, 3, 4, 5, 7, 8, 100, 1000, 8192};
	struct fixture *f = *state;

	for (unsigned int c = 0; c < RTE_DIM(capacities); c++) {
		uint32_t capacity = capacities[c];

		replace_table(f, capacity);
		for (uint32_t s = 0; s <= capacity && s < 1000; s++)
			seen(f, s, 5);
		keep(f);
		for (uint32_t s = 0; s < capacity && s < 1000; s++)
			assert_int_equal(find(f, s), 5);
		assert_int_equal(find(f, capacity), STATION_UNKNOWN);
	}
}

static void
nothing_to_free(void **state)
{
	(void)state;
	station_table_free(NULL);
}

/* ---- readers beside the keeper ---- */

#define RACE_CAPACITY 2048u
#define RACE_STATIONS (2 * RACE_CAPACITY)
/* Threads may be kept waiting: the race is over when so much has happened. */
#define RACE_CHANGES 30000u /* stations learned, and forgotten */
#define RACE_FINDS 100000u  /* of each reader */
#define RACE_LIMIT_S 20u

struct race {
	struct fixture *fixture;
	unsigned int thread;
	uint64_t now;
	bool stop;
	uint64_t found, wrong;
};

static uint16_t
race_port(uint32_t station)
{
	return (uint16_t)(station * 7 % 251);
}

static uint32_t
next_random(uint32_t *random)
{
	*random = *random * 1664525 + 1013904223;
	return *random >> 8;
}

static bool
race_is_over(const struct fixture *f, const struct race *races)
{
	const struct station_counters *counters = station_table_counters(f->table);
	bool enough = counters->learned >= RACE_CHANGES && counters->aged >= RACE_CHANGES;

	for (unsigned int r = 0; r < READERS; r++)
		enough = enough && __atomic_load_n(&races[r].found, __ATOMIC_RELAXED) >= RACE_FINDS;
	return enough;
}

static void
look_up_one(struct race *race, uint32_t station)
{
	uint16_t port = find(race->fixture, station);

	if (port == STATION_UNKNOWN)
		return;
	__atomic_store_n(&race->found, race->found + 1, __ATOMIC_RELAXED);
	race->wrong += port != race_port(station);
}

static void
see_one(struct race *race, uint32_t station)
{
	struct station_key key = key_of(station);

	station_table_seen(race->fixture->table, &key, look_up(race->fixture, &key),
		race_port(station), __atomic_load_n(&race->now, __ATOMIC_RELAXED));
}

/* A worker: bursts of look-ups, with nothing held in between. */
static void *
read_stations(void *arg)
{
	struct race *race = arg;
	struct rte_rcu_qsbr *qsbr = race->fixture->qsbr;
	uint32_t random = race->thread;

	pthread_setaffinity_np(pthread_self(), sizeof(all_cpus), &all_cpus);
	rte_rcu_qsbr_thread_register(qsbr, race->thread);
	rte_rcu_qsbr_thread_online(qsbr, race->thread);
	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED)) {
		for (unsigned int i = 0; i < 32; i++)
			look_up_one(race, next_random(&random) % RACE_STATIONS);
		see_one(race, next_random(&random) % RACE_STATIONS);
		rte_rcu_qsbr_quiescent(qsbr, race->thread);
	}
	rte_rcu_qsbr_thread_offline(qsbr, race->thread);
	return NULL;
}

/* Announce stations and keep; in the end, so much time passes that most are forgotten. */
static void
keep_for_a_while(struct fixture *f, struct race *races, uint32_t *random)
{
	for (unsigned int calls = 0; calls < RACE_CAPACITY / 32; calls++) {
		for (unsigned int s = next_random(random) % 16; s > 0; s--) {
			uint32_t station = next_random(random) % RACE_STATIONS;

			seen(f, station, race_port(station));
		}
		station_table_keep(f->table, f->now);
		rte_rcu_qsbr_quiescent(f->qsbr, WORKER);
	}
	f->now += 2 * AGEING_S * f->second;
	for (unsigned int r = 0; r < READERS; r++)
		__atomic_store_n(&races[r].now, f->now, __ATOMIC_RELAXED);
	sched_yield();
}

static void
keep_against(struct fixture *f, struct race *races)
{
	uint64_t limit = rte_rdtsc() + RACE_LIMIT_S * f->second;
	uint32_t random = 99;

	pthread_setaffinity_np(pthread_self(), sizeof(all_cpus), &all_cpus);
	while (!race_is_over(f, races) && rte_rdtsc() < limit)
		keep_for_a_while(f, races, &random);
}

static void
readers_never_see_a_wrong_port(void **state)
{
	struct fixture *f = *state;
	struct race races[READERS] = {0};
	pthread_t threads[READERS];

	replace_table(f, RACE_CAPACITY);
	for (unsigned int r = 0; r < READERS; r++) {
		races[r] = (struct race){.fixture = f, .thread = r + 1, .now = f->now};
		assert_int_equal(pthread_create(&threads[r], NULL, read_stations, &races[r]), 0);
	}
	keep_against(f, races);
	for (unsigned int r = 0; r < READERS; r++) {
		__atomic_store_n(&races[r].stop, true, __ATOMIC_RELAXED);
		pthread_join(threads[r], NULL);
		assert_int_equal(races[r].wrong, 0);
	}
	assert_true(race_is_over(f, races));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TABLE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TABLE_TEST(the_keeper_learns_what_was_announced),
		TABLE_TEST(announced_often_it_is_learned_once),
		TABLE_TEST(a_station_moves_at_once),
		TABLE_TEST(every_bit_of_a_key_counts),
		TABLE_TEST(each_vlan_learns_on_its_own),
		TABLE_TEST(stations_are_looked_up_together),
		TABLE_TEST(a_flood_of_announcements_is_survived),
		TABLE_TEST(silent_ones_are_forgotten),
		TABLE_TEST(whoever_speaks_stays),
		TABLE_TEST(seen_in_the_future_is_not_silent),
		TABLE_TEST(a_full_table_refuses_the_next),
		TABLE_TEST(what_was_forgotten_leaves_room_for_others),
		TABLE_TEST(no_place_is_reused_under_a_worker),
		TABLE_TEST(any_capacity_will_do),
		TABLE_TEST(readers_never_see_a_wrong_port),
		cmocka_unit_test(nothing_to_free),
	};

	if (sched_getaffinity(0, sizeof(all_cpus), &all_cpus) != 0 || eal_start(1) != 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

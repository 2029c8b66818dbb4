/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers look stations up while the writer learns and forgets them. */
#include <pthread.h>
#include <sched.h>

#include <rte_cycles.h>

#include "cases.h"
#include "eal.h"
#include "fdb_fixture.h"

#define RACE_CAPACITY 2048u
#define RACE_STATIONS (2 * RACE_CAPACITY)
/* Threads may be kept waiting: the race is over when so much has happened. */
#define RACE_CHANGES 30000u /* stations learned, and forgotten */
#define RACE_FINDS 100000u  /* of each reader */
#define RACE_LIMIT_S 20u

/* Where threads may run: the EAL pins its own to one core. */
static cpu_set_t all_cpus;

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
	const struct fdb_counters *counters = fdb_counters(f->table);
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
	struct fdb_key key = key_of(station);

	see_at(race->fixture->table, &key, look_up(race->fixture, &key), race_port(station),
		__atomic_load_n(&race->now, __ATOMIC_RELAXED));
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
		fdb_maintain(f->table, f->now);
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

TABLE_TEST(readers_never_see_a_wrong_port)
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
	if (sched_getaffinity(0, sizeof(all_cpus), &all_cpus) != 0 || start_lcores(1) != 0)
		return 1;
	return tests_run(NULL, NULL);
}

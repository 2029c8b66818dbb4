/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "forward/station_lines.h"
#include "forward/station_table.h"

#define NEWS 1024
/* Announcements taken per call, so that a flood of new stations does not keep packets waiting. */
#define NEWS_PER_CALL 32
/* Stations looked at for ageing per call. */
#define AGED_PER_CALL 64
/* Keys looked up together, a bit each. */
#define LOOK_UP 64u
/* rte_hash makes none with fewer entries. */
#define LEAST_HASH 16u

/* A station that a worker did not find. */
struct news {
	struct station_key key;
	uint16_t port;
};

_Static_assert(sizeof(struct news) % 4 == 0, "ring elements are multiples of 4 bytes");

/* A station removed from the hash, which a worker may still hold. */
struct forgotten {
	uint64_t token;   /* of the quiescent states: when nobody holds it any more */
	int32_t position; /* of its key in the hash */
	uint32_t station;
};

struct station_table {
	struct station_lines lines; /* from keys to stations, where workers look first */
	struct rte_hash *hash;      /* likewise, of all stations */
	struct rte_rcu_qsbr *qsbr;
	struct rte_ring *news;
	struct station *station;
	uint32_t *free; /* indices of stations that are free, a stack */
	uint32_t free_count;
	struct forgotten *forgotten; /* a queue, going round */
	uint32_t forgotten_first, forgotten_count;
	uint32_t capacity;
	uint32_t next;            /* where ageing goes on */
	uint64_t ageing, refresh; /* TSC cycles */
	struct station_counters counters;
};

static struct rte_hash *
create_hash(struct station_table *table)
{
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters parameters = {
		.name = name,
		/* Half full at the most, so that whoever has a place also has a key. */
		.entries = RTE_MAX(2 * table->capacity, LEAST_HASH),
		.key_len = sizeof(struct station_key),
		.hash_func = rte_hash_crc,
		.socket_id = SOCKET_ID_ANY,
		/* Removed keys stay until they are freed by position. */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF,
	};

	snprintf(name, sizeof(name), "stations-%" PRIxPTR, (uintptr_t)table);
	return rte_hash_create(&parameters);
}

static int
allocate(struct station_table *table)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "news-%" PRIxPTR, (uintptr_t)table);
	/* RTS: a worker that is interrupted while it announces does not hold up the others. */
	table->news = rte_ring_create_elem(
		name, sizeof(struct news), NEWS, SOCKET_ID_ANY, RING_F_MP_RTS_ENQ | RING_F_SC_DEQ);
	table->station = rte_calloc("stations", table->capacity, sizeof(*table->station), 0);
	table->free = rte_calloc("stations", table->capacity, sizeof(*table->free), 0);
	table->forgotten = rte_calloc("stations", table->capacity, sizeof(*table->forgotten), 0);
	if (table->news == NULL || table->station == NULL || table->free == NULL ||
		table->forgotten == NULL)
		return -1;
	for (uint32_t s = table->capacity; s-- > 0;)
		table->free[table->free_count++] = s;
	table->hash = create_hash(table);
	if (table->hash == NULL)
		return -1;
	return station_lines_create(&table->lines, table->capacity);
}

void
station_table_set_ageing(struct station_table *table, uint32_t ageing_s)
{
	uint64_t ageing = ageing_s * rte_get_tsc_hz();

	__atomic_store_n(&table->ageing, ageing, __ATOMIC_RELAXED);
	__atomic_store_n(&table->refresh, RTE_MIN(rte_get_tsc_hz(), ageing / 4), __ATOMIC_RELAXED);
}

struct station_table *
station_table_create(uint32_t capacity, uint32_t ageing_s, struct rte_rcu_qsbr *qsbr)
{
	struct station_table *table = rte_zmalloc("stations", sizeof(*table), 0);

	if (table == NULL)
		return NULL;
	table->capacity = capacity;
	station_table_set_ageing(table, ageing_s);
	table->qsbr = qsbr;
	if (allocate(table) != 0) {
		station_table_free(table);
		return NULL;
	}
	return table;
}

void
station_table_free(struct station_table *table)
{
	if (table == NULL)
		return;
	station_lines_free(&table->lines);
	rte_hash_free(table->hash);
	rte_ring_free(table->news);
	rte_free(table->station);
	rte_free(table->free);
	rte_free(table->forgotten);
	rte_free(table);
}

static uint64_t
word_of(const struct station_key *key)
{
	uint64_t word;

	memcpy(&word, key, sizeof(word));
	return word;
}

/* Keys whose lines are full, in the hash. */
static __rte_noinline void
look_up_elsewhere(const struct station_table *table, const struct station_key *keys,
	struct station **stations, uint64_t elsewhere)
{
	for (; elsewhere != 0; elsewhere &= elsewhere - 1) {
		const unsigned int k = (unsigned int)rte_bsf64(elsewhere);
		void *station;

		if (rte_hash_lookup_data(table->hash, &keys[k], &station) >= 0)
			stations[k] = station;
	}
}

/* Up to LOOK_UP keys: all lines are on their way before the first is read. */
static void
look_up_some(const struct station_table *table, const struct station_key *keys,
	struct station **stations, unsigned int count)
{
	const struct station_line *line[LOOK_UP];
	uint64_t elsewhere = 0;

	for (unsigned int k = 0; k < count; k++) {
		line[k] = station_line_of(&table->lines, word_of(&keys[k]));
		rte_prefetch0(line[k]);
	}
	for (unsigned int k = 0; k < count; k++) {
		uint32_t found = station_line_find(line[k], word_of(&keys[k]));

		stations[k] = found != 0 ? &table->station[found - 1] : NULL;
		elsewhere |= (uint64_t)(found == 0 && station_line_overflows(line[k])) << k;
	}
	if (unlikely(elsewhere != 0))
		look_up_elsewhere(table, keys, stations, elsewhere);
}

void
station_table_look_up(const struct station_table *table, const struct station_key *keys,
	struct station **stations, unsigned int count)
{
	for (unsigned int first = 0; first < count; first += LOOK_UP)
		look_up_some(
			table, keys + first, stations + first, RTE_MIN(count - first, LOOK_UP));
}

uint64_t
station_table_refresh(const struct station_table *table)
{
	return __atomic_load_n(&table->refresh, __ATOMIC_RELAXED);
}

void
station_table_announce(struct station_table *table, const struct station_key *key, uint16_t port)
{
	struct news news = {.key = *key, .port = port};

	/* Where the ring is full, the station's next packet will tell. */
	rte_ring_enqueue_elem(table->news, &news, sizeof(news));
}

static uint32_t
number_of(const struct station_table *table, const struct station *station)
{
	return (uint32_t)(station - table->station);
}

static void
learn(struct station_table *table, const struct news *news, uint64_t now)
{
	struct station *station;
	void *known;

	/* Several packets, or several workers, may have announced it. */
	if (rte_hash_lookup_data(table->hash, &news->key, &known) >= 0)
		return;
	if (table->free_count == 0) {
		table->counters.refused++;
		return;
	}
	station = &table->station[table->free[table->free_count - 1]];
	*station =
		(struct station){.key = news->key, .port = news->port, .used = true, .seen = now};
	if (rte_hash_add_key_data(table->hash, &news->key, station) != 0) {
		station->used = false;
		table->counters.refused++;
		return;
	}
	station_lines_add(&table->lines, word_of(&news->key), number_of(table, station));
	table->free_count--;
	table->counters.learned++;
	table->counters.stations++;
}

/* Whoever still holds the station may go on; its place is free when nobody does any more. */
static void
forget(struct station_table *table, struct station *station)
{
	uint32_t last = (table->forgotten_first + table->forgotten_count) % table->capacity;
	int32_t position = rte_hash_del_key(table->hash, &station->key);

	station_lines_remove(&table->lines, word_of(&station->key), number_of(table, station));
	table->forgotten[last] = (struct forgotten){
		.token = rte_rcu_qsbr_start(table->qsbr),
		.position = position,
		.station = number_of(table, station),
	};
	table->forgotten_count++;
	station->used = false;
	table->counters.aged++;
	table->counters.stations--;
}

/* Free what all workers have passed by, the oldest first. */
static void
release_forgotten(struct station_table *table)
{
	while (table->forgotten_count > 0) {
		const struct forgotten *oldest = &table->forgotten[table->forgotten_first];

		if (rte_rcu_qsbr_check(table->qsbr, oldest->token, false) == 0)
			return;
		rte_hash_free_key_with_position(table->hash, oldest->position);
		station_lines_release(&table->lines, word_of(&table->station[oldest->station].key),
			oldest->station);
		table->free[table->free_count++] = oldest->station;
		table->forgotten_first = (table->forgotten_first + 1) % table->capacity;
		table->forgotten_count--;
	}
}

static void
age(struct station_table *table, uint64_t now)
{
	uint64_t ageing = __atomic_load_n(&table->ageing, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < RTE_MIN(AGED_PER_CALL, table->capacity); i++) {
		struct station *station = &table->station[table->next];
		uint64_t seen = __atomic_load_n(&station->seen, __ATOMIC_RELAXED);

		table->next = (table->next + 1) % table->capacity;
		if (station->used && seen < now && now - seen > ageing)
			forget(table, station);
	}
}

void
station_table_keep(struct station_table *table, uint64_t now)
{
	struct news news[NEWS_PER_CALL];
	unsigned int count;

	release_forgotten(table);
	count = rte_ring_dequeue_burst_elem(
		table->news, news, sizeof(news[0]), NEWS_PER_CALL, NULL);

	for (unsigned int n = 0; n < count; n++)
		learn(table, &news[n], now);
	age(table, now);
}

const struct station_counters *
station_table_counters(const struct station_table *table)
{
	return &table->counters;
}

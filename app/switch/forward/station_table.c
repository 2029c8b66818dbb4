/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "forward/station_table.h"

#define NEWS 1024
/* Announcements taken per call, so that a flood of new stations does not keep packets waiting. */
#define NEWS_PER_CALL 32
/* Stations looked at for ageing per call. */
#define AGED_PER_CALL 64
/* rte_hash makes none with fewer entries. */
#define LEAST_HASH 16u

struct station {
	struct station_key key;
	uint16_t port;
	bool used;     /* it is in the hash; only the keeper knows */
	uint64_t seen; /* TSC, give or take a refresh */
};

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
	struct rte_hash *hash; /* from keys to stations */
	struct rte_rcu_qsbr *qsbr;
	struct rte_ring *news;
	struct station *station;
	uint32_t *free; /* indices of stations that are free, a stack */
	uint32_t free_count;
	struct forgotten *forgotten; /* a queue, going round */
	uint32_t forgotten_first, forgotten_count;
	uint32_t capacity;
	uint32_t next;    /* where ageing goes on */
	uint64_t ageing;  /* TSC cycles */
	uint64_t refresh; /* how old a station's time may be before it is written again */
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
	return table->hash != NULL ? 0 : -1;
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
	rte_hash_free(table->hash);
	rte_ring_free(table->news);
	rte_free(table->station);
	rte_free(table->free);
	rte_free(table->forgotten);
	rte_free(table);
}

void
station_table_look_up(const struct station_table *table, const struct station_key *keys,
	struct station **stations, unsigned int count)
{
	const void *key[RTE_HASH_LOOKUP_BULK_MAX];
	void *data[RTE_HASH_LOOKUP_BULK_MAX];

	for (unsigned int first = 0; first < count; first += RTE_HASH_LOOKUP_BULK_MAX) {
		const unsigned int some =
			RTE_MIN(count - first, (unsigned int)RTE_HASH_LOOKUP_BULK_MAX);
		uint64_t known = 0;

		for (unsigned int k = 0; k < some; k++)
			key[k] = &keys[first + k];
		rte_hash_lookup_bulk_data(table->hash, key, some, &known, data);
		for (unsigned int k = 0; k < some; k++)
			stations[first + k] = known >> k & 1 ? data[k] : NULL;
	}
}

void
station_table_seen(struct station_table *table, const struct station_key *key,
	struct station *station, uint16_t port, uint64_t now)
{
	struct news news = {.key = *key, .port = port};

	if (station == NULL) {
		/* Where the ring is full, the station's next packet will tell. */
		rte_ring_enqueue_elem(table->news, &news, sizeof(news));
		return;
	}
	if (__atomic_load_n(&station->port, __ATOMIC_RELAXED) != port)
		__atomic_store_n(&station->port, port, __ATOMIC_RELAXED);
	/* Seldom written, so that lcores do not fight for the cache line. */
	if (now - __atomic_load_n(&station->seen, __ATOMIC_RELAXED) >
		__atomic_load_n(&table->refresh, __ATOMIC_RELAXED))
		__atomic_store_n(&station->seen, now, __ATOMIC_RELAXED);
}

uint16_t
station_port(const struct station *station)
{
	return __atomic_load_n(&station->port, __ATOMIC_RELAXED);
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

	table->forgotten[last] = (struct forgotten){
		.token = rte_rcu_qsbr_start(table->qsbr),
		.position = position,
		.station = (uint32_t)(station - table->station),
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

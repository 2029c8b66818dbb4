/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <rte_cycles.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "forward/fdb.h"
#include "forward/fdb_lines.h"

#define LEARN_RING_SIZE 1024
/* Announcements taken per call, so that a flood of new stations does not keep packets waiting. */
#define LEARNED_PER_CALL 32
/* Stations looked at for ageing per call. */
#define AGED_PER_CALL 64
/* Keys looked up together, a bit each. */
#define LOOK_UP 64u
/* rte_hash makes none with fewer entries. */
#define MIN_HASH 16u

/* A station that a worker did not find. */
struct learn_request {
	struct fdb_key key;
	uint16_t port;
};

_Static_assert(sizeof(struct learn_request) % 4 == 0, "ring elements are multiples of 4 bytes");

/* A station removed from the hash, which a worker may still hold. */
struct deferred_free {
	uint64_t token;   /* of the quiescent states: when nobody holds it any more */
	int32_t position; /* of its key in the hash */
	uint32_t entry;
};

struct fdb {
	struct fdb_lines lines; /* from keys to stations, where workers look first */
	struct rte_hash *hash;  /* likewise, of all stations */
	struct rte_rcu_qsbr *qsbr;
	struct rte_ring *learn_ring;
	struct fdb_entry *entry;
	uint32_t *free; /* indices of free entries, a stack */
	uint32_t free_count;
	struct deferred_free *deferred; /* a circular queue */
	uint32_t deferred_first, deferred_count;
	uint32_t capacity;
	uint32_t next;            /* where ageing goes on */
	uint64_t ageing, refresh; /* TSC cycles */
	struct fdb_counters counters;
	bool gone[RTE_MAX_ETHPORTS]; /* ports whose stations are to be forgotten */
};

/* ---- lines ----------------------------------------------------------------------------------- */

int
fdb_lines_create(struct fdb_lines *lines, uint32_t entries)
{
	uint32_t count = rte_align32pow2((2 * entries + FDB_WAYS - 1) / FDB_WAYS);

	lines->mask = count - 1;
	lines->line = rte_calloc_socket("fdb lines", count, sizeof(*lines->line),
		RTE_CACHE_LINE_SIZE, (int)rte_socket_id());
	if (lines->line == NULL)
		return -ENOMEM;
	for (uint32_t l = 0; l < count; l++) {
		for (unsigned int way = 0; way < FDB_WAYS; way++)
			lines->line[l].key[way] = FDB_NO_KEY;
	}
	return 0;
}

void
fdb_lines_free(struct fdb_lines *lines)
{
	rte_free(lines->line);
}

/* The way of a line that has the entry, or FDB_WAYS; of entry -1, a free way. */
static unsigned int
way_of(const struct fdb_line *line, uint32_t entry)
{
	unsigned int way = 0;

	while (way < FDB_WAYS && line->entry[way] != entry + 1)
		way++;
	return way;
}

/* The writer: add a key that is not there, with the index of its entry. */
static void
fdb_lines_add(struct fdb_lines *lines, uint64_t key, uint32_t entry)
{
	struct fdb_line *line = fdb_line_of(lines, key);
	unsigned int way = way_of(line, UINT32_MAX);

	if (way == FDB_WAYS) {
		__atomic_store_n(&line->elsewhere, line->elsewhere + 1, __ATOMIC_RELEASE);
		return;
	}
	__atomic_store_n(&line->entry[way], entry + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&line->key[way], key, __ATOMIC_RELEASE);
}

/* The writer: remove a key that was added. Workers no longer find it. */
static void
fdb_lines_remove(struct fdb_lines *lines, uint64_t key, uint32_t entry)
{
	struct fdb_line *line = fdb_line_of(lines, key);
	unsigned int way = way_of(line, entry);

	if (way == FDB_WAYS)
		__atomic_store_n(&line->elsewhere, line->elsewhere - 1, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&line->key[way], FDB_NO_KEY, __ATOMIC_RELAXED);
}

/* The writer: no worker reads the removed key any more, so that its place, if any, is free. */
static void
fdb_lines_release(struct fdb_lines *lines, uint64_t key, uint32_t entry)
{
	struct fdb_line *line = fdb_line_of(lines, key);
	unsigned int way = way_of(line, entry);

	if (way < FDB_WAYS)
		__atomic_store_n(&line->entry[way], 0, __ATOMIC_RELAXED);
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct rte_hash *
create_hash(struct fdb *fdb)
{
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters parameters = {
		.name = name,
		/* Half full at most, so that whoever has a place also has a key. */
		.entries = RTE_MAX(2 * fdb->capacity, MIN_HASH),
		.key_len = sizeof(struct fdb_key),
		.hash_func = rte_hash_crc,
		.socket_id = (int)rte_socket_id(),
		/* Removed keys stay until they are freed by position. */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF,
	};

	snprintf(name, sizeof(name), "fdb-%" PRIxPTR, (uintptr_t)fdb);
	return rte_hash_create(&parameters);
}

static int
allocate(struct fdb *fdb)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "fdb-learn-%" PRIxPTR, (uintptr_t)fdb);
	/* RTS: a worker that is interrupted while it announces does not hold up the others. */
	fdb->learn_ring = rte_ring_create_elem(name, sizeof(struct learn_request), LEARN_RING_SIZE,
		(int)rte_socket_id(), RING_F_MP_RTS_ENQ | RING_F_SC_DEQ);
	fdb->entry = rte_calloc_socket(
		"fdb", fdb->capacity, sizeof(*fdb->entry), 0, (int)rte_socket_id());
	fdb->free = rte_calloc_socket(
		"fdb", fdb->capacity, sizeof(*fdb->free), 0, (int)rte_socket_id());
	fdb->deferred = rte_calloc_socket(
		"fdb", fdb->capacity, sizeof(*fdb->deferred), 0, (int)rte_socket_id());
	if (fdb->learn_ring == NULL || fdb->entry == NULL || fdb->free == NULL ||
		fdb->deferred == NULL)
		return -1;
	for (uint32_t s = fdb->capacity; s-- > 0;)
		fdb->free[fdb->free_count++] = s;
	fdb->hash = create_hash(fdb);
	if (fdb->hash == NULL)
		return -1;
	return fdb_lines_create(&fdb->lines, fdb->capacity);
}

void
fdb_set_ageing(struct fdb *fdb, uint32_t ageing_s)
{
	uint64_t ageing = ageing_s * rte_get_tsc_hz();

	__atomic_store_n(&fdb->ageing, ageing, __ATOMIC_RELAXED);
	__atomic_store_n(&fdb->refresh, RTE_MIN(rte_get_tsc_hz(), ageing / 4), __ATOMIC_RELAXED);
}

struct fdb *
fdb_create(uint32_t capacity, uint32_t ageing_s, struct rte_rcu_qsbr *qsbr)
{
	struct fdb *fdb = rte_zmalloc_socket("fdb", sizeof(*fdb), 0, (int)rte_socket_id());

	if (fdb == NULL)
		return NULL;
	fdb->capacity = capacity;
	fdb_set_ageing(fdb, ageing_s);
	fdb->qsbr = qsbr;
	if (allocate(fdb) != 0) {
		fdb_free(fdb);
		return NULL;
	}
	return fdb;
}

void
fdb_free(struct fdb *fdb)
{
	if (fdb == NULL)
		return;
	fdb_lines_free(&fdb->lines);
	rte_hash_free(fdb->hash);
	rte_ring_free(fdb->learn_ring);
	rte_free(fdb->entry);
	rte_free(fdb->free);
	rte_free(fdb->deferred);
	rte_free(fdb);
}

static uint64_t
word_of(const struct fdb_key *key)
{
	uint64_t word;

	memcpy(&word, key, sizeof(word));
	return word;
}

/* Keys whose lines are full, in the hash. */
static __rte_noinline void
look_up_elsewhere(const struct fdb *fdb, const struct fdb_key *keys, struct fdb_entry **entries,
	uint64_t elsewhere)
{
	for (; elsewhere != 0; elsewhere &= elsewhere - 1) {
		const unsigned int k = (unsigned int)rte_bsf64(elsewhere);
		void *entry;

		if (rte_hash_lookup_data(fdb->hash, &keys[k], &entry) >= 0)
			entries[k] = entry;
	}
}

/* Up to LOOK_UP keys: all lines are prefetched before the first is read. */
static void
look_up_some(const struct fdb *fdb, const struct fdb_key *keys, struct fdb_entry **entries,
	unsigned int count)
{
	const struct fdb_line *line[LOOK_UP];
	uint64_t elsewhere = 0;

	for (unsigned int k = 0; k < count; k++) {
		line[k] = fdb_line_of(&fdb->lines, word_of(&keys[k]));
		rte_prefetch0(line[k]);
	}
	for (unsigned int k = 0; k < count; k++) {
		uint32_t found = fdb_line_find(line[k], word_of(&keys[k]));

		entries[k] = found != 0 ? &fdb->entry[found - 1] : NULL;
		elsewhere |= (uint64_t)(found == 0 && fdb_line_overflows(line[k])) << k;
	}
	if (unlikely(elsewhere != 0))
		look_up_elsewhere(fdb, keys, entries, elsewhere);
}

void
fdb_lookup(const struct fdb *fdb, const struct fdb_key *keys, struct fdb_entry **entries,
	unsigned int count)
{
	for (unsigned int first = 0; first < count; first += LOOK_UP)
		look_up_some(fdb, keys + first, entries + first, RTE_MIN(count - first, LOOK_UP));
}

uint64_t
fdb_refresh(const struct fdb *fdb)
{
	return __atomic_load_n(&fdb->refresh, __ATOMIC_RELAXED);
}

void
fdb_report_new(struct fdb *fdb, const struct fdb_key *key, uint16_t port)
{
	struct learn_request request = {.key = *key, .port = port};

	/* If the ring is full, the station's next packet announces it. */
	rte_ring_enqueue_elem(fdb->learn_ring, &request, sizeof(request));
}

static uint32_t
index_of(const struct fdb *fdb, const struct fdb_entry *entry)
{
	return (uint32_t)(entry - fdb->entry);
}

static void
learn(struct fdb *fdb, const struct learn_request *request, uint64_t now)
{
	struct fdb_entry *entry;
	void *known;

	/* Several packets, or several workers, may have announced it. */
	if (rte_hash_lookup_data(fdb->hash, &request->key, &known) >= 0)
		return;
	if (fdb->free_count == 0) {
		fdb->counters.refused++;
		return;
	}
	entry = &fdb->entry[fdb->free[fdb->free_count - 1]];
	*entry = (struct fdb_entry){
		.key = request->key, .port = request->port, .used = true, .seen = now};
	if (rte_hash_add_key_data(fdb->hash, &request->key, entry) != 0) {
		entry->used = false;
		fdb->counters.refused++;
		return;
	}
	fdb_lines_add(&fdb->lines, word_of(&request->key), index_of(fdb, entry));
	fdb->free_count--;
	fdb->counters.learned++;
	fdb->counters.stations++;
}

/* Workers may still hold the station; its place is free once none does. */
static void
forget(struct fdb *fdb, struct fdb_entry *entry)
{
	uint32_t last = (fdb->deferred_first + fdb->deferred_count) % fdb->capacity;
	int32_t position = rte_hash_del_key(fdb->hash, &entry->key);

	fdb_lines_remove(&fdb->lines, word_of(&entry->key), index_of(fdb, entry));
	fdb->deferred[last] = (struct deferred_free){
		.token = rte_rcu_qsbr_start(fdb->qsbr),
		.position = position,
		.entry = index_of(fdb, entry),
	};
	fdb->deferred_count++;
	entry->used = false;
	fdb->counters.aged++;
	fdb->counters.stations--;
}

/* Free the entries whose grace period is over, oldest first. */
static void
release_deferred(struct fdb *fdb)
{
	while (fdb->deferred_count > 0) {
		const struct deferred_free *oldest = &fdb->deferred[fdb->deferred_first];

		if (rte_rcu_qsbr_check(fdb->qsbr, oldest->token, false) == 0)
			return;
		rte_hash_free_key_with_position(fdb->hash, oldest->position);
		fdb_lines_release(
			&fdb->lines, word_of(&fdb->entry[oldest->entry].key), oldest->entry);
		fdb->free[fdb->free_count++] = oldest->entry;
		fdb->deferred_first = (fdb->deferred_first + 1) % fdb->capacity;
		fdb->deferred_count--;
	}
}

static bool
is_behind_none(const struct fdb *fdb, const struct fdb_entry *entry)
{
	const uint16_t port = fdb_entry_port(entry);

	return port < RTE_DIM(fdb->gone) && __atomic_load_n(&fdb->gone[port], __ATOMIC_RELAXED);
}

static void
age(struct fdb *fdb, uint64_t now)
{
	uint64_t ageing = __atomic_load_n(&fdb->ageing, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < RTE_MIN(AGED_PER_CALL, fdb->capacity); i++) {
		struct fdb_entry *entry = &fdb->entry[fdb->next];
		uint64_t seen = __atomic_load_n(&entry->seen, __ATOMIC_RELAXED);

		fdb->next = (fdb->next + 1) % fdb->capacity;
		if (entry->used &&
			((seen < now && now - seen > ageing) || is_behind_none(fdb, entry)))
			forget(fdb, entry);
	}
}

void
fdb_maintain(struct fdb *fdb, uint64_t now)
{
	struct learn_request requests[LEARNED_PER_CALL];
	unsigned int count;

	release_deferred(fdb);
	count = rte_ring_dequeue_burst_elem(
		fdb->learn_ring, requests, sizeof(requests[0]), LEARNED_PER_CALL, NULL);

	for (unsigned int n = 0; n < count; n++)
		learn(fdb, &requests[n], now);
	age(fdb, now);
}

void
fdb_forget_port(struct fdb *fdb, uint16_t port)
{
	__atomic_store_n(&fdb->gone[port], true, __ATOMIC_RELAXED);
}

const struct fdb_counters *
fdb_counters(const struct fdb *fdb)
{
	return &fdb->counters;
}

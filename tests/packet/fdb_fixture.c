/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "cases.h"
#include "fdb_fixture.h"

struct fdb_key
key_of(uint32_t station)
{
	struct fdb_key key = {.mac = {{0x02, 0, (uint8_t)(station >> 24), (uint8_t)(station >> 16),
				      (uint8_t)(station >> 8), (uint8_t)station}}};

	return key;
}

void
replace_table(struct fixture *f, uint32_t capacity)
{
	fdb_free(f->table);
	f->table = fdb_create(capacity, AGEING_S, f->qsbr);
	if (f->table == NULL)
		fail_msg("no table for %u stations", capacity);
}

int
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

int
tear_down(void **state)
{
	struct fixture *f = *state;

	rte_rcu_qsbr_thread_offline(f->qsbr, WORKER);
	fdb_free(f->table);
	rte_free(f->qsbr);
	free(f);
	return 0;
}

struct fdb_entry *
look_up(const struct fixture *f, const struct fdb_key *key)
{
	struct fdb_entry *station;

	fdb_lookup(f->table, key, &station, 1);
	return station;
}

void
see_at(struct fdb *table, const struct fdb_key *key, struct fdb_entry *station, uint16_t port,
	uint64_t now)
{
	if (station == NULL)
		fdb_report_new(table, key, port);
	else
		fdb_entry_seen(station, port, now, fdb_refresh(table));
}

bool
seen_key(struct fixture *f, const struct fdb_key *key, uint16_t port)
{
	struct fdb_entry *station = look_up(f, key);

	see_at(f->table, key, station, port, f->now);
	return station != NULL;
}

bool
seen(struct fixture *f, uint32_t station, uint16_t port)
{
	struct fdb_key key = key_of(station);

	return seen_key(f, &key, port);
}

uint16_t
find_key(const struct fixture *f, const struct fdb_key *key)
{
	const struct fdb_entry *station = look_up(f, key);

	return station != NULL ? fdb_entry_port(station) : STATION_UNKNOWN;
}

uint16_t
find(const struct fixture *f, uint32_t station)
{
	struct fdb_key key = key_of(station);

	return find_key(f, &key);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Stations are learned, move, are forgotten and find no place, with a clock of the test's own. */
#include <string.h>

#include <rte_common.h>

#include "cases.h"
#include "forward/fdb_lines.h"
#include "fdb_fixture.h"

/* Let the writer catch up, and the worker go on in between. */
static void
keep(struct fixture *f)
{
	for (unsigned int calls = 0; calls < 100; calls++) {
		fdb_maintain(f->table, f->now);
		rte_rcu_qsbr_quiescent(f->qsbr, WORKER);
	}
}

static void
assert_counted(const struct fixture *f, uint64_t stations, uint64_t learned, uint64_t aged,
	uint64_t refused)
{
	const struct fdb_counters *counters = fdb_counters(f->table);

	assert_int_equal(counters->stations, stations);
	assert_int_equal(counters->learned, learned);
	assert_int_equal(counters->aged, aged);
	assert_int_equal(counters->refused, refused);
}

/* ---- learning ---- */

TABLE_TEST(the_keeper_learns_what_was_announced)
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

TABLE_TEST(announced_often_it_is_learned_once)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 100; i++)
		assert_false(seen(f, 1, (uint16_t)(i % 4)));
	keep(f);
	assert_int_equal(find(f, 1), 0);
	assert_counted(f, 1, 1, 0, 0);
}

TABLE_TEST(a_station_moves_at_once)
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

TABLE_TEST(every_bit_of_a_key_counts)
{
	struct fixture *f = *state;
	struct fdb_key key = key_of(1);

	seen_key(f, &key, 3);
	keep(f);
	for (unsigned int bit = 0; bit < 8 * sizeof(key); bit++) {
		struct fdb_key other = key;

		((uint8_t *)&other)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(find_key(f, &other), STATION_UNKNOWN);
	}
}

TABLE_TEST(each_vlan_learns_on_its_own)
{
	struct fixture *f = *state;
	struct fdb_key key = key_of(1);

	for (key.vlan = 0; key.vlan < CAPACITY; key.vlan++)
		seen_key(f, &key, (uint16_t)(100 + key.vlan));
	keep(f);
	for (key.vlan = 0; key.vlan < CAPACITY; key.vlan++)
		assert_int_equal(find_key(f, &key), 100 + key.vlan);
	assert_int_equal(find_key(f, &key), STATION_UNKNOWN);
}

/* More at once than a look-up in the hash takes. */
TABLE_TEST(stations_are_looked_up_together)
{
	enum {
		STATIONS = CAPACITY / 2,
		ASKED = CAPACITY
	};
	struct fixture *f = *state;
	struct fdb_key keys[ASKED];
	struct fdb_entry *stations[ASKED];

	for (uint32_t s = 0; s < ASKED; s++) {
		keys[s] = key_of(s);
		if (s < STATIONS)
			seen(f, s, (uint16_t)s);
	}
	keep(f);
	fdb_lookup(f->table, keys, stations, ASKED);
	for (uint32_t s = 0; s < STATIONS; s++)
		assert_int_equal(fdb_entry_port(stations[s]), s);
	for (uint32_t s = STATIONS; s < ASKED; s++)
		assert_null(stations[s]);
}

/* What the ring has no space for is announced by the station's next packet. */
TABLE_TEST(a_flood_of_announcements_is_survived)
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

/* Stations whose keys belong into the same cache line of a table of CAPACITY. */
static void
find_neighbours(uint32_t *stations, unsigned int count)
{
	struct fdb_lines lines;
	unsigned int found = 0;

	assert_int_equal(fdb_lines_create(&lines, CAPACITY), 0);
	for (uint32_t s = 1; found < count; s++) {
		struct fdb_key key = key_of(s);
		uint64_t word;

		memcpy(&word, &key, sizeof(word));
		if (fdb_line_of(&lines, word) == lines.line)
			stations[found++] = s;
	}
	fdb_lines_free(&lines);
}

static void
assert_known(const struct fixture *f, const uint32_t *stations, unsigned int first,
	unsigned int known, unsigned int all)
{
	for (unsigned int s = 0; s < all; s++) {
		uint16_t port = s >= first && s < known ? (uint16_t)s : STATION_UNKNOWN;

		assert_int_equal(find(f, stations[s]), port);
	}
}

/* Two lines full, of one; then those with a place leave it, and those without one take it. */
TABLE_TEST(more_than_a_line_are_known)
{
	enum {
		KNOWN = 2 * FDB_WAYS,
		ALL = 3 * FDB_WAYS
	};
	struct fixture *f = *state;
	uint32_t stations[ALL];

	find_neighbours(stations, ALL);
	for (unsigned int s = 0; s < KNOWN; s++) {
		seen(f, stations[s], (uint16_t)s);
		keep(f);
		assert_known(f, stations, 0, s + 1, ALL);
	}
	for (unsigned int round = 0; round < 3; round++) {
		f->now += AGEING_S * f->second * 2 / 3;
		for (unsigned int s = FDB_WAYS; s < KNOWN; s++)
			assert_true(seen(f, stations[s], (uint16_t)s));
		keep(f);
	}
	assert_known(f, stations, FDB_WAYS, KNOWN, ALL);
	for (unsigned int s = 0; s < ALL; s++)
		seen(f, stations[s], (uint16_t)s);
	keep(f);
	assert_known(f, stations, 0, ALL, ALL);
	f->now += 2 * AGEING_S * f->second;
	keep(f);
	assert_known(f, stations, 0, 0, ALL);
	assert_counted(f, 0, KNOWN + KNOWN, KNOWN + KNOWN, 0);
}

/* ---- ageing ---- */

TABLE_TEST(those_behind_a_port_that_is_gone_are_forgotten)
{
	struct fixture *f = *state;

	seen(f, 1, 3);
	seen(f, 2, 4);
	keep(f);
	fdb_forget_port(f->table, 3);
	keep(f);
	assert_int_equal(find(f, 1), STATION_UNKNOWN);
	assert_int_equal(find(f, 2), 4);
	assert_counted(f, 1, 2, 1, 0);
}

TABLE_TEST(silent_ones_are_forgotten)
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

TABLE_TEST(whoever_speaks_stays)
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

/* Another lcore's clock may be a little ahead of the writer's. */
TABLE_TEST(seen_in_the_future_is_not_silent)
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

TABLE_TEST(a_full_table_refuses_the_next)
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

TABLE_TEST(what_was_forgotten_leaves_its_place_to_others)
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
TABLE_TEST(no_place_is_reused_under_a_worker)
{
	struct fixture *f = *state;

	fill(f, 0);
	f->now += 2 * AGEING_S * f->second;
	fdb_maintain(f->table, f->now);
	seen(f, CAPACITY, 1);
	for (unsigned int calls = 0; calls < 100; calls++)
		fdb_maintain(f->table, f->now);
	assert_int_equal(find(f, CAPACITY), STATION_UNKNOWN);
	assert_counted(f, 0, CAPACITY, CAPACITY, 1);
}

TABLE_TEST(any_capacity_will_do)
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

TEST(nothing_to_free)
{
	fdb_free(NULL);
}

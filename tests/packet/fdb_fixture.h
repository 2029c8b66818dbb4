/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FDB_FIXTURE_H
#define FDB_FIXTURE_H

/** @file A table of stations, its writer, a worker and a clock, for tests. */

#include <rte_rcu_qsbr.h>

#include "cases.h"
#include "forward/fdb.h"

#define CAPACITY 64u
#define AGEING_S 100u
#define READERS 2u
#define STATION_UNKNOWN UINT16_MAX /* no port */
#define WORKER 0u                  /* the worker that the test plays itself; readers follow it */

struct fixture {
	struct rte_rcu_qsbr *qsbr;
	struct fdb *table;
	uint64_t second; /**< TSC cycles */
	uint64_t now;
};

/** A test with a table of CAPACITY stations. */
#define TABLE_TEST(name) TEST_WITH(name, set_up, tear_down)

int set_up(void **state);
int tear_down(void **state);

/** Take a table of another size. */
void replace_table(struct fixture *f, uint32_t capacity);

struct fdb_key key_of(uint32_t station);

/** NULL where the table does not know it. */
struct fdb_entry *look_up(const struct fixture *f, const struct fdb_key *key);

/** A worker sees a packet of a station, which it has looked up. */
void see_at(struct fdb *table, const struct fdb_key *key, struct fdb_entry *station, uint16_t port,
	uint64_t now);

/** The worker sees a packet of a station; returns whether it was known. */
bool seen_key(struct fixture *f, const struct fdb_key *key, uint16_t port);
bool seen(struct fixture *f, uint32_t station, uint16_t port);

/** The port of a station, or STATION_UNKNOWN. */
uint16_t find_key(const struct fixture *f, const struct fdb_key *key);
uint16_t find(const struct fixture *f, uint32_t station);

#endif

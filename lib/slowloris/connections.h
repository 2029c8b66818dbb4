/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_CONNECTIONS_H
#define SLOWLORIS_CONNECTIONS_H

/** @file The connections: a record each, in a table that only the writer lock's holder changes. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_common.h>
#include <rte_hash.h>

#include "destinations.h"
#include "segment.h"

enum connection_state {
	CONNECTION_ENDED = 0, /* or never used */
	CONNECTION_SYN,       /* its client has asked */
	CONNECTION_ANSWERED,  /* its server has answered, with the number in `expected` */
	CONNECTION_OPEN,      /* its client has that number, which proves its address */
};

/* Two in a cache line. */
struct connection {
	uint64_t bytes;        /* of its client, and BYTES_COMPLETE; subtracted when it ends */
	uint32_t seen, opened; /* ticks */
	uint32_t expected;     /* what the client acknowledges at first */
	uint32_t state;        /* enum connection_state, and above it the destination's index */
	uint32_t source;       /* with the destination's address and the ports, its key */
	uint16_t source_port, destination_port;
} __attribute__((aligned(32)));

_Static_assert(sizeof(struct connection) == 32, "a power of two");
_Static_assert(
	offsetof(struct connection, destination_port) - offsetof(struct connection, source) ==
		offsetof(struct connection_key, destination_port),
	"the key, but for the destination's address");

/*
 * In a connection's bytes: its handshake is complete, so that its destination's `incomplete` has
 * none of them. In the same word, as lcores may count while another completes the handshake.
 */
#define BYTES_COMPLETE (UINT64_C(1) << 63)

#define STATE_BITS 2
#define STATE_MASK ((1u << STATE_BITS) - 1)

static inline enum connection_state
connection_state(const struct connection *connection)
{
	return (enum connection_state)(
		__atomic_load_n(&connection->state, __ATOMIC_ACQUIRE) & STATE_MASK);
}

/* Does not change as long as an lcore may use the record. */
static inline uint32_t
connection_destination(const struct connection *connection)
{
	return __atomic_load_n(&connection->state, __ATOMIC_RELAXED) >> STATE_BITS;
}

/* Change the state; false if it is not `from` any more. */
static inline bool
connection_advance(
	struct connection *connection, enum connection_state from, enum connection_state to)
{
	uint32_t destination = connection_destination(connection) << STATE_BITS;
	uint32_t before = destination | from;

	return __atomic_compare_exchange_n(&connection->state, &before, destination | to, false,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* A handshake that may not be complete. */
struct half_open {
	uint32_t connection;
	uint32_t opened;
};

/*
 * A bucket: the positions in the table that the keys of a hash may have, in one cache line, or half
 * of one where lines have 128 bytes. Look-ups come here first: an rte_hash, the table itself, would
 * read three lines.
 */

/* Keys in a bucket: twice as many as a bucket of a full table has on average. */
#define BUCKET_SLOTS 15
/* A slot: the position in the lower bits, above them some bits of the key's hash, never 0. */
#define BUCKET_POSITION_BITS 25
#define BUCKET_POSITION_MASK ((1u << BUCKET_POSITION_BITS) - 1)

struct bucket {
	/* 0: free. The last one counts keys that are in the table only: all slots were taken. */
	uint32_t slot[BUCKET_SLOTS + 1];
} __rte_aligned(RTE_CACHE_LINE_MIN_SIZE);

_Static_assert(sizeof(struct bucket) == RTE_CACHE_LINE_MIN_SIZE, "within a cache line");

/* What a key of that hash has in its slot. */
static inline uint32_t
bucket_slot(uint32_t hash, uint32_t position)
{
	return RTE_MAX(hash >> BUCKET_POSITION_BITS, 1u) << BUCKET_POSITION_BITS | position;
}

/* Four slots: all machines that DPDK supports have vector registers of this size. */
typedef uint32_t bucket_vector __attribute__((vector_size(16)));

static inline bucket_vector
bucket_match_four(const uint32_t *slots, uint32_t wanted, uint32_t first)
{
	const bucket_vector bits = {first, first << 1, first << 2, first << 3};
	bucket_vector four;

	memcpy(&four, slots, sizeof(four));
	return (bucket_vector)((four & ~BUCKET_POSITION_MASK) == wanted) & bits;
}

/* The slots that a key of that hash may be in, as bits. */
static inline uint32_t
bucket_match(const struct bucket *bucket, uint32_t hash)
{
	const uint32_t wanted = bucket_slot(hash, 0), *slots = bucket->slot;
	bucket_vector match = bucket_match_four(slots, wanted, 1) |
		bucket_match_four(slots + 4, wanted, 1 << 4) |
		bucket_match_four(slots + 8, wanted, 1 << 8) |
		bucket_match_four(slots + 12, wanted, 1 << 12);

	return (match[0] | match[1] | match[2] | match[3]) & ((1u << BUCKET_SLOTS) - 1);
}

/* The position in a slot. */
static inline uint32_t
bucket_position(const struct bucket *bucket, unsigned int slot)
{
	return __atomic_load_n(&bucket->slot[slot], __ATOMIC_RELAXED) & BUCKET_POSITION_MASK;
}

/* Number of keys that are in the table only, because all slots were taken. */
static inline uint32_t
bucket_elsewhere(const struct bucket *bucket)
{
	return __atomic_load_n(&bucket->slot[BUCKET_SLOTS], __ATOMIC_RELAXED);
}

/* Add a key. As bucket_remove(): for the holder of the writer lock only. */
static inline void
bucket_add(struct bucket *bucket, uint32_t hash, uint32_t position)
{
	for (unsigned int s = 0; s < BUCKET_SLOTS; s++) {
		if (bucket->slot[s] != 0)
			continue;
		__atomic_store_n(&bucket->slot[s], bucket_slot(hash, position), __ATOMIC_RELEASE);
		return;
	}
	__atomic_store_n(
		&bucket->slot[BUCKET_SLOTS], bucket->slot[BUCKET_SLOTS] + 1, __ATOMIC_RELEASE);
}

/* Remove a key that was added. */
static inline void
bucket_remove(struct bucket *bucket, uint32_t hash, uint32_t position)
{
	for (unsigned int s = 0; s < BUCKET_SLOTS; s++) {
		if (bucket->slot[s] != bucket_slot(hash, position))
			continue;
		__atomic_store_n(&bucket->slot[s], 0, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(
		&bucket->slot[BUCKET_SLOTS], bucket->slot[BUCKET_SLOTS] - 1, __ATOMIC_RELAXED);
}

/* The connections, in one table. Only the holder of the writer lock changes it. */
struct connections {
	struct rte_hash *hash;
	struct bucket *bucket; /* where to look first */
	uint32_t bucket_mask;
	size_t own_bytes; /* of its memory that is not the EAL's */
	struct connection *record;
	const struct destination *destination; /* their records */
	struct hash_secret secret;
	uint32_t capacity;
	uint32_t count;
	uint32_t high; /* records from here on have never been used */
	uint32_t next; /* the record that ageing looks at next */
	/* Handshakes by age, a ring; completed ones stay in it until they are the oldest. */
	struct half_open *half_open;
	uint32_t half_open_mask, half_open_first, half_open_last;
};

/* The bucket of a hash. */
static inline struct bucket *
connections_bucket(const struct connections *connections, uint32_t hash)
{
	return &connections->bucket[hash & connections->bucket_mask];
}

/* Whether a record is that of an open connection with that key. */
static inline bool
connections_is(
	const struct connections *connections, uint32_t index, const struct connection_key *key)
{
	const struct connection *connection = &connections->record[index];
	uint32_t word = __atomic_load_n(&connection->state, __ATOMIC_ACQUIRE);

	return (word & STATE_MASK) != CONNECTION_ENDED &&
		memcmp(&connection->source, key, offsetof(struct connection_key, destination)) ==
		0 &&
		connections->destination[word >> STATE_BITS].address == key->destination;
}

int connections_create(struct connections *connections, const struct slowloris_config *config);
void connections_destroy(struct connections *connections);
uint32_t connections_find(
	const struct connections *connections, const struct connection_key *key, uint32_t hash);
/* Add a connection. The caller fills in its record. NONE if the table is full. */
uint32_t
connections_add(struct connections *connections, const struct connection_key *key, uint32_t now);
/* The caller subtracts its bytes. */
void connections_remove(
	struct connections *connections, const struct connection_key *key, uint32_t index);
/*
 * The oldest incomplete handshake, if one must be removed before another can be added. NONE where
 * it comes after many complete ones: the next call goes on from there.
 */
uint32_t connections_evict(struct connections *connections);
/* An incomplete handshake older than `age`, or NONE. Each record looked at takes one of `looks`. */
uint32_t connections_expire(
	struct connections *connections, uint32_t now, uint32_t age, unsigned int *looks);

#endif /* SLOWLORIS_CONNECTIONS_H */

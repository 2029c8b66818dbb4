/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_BUCKET_H
#define SLOWLORIS_BUCKET_H

/**
 * @file
 * The positions in a table that the keys of a hash may have, in one cache line, or half of one
 * where lines have 128 bytes. Look-ups come here first: an rte_hash, the table itself, would read
 * three lines.
 */

#include <stdint.h>
#include <string.h>

#include <rte_common.h>

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

/* Four slots. Compilers have registers for that on all machines that DPDK runs on. */
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

/* How many keys are in the table only, and in no slot. */
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

#endif /* SLOWLORIS_BUCKET_H */

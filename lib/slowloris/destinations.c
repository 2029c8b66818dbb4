/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_malloc.h>

#include "destinations.h"

/* Removed keys freed whenever one more is removed. */
#define RECLAIMED_AT_ONCE 32

struct rte_hash *
table_create(const char *name, const void *owner, uint32_t capacity, uint32_t key_bytes,
	int socket_id, struct rte_rcu_qsbr *qsbr)
{
	char own_name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters parameters = {
		.name = own_name,
		.entries = capacity + TABLE_SLACK,
		.key_len = key_bytes,
		.socket_id = socket_id,
		/* With extra buckets, all entries can be stored, whatever their hashes. */
		.extra_flag =
			RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF | RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};
	struct rte_hash_rcu_config rcu = {
		.v = qsbr,
		.mode = RTE_HASH_QSBR_MODE_DQ,
		.trigger_reclaim_limit = RECLAIMED_AT_ONCE,
		.max_reclaim_size = RECLAIMED_AT_ONCE,
	};
	struct rte_hash *hash;

	snprintf(own_name, sizeof(own_name), "%s-%" PRIxPTR, name, (uintptr_t)owner);
	hash = rte_hash_create(&parameters);
	if (hash != NULL && rte_hash_rcu_qsbr_add(hash, &rcu) != 0) {
		rte_hash_free(hash);
		return NULL;
	}
	return hash;
}

/* The size of a large page on nearly all machines. */
#define LARGE ((size_t)2 << 20)

size_t
array_own_bytes(size_t bytes)
{
	return rte_eal_has_hugepages() ? 0 : RTE_ALIGN_CEIL(bytes, LARGE);
}

static void *
map(size_t bytes)
{
	void *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (array == MAP_FAILED)
		return NULL;
	/* A kernel without large pages gives small ones. */
	madvise(array, bytes, MADV_HUGEPAGE);
	/* Take the page faults now, not with the first packets. */
	memset(array, 0, bytes);
	return array;
}

void *
array_create(const char *name, size_t bytes, int socket_id)
{
	if (rte_eal_has_hugepages())
		return rte_zmalloc_socket(name, bytes, RTE_CACHE_LINE_SIZE, socket_id);
	return map(array_own_bytes(bytes));
}

void
array_free(void *array, size_t bytes)
{
	if (rte_eal_has_hugepages())
		rte_free(array);
	else if (array != NULL)
		munmap(array, array_own_bytes(bytes));
}

int
destinations_create(struct destinations *destinations, const struct slowloris_config *config)
{
	const uint32_t capacity = config->destinations;

	destinations->capacity = capacity;
	destinations->secret = hash_secret_draw();
	destinations->hash = table_create("destinations", destinations, capacity, sizeof(uint32_t),
		config->socket_id, config->qsbr);
	destinations->record = rte_zmalloc_socket("destinations",
		(size_t)table_records(capacity) * sizeof(*destinations->record),
		RTE_CACHE_LINE_SIZE, config->socket_id);
	return destinations->hash != NULL && destinations->record != NULL ? 0 : -ENOMEM;
}

void
destinations_destroy(struct destinations *destinations)
{
	rte_hash_free(destinations->hash);
	rte_free(destinations->record);
}

uint32_t
destinations_find(const struct destinations *destinations, uint32_t address)
{
	int32_t position = rte_hash_lookup_with_hash(
		destinations->hash, &address, hash_address(&destinations->secret, address));

	return destinations_known(destinations, position);
}

uint32_t
destinations_add(struct destinations *destinations, uint32_t address, uint32_t now)
{
	struct destination *destination;
	int32_t position;

	if (destinations->count == destinations->capacity)
		return NONE;
	position = rte_hash_add_key_with_hash(
		destinations->hash, &address, hash_address(&destinations->secret, address));
	if (position < 0)
		return NONE;
	destination = &destinations->record[position];
	/* Other lcores may have found the key already: they wait for `used`. */
	*destination = (struct destination){.address = address, .seen = now, .rotated = now};
	__atomic_store_n(&destination->used, 1, __ATOMIC_RELEASE);
	destinations->count++;
	destinations->high = RTE_MAX(destinations->high, (uint32_t)position + 1);
	return (uint32_t)position;
}

void
destinations_remove(struct destinations *destinations, uint32_t index)
{
	struct destination *destination = &destinations->record[index];

	__atomic_store_n(&destination->used, 0, __ATOMIC_RELEASE);
	rte_hash_del_key_with_hash(destinations->hash, &destination->address,
		hash_address(&destinations->secret, destination->address));
	destinations->count--;
}

/*
 * Bytes of connections whose handshake is complete. What others have is read first, and the sum,
 * which is written first, last: a packet that is counted meanwhile is never missing. Where the same
 * moment completes its handshake, others may have less than nothing.
 */
uint64_t
destination_complete_bytes(const struct destination *destination)
{
	uint64_t others = __atomic_load_n(&destination->unattributed_before, __ATOMIC_ACQUIRE) +
		__atomic_load_n(&destination->unattributed, __ATOMIC_ACQUIRE) +
		__atomic_load_n(&destination->incomplete, __ATOMIC_ACQUIRE);
	int64_t complete =
		(int64_t)(__atomic_load_n(&destination->bytes, __ATOMIC_RELAXED) - others);

	return (uint64_t)RTE_MAX(complete, 0);
}

void
destination_read(const struct destination *destination, struct slowloris_registers *registers)
{
	*registers = (struct slowloris_registers){
		.address = rte_be_to_cpu_32(load_u32(&destination->address)),
		.connections = load_u32(&destination->connections),
		.established = load_u32(&destination->established),
		.bytes = __atomic_load_n(&destination->bytes, __ATOMIC_RELAXED),
		.established_bytes = destination_complete_bytes(destination),
		.ratio = __atomic_load_n(&destination->ratio, __ATOMIC_RELAXED),
		.alarm = __atomic_load_n(&destination->alarm, __ATOMIC_RELAXED) != 0,
	};
}

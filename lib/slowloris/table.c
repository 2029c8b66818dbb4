/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#include "table.h"

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

/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <sys/mman.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#include "array.h"

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
	/* Page faults occur now, not with the first packets. */
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

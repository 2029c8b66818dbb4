/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#include "dpdk/dense_pool.h"

#define NAME "netfc_dense"

static size_t
bytes_each(const struct rte_mempool *pool)
{
	return (size_t)pool->header_size + pool->elt_size + pool->trailer_size;
}

static ssize_t
memory_size(const struct rte_mempool *pool, uint32_t buffers, uint32_t page_shift,
	size_t *least_chunk, size_t *align)
{
	(void)page_shift;
	*least_chunk = bytes_each(pool);
	*align = RTE_CACHE_LINE_SIZE;
	return (ssize_t)(buffers * bytes_each(pool));
}

static int
populate(struct rte_mempool *pool, unsigned int most, void *memory, rte_iova_t iova, size_t length,
	rte_mempool_populate_obj_cb_t *add, void *opaque)
{
	const size_t count = RTE_MIN(length / bytes_each(pool), (size_t)most);

	for (size_t b = 0; b < count; b++) {
		const size_t at = b * bytes_each(pool) + pool->header_size;
		void *buffer = RTE_PTR_ADD(memory, at);

		add(pool, opaque, buffer, iova == RTE_BAD_IOVA ? RTE_BAD_IOVA : iova + at);
		rte_mempool_ops_enqueue_bulk(pool, &buffer, 1);
	}
	return (int)count;
}

/* Operations by their name, or NULL. */
static const struct rte_mempool_ops *
find_ops(const char *name)
{
	for (uint32_t i = 0; i < rte_mempool_ops_table.num_ops; i++) {
		if (strcmp(rte_mempool_ops_table.ops[i].name, name) == 0)
			return &rte_mempool_ops_table.ops[i];
	}
	return NULL;
}

/* The kernel hands a frame of AF_XDP to a NIC only if it does not cross pages. */
static bool
has_af_xdp(void)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	RTE_ETH_FOREACH_DEV (port) {
		if (rte_eth_dev_info_get(port, &info) == 0 &&
			strcmp(info.driver_name, "net_af_xdp") == 0)
			return true;
	}
	return false;
}

static bool
may_cross_pages(void)
{
	return !rte_eal_has_hugepages() && rte_eal_iova_mode() == RTE_IOVA_VA && !has_af_xdp();
}

const char *
dense_pool_ops(void)
{
	const struct rte_mempool_ops *usual = find_ops(rte_mbuf_best_mempool_ops());
	struct rte_mempool_ops ops;

	if (usual == NULL || !may_cross_pages())
		return NULL;
	if (find_ops(NAME) != NULL)
		return NAME;
	ops = *usual;
	snprintf(ops.name, sizeof(ops.name), NAME);
	ops.calc_mem_size = memory_size;
	ops.populate = populate;
	return rte_mempool_register_ops(&ops) >= 0 ? NAME : NULL;
}

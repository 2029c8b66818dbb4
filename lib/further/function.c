/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>

#include "function.h"

static void
run_plain(const struct further_kernel *kernel, struct vector_packet *packet)
{
	struct function_run run = function_start(kernel, packet);

	function_run_each(&run, 0, packet->count);
	function_finish(&run, packet);
}

static void
function_free(struct further_kernel *kernel)
{
	rte_free(kernel->entries);
	rte_free(kernel);
}

static void
fill(uint32_t *entries, const uint16_t *z, const uint8_t *flags)
{
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++)
		entries[slot_swap((uint16_t)x)] =
			(uint32_t)flags[x] << FURTHER_ENTRY_FLAGS_SHIFT | slot_swap(z[x]);
}

static void
use_best(struct further_kernel *kernel, enum vector_isa isa)
{
	kernel->run = run_plain;
#ifdef __x86_64__
	if (isa >= VECTOR_AVX512)
		kernel->run = function_run_avx512;
#else
	(void)isa;
#endif
}

int
further_function_create(const uint16_t *z, const uint8_t *flags, enum vector_isa isa, int socket_id,
	struct further_kernel **result)
{
	struct further_kernel *kernel;

	kernel = rte_zmalloc_socket(
		"netfc_function", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->free = function_free;
	use_best(kernel, isa);
	kernel->entries = rte_malloc_socket("netfc_function",
		NETFC_FUNCTION_ENTRIES * sizeof(kernel->entries[0]), RTE_CACHE_LINE_SIZE,
		socket_id);
	if (kernel->entries == NULL) {
		function_free(kernel);
		return -ENOMEM;
	}
	fill(kernel->entries, z, flags);
	*result = kernel;
	return 0;
}

void
further_free(struct further_kernel *kernel)
{
	if (kernel != NULL)
		kernel->free(kernel);
}

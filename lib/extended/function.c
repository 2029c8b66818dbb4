/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>

#include "extended.h"
#include "function.h"

static __rte_noinline void
run_plain(const struct function_kernel *kernel, struct vector_packet *packet)
{
	struct function_run run = function_start(kernel, packet);

	function_run_each(&run, 0, packet->count);
	function_finish(&run, packet);
}

static void
run_packets(const struct vector_kernel *kernel, unsigned int op, struct vector_packet *packets,
	unsigned int count)
{
	(void)op;
	function_run_packets(kernel, packets, count, run_plain);
}

/* Slots of 8 bits: the array begins with their 256 entries. */
static void
run_packets8(const struct vector_kernel *kernel, unsigned int op, struct vector_packet *packets,
	unsigned int count)
{
	const uint32_t *entries = ((const struct function_kernel *)kernel)->entries;

	(void)op;
	for (unsigned int p = 0; p < count; p++) {
		const uint32_t lanes = packets[p].count, bytes = lanes + lanes % 2;
		const uint8_t *x = packets[p].slots;
		uint8_t *z = packets[p].slots + 2 * (size_t)bytes;
		const uint64_t before = slots_sum(z, bytes);
		uint32_t any = 0;

		for (uint32_t l = 0; l < lanes; l++) {
			const uint32_t entry = entries[x[l]];

			any |= entry;
			z[l] = (uint8_t)entry;
		}
		packets[p].flags = (uint8_t)(any >> FUNCTION_FLAGS_SHIFT);
		packets[p].changes = slots_changes(bytes / 2, before, slots_sum(z, bytes));
	}
}

static void
function_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

static void
fill(uint32_t *entries, const uint16_t *z, const uint8_t *flags)
{
	for (uint32_t x = 0; x < NETFC_FUNCTION_ENTRIES; x++)
		entries[slot16_swap((uint16_t)x)] =
			(uint32_t)flags[x] << FUNCTION_FLAGS_SHIFT | slot16_swap(z[x]);
}

static void
fill8(uint32_t *entries, const uint16_t *z, const uint8_t *flags)
{
	for (uint32_t x = 0; x <= UINT8_MAX; x++)
		entries[x] = (uint32_t)flags[x] << FUNCTION_FLAGS_SHIFT | z[x];
}

static void
use_best(struct function_kernel *kernel, enum vector_isa isa)
{
	kernel->kernel.run.packets = run_packets;
#ifdef __x86_64__
	if (isa >= VECTOR_AVX512)
		kernel->kernel.run.packets = function_run_avx512;
#else
	(void)isa;
#endif
}

int
extended_function_create(unsigned int slot_bits, const uint16_t *z, const uint8_t *flags,
	enum vector_isa isa, int socket_id, struct vector_kernel **result)
{
	struct function_kernel *kernel;

	kernel = rte_malloc_socket(
		"netfc_function", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->kernel = (struct vector_kernel){.free = function_free};
	if (slot_bits == 8) {
		kernel->kernel.run.packets = run_packets8;
		fill8(kernel->entries, z, flags);
	} else {
		use_best(kernel, isa);
		fill(kernel->entries, z, flags);
	}
	*result = &kernel->kernel;
	return 0;
}

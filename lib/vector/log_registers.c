/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_malloc.h>

#include "kernels.h"
#include "log_registers.h"

/* Enough of them that the fastest of the rounds was not interrupted, in less than a millisecond. */
#define TIMED_LANES 256
#define TIMED_ROUNDS 256

#ifdef RTE_ARCH_X86_64
static const struct log_registers_isa *const best = &log_registers_avx512;
#else
static const struct log_registers_isa *const best = &log_registers_neon;
#endif

static bool
log_is_right(const struct log_shape *shape, const struct log_registers *kernel)
{
	uint16_t magnitude[32];
	int16_t word[32];

	for (uint32_t first = 0; first < shape->finite; first += RTE_DIM(word)) {
		for (uint32_t i = 0; i < RTE_DIM(word); i++)
			magnitude[i] = (uint16_t)(first + i);
		best->log(kernel, magnitude, word, RTE_DIM(word));
		for (uint32_t i = 0; i < RTE_DIM(word); i++) {
			if (first + i >= 1 && first + i < shape->finite &&
				word[i] != (int16_t)shape->log[first + i])
				return false;
		}
	}
	return true;
}

static bool
exp_is_right(const struct log_shape *shape, const struct log_registers *kernel)
{
	uint16_t magnitude[32];
	int16_t word[32];

	for (int32_t first = INT16_MIN; first <= INT16_MAX; first += (int32_t)RTE_DIM(word)) {
		for (int32_t i = 0; i < (int32_t)RTE_DIM(word); i++)
			word[i] = (int16_t)(first + i);
		best->exp(kernel, word, magnitude, RTE_DIM(word));
		for (int32_t i = 0; i < (int32_t)RTE_DIM(word); i++) {
			if (magnitude[i] != shape->exp[(uint16_t)word[i]])
				return false;
		}
	}
	return true;
}

static void
use_way(struct vector_kernel *kernel, unsigned int way)
{
	struct log_registers *registers = (struct log_registers *)kernel;

	best->use(registers, way);
	snprintf(kernel->description, sizeof(kernel->description),
		"%s, log and exp in registers, mi folded to %u KB, %s", vector_isa_name(best->isa),
		(unsigned int)(2 * (registers->last + 1) * sizeof(registers->mi[0]) / 1024),
		way == LOG_REGISTERS_GATHER ? "by gathers" : "by loads");
}

/* Any operands, packets' slots. */
static void
fill_slots(uint16_t *slots, unsigned int count)
{
	uint32_t random = 1;

	for (unsigned int s = 0; s < count; s++) {
		random = random * 1664525 + 1013904223;
		slots[s] = (uint16_t)(random >> 16);
	}
}

static uint64_t
time_sums(const struct vector_kernel *kernel, struct vector_packet *packet)
{
	uint64_t start = rte_rdtsc_precise();

	vector_run_packets(kernel, NETFC_ADD, packet, 1);
	return rte_rdtsc_precise() - start;
}

/*
 * Gathers are faster than single loads on some processors, and slower on others. Ways take turns,
 * as the processor may be slower for a while.
 */
static void
use_fastest_way(struct vector_kernel *kernel)
{
	uint16_t slots[3 * TIMED_LANES];
	struct vector_packet packet = {.slots = (uint8_t *)slots, .count = TIMED_LANES};
	uint64_t least[LOG_REGISTERS_WAYS] = {UINT64_MAX, UINT64_MAX};
	unsigned int fastest = 0;

	fill_slots(slots, RTE_DIM(slots));
	for (unsigned int round = 0; best->ways > 1 && round < TIMED_ROUNDS * best->ways; round++) {
		const unsigned int way = round % best->ways;

		use_way(kernel, way);
		least[way] = RTE_MIN(least[way], time_sums(kernel, &packet));
	}
	for (unsigned int way = 1; way < best->ways; way++)
		fastest = least[way] < least[fastest] ? way : fastest;
	use_way(kernel, fastest);
}

/* Each way decides as the set's programs do. */
static bool
decides(const struct log_shape *shape, struct vector_kernel *kernel)
{
	for (unsigned int way = 0; way < best->ways; way++) {
		use_way(kernel, way);
		if (!log_shape_decides(shape, kernel))
			return false;
	}
	return true;
}

static void
log_registers_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

static struct log_registers *
fill(const struct log_shape *shape, int socket_id)
{
	const uint32_t entries = shape->entries;
	struct log_registers *kernel;

	kernel = rte_zmalloc_socket("netfc_vector",
		sizeof(*kernel) + (2 * (size_t)entries + 1) * sizeof(kernel->mi[0]),
		RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return NULL;
	kernel->kernel.use_way = use_way;
	kernel->kernel.ways = best->ways;
	kernel->kernel.folded = true;
	kernel->kernel.paired = best->paired;
	kernel->kernel.free = log_registers_free;
	kernel->inf = (uint16_t)shape->inf;
	kernel->nan = netfc_nan(shape->format);
	kernel->guard = (uint16_t)shape->guard;
	kernel->last = (uint16_t)(entries - 1);
	memcpy(kernel->mi, shape->sum, entries * sizeof(kernel->mi[0]));
	memcpy(kernel->mi + entries, shape->difference, entries * sizeof(kernel->mi[0]));
	return kernel;
}

int
log_registers_create(const struct log_shape *shape, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	struct log_registers *kernel;

	if (isa < best->isa || !shape->folded)
		return -ENOTSUP;
	kernel = fill(shape, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	if (!log_registers_fit(shape, kernel) || kernel->form >= best->forms ||
		!log_is_right(shape, kernel) || !exp_is_right(shape, kernel) ||
		!decides(shape, &kernel->kernel)) {
		rte_free(kernel);
		return -ENOTSUP;
	}
	use_fastest_way(&kernel->kernel);
	*result = &kernel->kernel;
	return 0;
}

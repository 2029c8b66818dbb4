/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "clones.h"
#include "extra.h"
#include "slots.h"

/* Encodings in the order of their values, -0 before +0; NaR before all posits. */
static __rte_always_inline int16_t
rank_of(uint16_t bits, const bool posit)
{
	return (int16_t)(posit ? bits : bits ^ (uint16_t)((int16_t)bits >> 15 & INT16_MAX));
}

static __rte_always_inline bool
is_nan(const struct extra_kernel *kernel, uint16_t bits, const bool posit)
{
	return posit ? bits == kernel->nan : (bits & INT16_MAX) > kernel->inf;
}

/* Without a branch between the two, so that vectors have both. */
static __rte_always_inline bool
is_any_nan(const struct extra_kernel *kernel, uint16_t x, uint16_t y, const bool posit)
{
	return ((int)is_nan(kernel, x, posit) | (int)is_nan(kernel, y, posit)) != 0;
}

/* The lesser for a `sign` of 1, the greater for -1. */
static __rte_always_inline uint16_t
extremum(
	const struct extra_kernel *kernel, uint16_t x, uint16_t y, const int sign, const bool posit)
{
	const bool is_x = sign * rank_of(x, posit) < sign * rank_of(y, posit);

	if (is_any_nan(kernel, x, y, posit))
		return kernel->nan;
	return is_x ? x : y;
}

static __rte_always_inline uint16_t
compare(const struct extra_kernel *kernel, uint16_t x, uint16_t y, const bool posit)
{
	const int16_t a = rank_of(x, posit), b = rank_of(y, posit);
	uint16_t z = a < b ? kernel->minus_one : a > b ? kernel->one : 0;

	if (posit)
		return z;
	/* Zeros are equal, whatever their signs. */
	z = ((x | y) & INT16_MAX) == 0 ? 0 : z;
	return is_any_nan(kernel, x, y, false) ? kernel->nan : z;
}

/* `op` and `posit` are constants wherever this is used. */
static __rte_always_inline void
run_pairs(const struct further_kernel *kernel, struct vector_packet *packet,
	const enum netfc_extra_op op, const bool posit)
{
	const struct extra_kernel extra = *(const struct extra_kernel *)kernel;
	const uint32_t count = packet->count;
	const slot *restrict x = (const slot *)packet->slots, *restrict y = x + count;
	slot *restrict z = (slot *)packet->slots + 2 * (size_t)count;
	/* 2^16 lanes at the most. */
	uint32_t before = 0, after = 0;

	for (uint32_t l = 0; l < count; l++) {
		const uint16_t a = slot_swap(x[l]), b = slot_swap(y[l]);
		const uint16_t c = op == NETFC_COMPARE
			? compare(&extra, a, b, posit)
			: extremum(&extra, a, b, op == NETFC_MIN ? 1 : -1, posit);
		const uint16_t word = slot_swap(c);

		before += z[l];
		after += word;
		z[l] = word;
	}
	packet->flags = 0;
	packet->changes = (uint64_t)count * UINT16_MAX + after - before;
}

#define RUN_PAIRS(name, op, posit)                                                 \
	static VECTOR_CLONES void name(                                            \
		const struct further_kernel *kernel, struct vector_packet *packet) \
	{                                                                          \
		run_pairs(kernel, packet, op, posit);                              \
	}

RUN_PAIRS(run_min_ieee, NETFC_MIN, false)
RUN_PAIRS(run_max_ieee, NETFC_MAX, false)
RUN_PAIRS(run_compare_ieee, NETFC_COMPARE, false)
RUN_PAIRS(run_min_posit, NETFC_MIN, true)
RUN_PAIRS(run_max_posit, NETFC_MAX, true)
RUN_PAIRS(run_compare_posit, NETFC_COMPARE, true)

static void
extra_free(struct further_kernel *kernel)
{
	rte_free(kernel);
}

/* The best for the instruction set. */
static extra_run *
fma_for(const struct netfc_format *format, enum vector_isa isa)
{
	const enum netfc_format_id id = netfc_format_id(format);

#ifdef __x86_64__
	if (isa >= VECTOR_AVX512)
		return fma_run_avx512[id];
#else
	(void)isa;
#endif
	return fma_run_plain[id];
}

int
further_extra_create(const struct netfc_format *format, enum netfc_extra_op op, enum vector_isa isa,
	int socket_id, struct further_kernel **result)
{
	static extra_run *const runs[NETFC_EXTRA_END][2] = {
		[NETFC_MIN] = {run_min_ieee, run_min_posit},
		[NETFC_MAX] = {run_max_ieee, run_max_posit},
		[NETFC_COMPARE] = {run_compare_ieee, run_compare_posit},
	};
	struct extra_kernel *kernel;

	kernel = rte_zmalloc_socket("netfc_extra", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->kernel.run =
		op == NETFC_FMA ? fma_for(format, isa) : runs[op][netfc_format_is_posit(format)];
	kernel->kernel.free = extra_free;
	kernel->inf = netfc_inf_magnitude(format);
	kernel->nan = netfc_nan(format);
	kernel->one = netfc_encode(format, 1);
	kernel->minus_one = netfc_encode(format, -1);
	*result = &kernel->kernel;
	return 0;
}

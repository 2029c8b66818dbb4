/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_common.h>

#include "fpu.h"
#include "isa.h"
#include "slots.h"

#define OPS 4

/*
 * Whether this thread's floats are IEEE 754's: rounded to the nearest, ties to even, and subnormal
 * numbers no zeros, neither as operands nor as results. A library that was compiled for speed alone
 * may have changed that of the whole program as it was loaded. Threads start as those that make
 * them.
 */
static bool
rounds_as_ieee(const struct vector_kernel *kernel)
{
	static const uint32_t pairs[][2] = {
		{0x00000001, 0x00000001}, /* subnormal operands */
		{0x00800000, 0x3f000000}, /* a subnormal product */
		{0x00800000, 0x00000001}, /* a subnormal difference */
		{0x00800001, 0x40000000}, /* a subnormal quotient, half-way */
		{0x3f800000, 0x33800000}, /* a sum half-way to an odd number */
		{0x3f800001, 0x33800000}, /* and to an even one */
		{0xbf800001, 0xb3800001}, /* a negative one, above half-way */
		{0x3f800000, 0x40400000}, /* 1/3 */
		{0xbf800000, 0x40400000}, {0x7f7fffff, 0x73000000}, /* overflow's edge */
	};

	for (unsigned int p = 0; p < RTE_DIM(pairs) * OPS; p++) {
		const enum netfc_op op = NETFC_ADD + p % OPS;
		const uint32_t *pair = pairs[p / OPS];
		uint32_t slots[3] = {slot32_swap(pair[0]), slot32_swap(pair[1]), 0};
		struct vector_packet packet = {.slots = (uint8_t *)slots, .count = 1};

		vector_run_packets(kernel, op, &packet, 1);
		if (slot32_swap(slots[2]) !=
			netfc_exact(netfc_fp32_format(), op, pair[0], pair[1]).z)
			return false;
	}
	return true;
}

static const char how_plain[] = "plain C, binary32";
#ifdef __x86_64__
static const char how_avx2[] = "AVX2, binary32", how_avx512[] = "AVX-512, binary32";
#endif

const char *
fpu_use_fp32(struct fpu_kernel *kernel, enum vector_isa isa)
{
	kernel->kernel.run.packets = VECTOR_CHOOSE(fp32_run, isa);
	if (!rounds_as_ieee(&kernel->kernel))
		return NULL;
	return VECTOR_CHOOSE(how, isa);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "fpu/fpu.h"
#include "isa.h"
#include "lanes/blocks.h"

/* ---- 16 bits ---- */

/* What an FPU would compute, in integers: formats or processors that have no conversion. */
INLINE void
compute_exact(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count)
{
	const struct netfc_format *format = ((const struct fpu_kernel *)kernel)->format;

	for (unsigned int l = 0; l < count; l++) {
		struct netfc_result result = netfc_exact(format, op, block->x[l], block->y[l]);

		block->z[l] = result.z;
		block->flags[l] = result.flags;
	}
}

BLOCK_FUNCTIONS(exact, compute_exact)

#ifdef RTE_ARCH_ARM64
/* Arithmetic in binary16 has a flag of its own to take subnormal numbers for zeros. */
static bool
keeps_subnormals(const struct vector_kernel *kernel)
{
	uint16_t slots[3] = {slot16_swap(0x0400), slot16_swap(0x3800), 0};
	struct vector_packet packet = {.slots = (uint8_t *)slots, .count = 1};

	vector_run_packets(kernel, NETFC_MUL, &packet, 1);
	return slots[2] == slot16_swap(0x0200);
}
#endif

/* The best there is. */
static const char *
use_words(struct fpu_kernel *kernel, enum vector_isa isa)
{
#if defined(RTE_ARCH_X86_64)
	if (isa >= VECTOR_AVX512 && fpu_use_avx512(kernel))
		return "AVX-512, binary32";
	if (isa >= VECTOR_AVX2 && fpu_use_avx2(kernel))
		return "AVX2, binary32";
#elif defined(RTE_ARCH_ARM64)
	if (isa >= VECTOR_NEON_FP16 && fpu_use_neon_fp16(kernel) &&
		keeps_subnormals(&kernel->kernel))
		return "NEON FP16, binary16";
	if (isa >= VECTOR_NEON && fpu_use_neon(kernel))
		return "NEON, binary32";
#else
	(void)isa;
#endif
	kernel->kernel.run = exact;
	return "plain C, integers in place of an FPU";
}

/* ---- 8 bits: all results in an array ---- */

static void
look_up_packets(const struct vector_kernel *kernel, unsigned int op, struct vector_packet *packets,
	unsigned int count)
{
	for (unsigned int p = 0; p < count; p++)
		fp8_look_up((const struct fp8_kernel *)kernel, op, &packets[p]);
}

static void
fill_results(struct fp8_kernel *kernel)
{
	const struct netfc_format *format = kernel->fpu.format;

	for (unsigned int o = 0; o < FP8_OPS; o++) {
		for (uint32_t n = 0; n < FP8_RESULTS; n++) {
			const struct netfc_result result =
				netfc_exact(format, NETFC_ADD + o, n >> 8, n & UINT8_MAX);

			kernel->result[o][n] =
				(uint16_t)(result.flags << FP8_FLAGS_SHIFT | result.z);
		}
	}
}

/* What is used; the array always is, for packets of few lanes. */
static const char *
use_fp8(struct fp8_kernel *kernel, enum vector_isa isa)
{
	kernel->limits = fp8_limits_of(kernel->fpu.format);
	fill_results(kernel);
#ifdef __x86_64__
	if (isa >= VECTOR_AVX512) {
		switch (netfc_format_id(kernel->fpu.format)) {
		case NETFC_FP8_E4M3:
			kernel->fpu.kernel.run.packets = fp8_e4m3_run_avx512;
			return "AVX-512, binary32";
		case NETFC_FP8_E5M2:
			kernel->fpu.kernel.run.packets = fp8_e5m2_run_avx512;
			return "AVX-512, binary32";
		default:
			break;
		}
	}
#else
	(void)isa;
#endif
	kernel->fpu.kernel.run.packets = look_up_packets;
	return "64 K results an operation";
}

/* ---- binary32, whose operations are the processor's ---- */

#define OPS 4

/*
 * Whether this thread's floats are IEEE 754's: rounded to the nearest, ties to even, and subnormal
 * numbers are not flushed to zero. A library that was compiled with -ffast-math changes that for
 * the whole program when it is loaded. Threads inherit it.
 */
static bool
rounds_as_ieee(enum vector_isa isa)
{
	const struct vector_kernel kernel = {.run.packets = VECTOR_CHOOSE(fp32_run, isa)};
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

		vector_run_packets(&kernel, op, &packet, 1);
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

/* Returns what is used, or NULL where this thread's floats are not IEEE 754's. */
static const char *
use_fp32(struct fpu_kernel *kernel, enum vector_isa isa)
{
	kernel->kernel.run.packets = VECTOR_CHOOSE(fp32_run, isa);
	return rounds_as_ieee(isa) ? VECTOR_CHOOSE(how, isa) : NULL;
}

/* The functions of a kernel whose format is there. Returns what is used, or NULL. */
static const char *
use_best(struct fpu_kernel *kernel, enum vector_isa isa)
{
	const char *how;

	switch (netfc_format_width(kernel->format)) {
	case 8:
		return use_fp8(
			(struct fp8_kernel *)kernel, rounds_as_ieee(isa) ? isa : VECTOR_PLAIN);
	case 16:
		kernel->inf = netfc_inf_magnitude(kernel->format);
		kernel->nan = netfc_nan(kernel->format);
		how = use_words(kernel, isa);
		if (kernel->kernel.run.packets != exact.packets && !rounds_as_ieee(isa))
			return NULL;
		return how;
	default:
		return use_fp32(kernel, isa);
	}
}

int
vector_fpu_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	struct fpu_kernel *kernel;

	kernel = rte_zmalloc_socket("netfc_fpu",
		netfc_format_width(format) == 8 ? sizeof(struct fp8_kernel) : sizeof(*kernel),
		RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->format = format;
	kernel->how = use_best(kernel, isa);
	if (kernel->how == NULL) {
		rte_free(kernel);
		return -ENOTSUP;
	}
	snprintf(kernel->kernel.description, sizeof(kernel->kernel.description),
		"%s, correctly rounded, not the table set", kernel->how);
	*result = &kernel->kernel;
	return 0;
}

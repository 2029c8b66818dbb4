/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>

#ifdef __aarch64__
#include <sys/auxv.h>
#endif

#include <rte_common.h>
#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "vector.h"

const char *
vector_isa_name(enum vector_isa isa)
{
	static const char *const names[VECTOR_ISAS] = {
		[VECTOR_PLAIN] = "plain C",
#if defined(RTE_ARCH_X86_64)
		[VECTOR_AVX2] = "AVX2",
		[VECTOR_AVX512] = "AVX-512",
#elif defined(RTE_ARCH_ARM64)
		[VECTOR_NEON] = "NEON",
		[VECTOR_NEON_FP16] = "NEON FP16",
#endif
	};

	return names[isa];
}

#if defined(RTE_ARCH_X86_64)
/* All that the files for AVX2 are compiled for, of which hypervisors may hide some. */
static bool
has_avx2(void)
{
	static const enum rte_cpu_flag_t flags[] = {
		RTE_CPUFLAG_F16C,
		RTE_CPUFLAG_BMI1,
		RTE_CPUFLAG_BMI2,
	};

	for (unsigned int f = 0; f < RTE_DIM(flags); f++) {
		if (rte_cpu_get_flag_enabled(flags[f]) != 1)
			return false;
	}
	return __builtin_cpu_supports("avx2");
}

static enum vector_isa
best_of(uint16_t bits)
{
	if (bits < RTE_VECT_SIMD_256 || !has_avx2())
		return VECTOR_PLAIN;
	if (bits >= RTE_VECT_SIMD_512 && __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
		__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		return VECTOR_AVX512;
	return VECTOR_AVX2;
}
#elif defined(RTE_ARCH_ARM64)
static enum vector_isa
best_of(uint16_t bits)
{
	if (bits < RTE_VECT_SIMD_128)
		return VECTOR_PLAIN;
	/* DPDK's flags have no name for it. */
	return (getauxval(AT_HWCAP) & HWCAP_ASIMDHP) != 0 ? VECTOR_NEON_FP16 : VECTOR_NEON;
}
#else
static enum vector_isa
best_of(uint16_t bits)
{
	(void)bits;
	return VECTOR_PLAIN;
}
#endif

enum vector_isa
vector_isa_best(void)
{
	/* Its default is 256; it refuses where its user has set a limit. */
	rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	return best_of(rte_vect_get_max_simd_bitwidth());
}

void
vector_free(struct vector_kernel *kernel)
{
	if (kernel != NULL)
		kernel->free(kernel);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "kernels.h"

const char *
vector_isa_name(enum vector_isa isa)
{
	static const char *const names[VECTOR_ISAS] = {"plain C", "AVX2", "AVX-512"};

	return names[isa];
}

#ifdef RTE_ARCH_X86_64
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
#endif

enum vector_isa
vector_isa_best(void)
{
#ifdef RTE_ARCH_X86_64
	uint16_t bits;

	/* Its default is 256; it refuses where its user has set a limit. */
	rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_512);
	bits = rte_vect_get_max_simd_bitwidth();
	if (bits < RTE_VECT_SIMD_256 || !has_avx2())
		return VECTOR_PLAIN;
	if (bits >= RTE_VECT_SIMD_512 && __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
		__builtin_cpu_supports("avx512vl"))
		return VECTOR_AVX512;
	return VECTOR_AVX2;
#else
	return VECTOR_PLAIN;
#endif
}

/* The first of the kernels, the fastest one first, that is equal to the set. */
static int
create_best(const struct log_shape *shape, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel)
{
#ifdef RTE_ARCH_X86_64
	return log_registers_create(shape, isa, socket_id, kernel);
#else
	(void)shape, (void)isa, (void)socket_id, (void)kernel;
	return -ENOTSUP;
#endif
}

/* Kernels of sets whose programs are of logarithms. */
static int
create_log(const struct netfc_set *set, struct match_stage *const *stages, enum vector_isa isa,
	int socket_id, struct vector_kernel **kernel)
{
	struct log_shape *shape = malloc(sizeof(*shape));
	int error;

	if (shape == NULL)
		return -ENOMEM;
	error = log_shape_find(set, shape);
	if (error == 0)
		error = stages == NULL ? create_best(shape, isa, socket_id, kernel)
				       : log_stages_create(shape, stages, isa, socket_id, kernel);
	free(shape);
	return error;
}

int
vector_create(const struct netfc_set *set, struct match_stage *const *stages, enum vector_isa isa,
	int socket_id, struct vector_kernel **kernel)
{
	int error = -ENOTSUP;

	if (stages == NULL)
		error = exact_create(set, isa, socket_id, kernel);
	return error == -ENOTSUP ? create_log(set, stages, isa, socket_id, kernel) : error;
}

void
vector_free(struct vector_kernel *kernel)
{
	if (kernel != NULL)
		kernel->free(kernel);
}

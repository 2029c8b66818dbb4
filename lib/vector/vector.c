/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __aarch64__
#include <sys/auxv.h>
#endif

#include <rte_common.h>
#include <rte_cpuflags.h>
#include <rte_malloc.h>
#include <rte_vect.h>

#include "fpu/fpu.h"
#include "isa.h"
#include "log/log.h"
#include "log/mixed.h"
#include "steps.h"
#include "vector.h"

/* ---- instruction sets ---- */

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
	const uint16_t bits = rte_vect_get_max_simd_bitwidth();
	/* It takes no other where its user has set a limit; its default is one for drivers. */
	const bool has_limit = rte_vect_set_max_simd_bitwidth(bits) == -EPERM;

	return best_of(has_limit ? bits : RTE_VECT_SIMD_512);
}

/* ---- kernels ---- */

static bool
same_table(const struct netfc_table *a, const struct netfc_table *b)
{
	const uint32_t *in_a = netfc_table_entries(a), *in_b = netfc_table_entries(b);

	if (netfc_table_size(a) != netfc_table_size(b))
		return false;
	for (uint32_t index = 0; index < netfc_table_size(a); index++) {
		if (netfc_table_reachable(a, index) && in_a[index] != in_b[index])
			return false;
	}
	return true;
}

int
vector_compare(const struct netfc_set *set, const char *name, unsigned int first)
{
	struct netfc_set *built;
	bool same = true;
	int error = netfc_set_build(name, &built);

	if (error != NETFC_OK)
		return error == NETFC_ERR_NOMEM ? -ENOMEM : -ENOTSUP;
	for (unsigned int t = first; same && t < netfc_set_table_count(set); t++)
		same = same_table(netfc_set_table(set, t), netfc_set_table(built, t));
	netfc_set_free(built);
	return same ? 0 : -ENOTSUP;
}

/*
 * The kernel of a correctly rounded set. Whatever rounds correctly gives the results of its tables,
 * if they are the ones that its family's name stands for.
 */
static int
exact_create(const struct netfc_set *set, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel)
{
	const bool converts = netfc_format_width(netfc_set_format(set)) == 16;
	int error;

	/* Where the processor has no conversion, the steps are faster. */
	if (netfc_set_family(set) == NETFC_FAMILY_LOG || (converts && isa == VECTOR_PLAIN) ||
		netfc_format_is_posit(netfc_set_format(set)))
		return -ENOTSUP;
	error = vector_compare(set, netfc_set_name(set), 0);
	if (error == 0)
		error = vector_fpu_create(netfc_set_format(set), isa, socket_id, kernel);
	if (error != 0)
		return error;
	snprintf((*kernel)->description, sizeof((*kernel)->description), "%s, equal to the tables",
		((const struct fpu_kernel *)*kernel)->how);
	return 0;
}

/* The first of the kernels, the fastest one first, that is equal to the set. */
static int
create_best(const struct log_shape *shape, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel)
{
#if defined(RTE_ARCH_X86_64) || defined(RTE_ARCH_ARM64)
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
				       : VECTOR_CHOOSE(log_stages_create, isa)(shape, stages,
						 VECTOR_CHOSEN(isa), socket_id, kernel);
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
	if (error == -ENOTSUP && netfc_set_family(set) == NETFC_FAMILY_LOG)
		error = create_log(set, stages, isa, socket_id, kernel);
	if (error == -ENOTSUP && stages != NULL)
		error = VECTOR_CHOOSE(steps_create, isa)(set, stages, socket_id, kernel);
	return error;
}

/* Tables too small for a match stage are arrays in every engine, like a switch's constant entries.
 */
static int
create_stages(const struct netfc_set *set, enum match_kind match, int socket_id,
	struct match_stage **stages)
{
	for (unsigned int t = 0; t < netfc_set_table_count(set); t++) {
		const struct netfc_table *table = netfc_set_table(set, t);
		enum match_kind kind =
			netfc_table_is_match(table) && match != MATCH_FPU ? match : MATCH_DIRECT;
		int error = match_create(kind, table, socket_id, &stages[t]);

		if (error != 0)
			return error;
	}
	return 0;
}

/* An FPU needs a format, not the set; arrays need no stages where a kernel has all of the set. */
int
vector_create_engine(const struct netfc_set *set, enum match_kind match, enum vector_isa isa,
	int socket_id, struct match_stage **stages, struct vector_kernel **kernel)
{
	int error = -ENOTSUP;

	if (match == MATCH_FPU)
		error = vector_fpu_create(netfc_set_format(set), isa, socket_id, kernel);
	else if (match == MATCH_DIRECT)
		error = vector_create(set, NULL, isa, socket_id, kernel);
	if (error != -ENOTSUP)
		return error;
	error = create_stages(set, match, socket_id, stages);
	return error == 0 ? vector_create(set, stages, isa, socket_id, kernel) : error;
}

int
vector_mixed_create(const struct netfc_set *const *sets,
	struct match_stage *const (*stages)[NETFC_MAX_TABLES], enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel)
{
#if defined(RTE_ARCH_X86_64)
	if (isa >= VECTOR_AVX512)
		return mixed_create(sets, stages, socket_id, kernel);
#else
	(void)sets, (void)stages, (void)isa, (void)socket_id, (void)kernel;
#endif
	return -ENOTSUP;
}

void
vector_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "blocks.h"
#include "fp8.h"
#include "fpu.h"

/* What an FPU would compute, in integers: formats or processors that have no conversion. */
BLOCK_INLINE void
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

static void
fpu_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

/* The best there is for a format of 16 bits. */
static const char *
use_best(struct fpu_kernel *kernel, enum vector_isa isa)
{
#if defined(RTE_ARCH_X86_64)
	if (isa >= VECTOR_AVX512 && fpu_use_avx512(kernel))
		return "AVX-512, binary32";
	if (isa >= VECTOR_AVX2 && fpu_use_avx2(kernel))
		return "AVX2, binary32";
#elif defined(RTE_ARCH_ARM64)
	if (isa >= VECTOR_NEON_FP16 && fpu_use_neon_fp16(kernel))
		return "NEON FP16, binary16";
	if (isa >= VECTOR_NEON && fpu_use_neon(kernel))
		return "NEON, binary32";
#else
	(void)isa;
#endif
	kernel->kernel.run = exact;
	return "plain C, integers in place of an FPU";
}

int
vector_fpu_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	const bool is_wide = netfc_format_width(format) == 32;
	struct fpu_kernel *kernel;

	if (netfc_format_width(format) == 8)
		return fp8_create(format, isa, socket_id, result);
	kernel = rte_zmalloc_socket("netfc_fpu", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->kernel.free = fpu_free;
	kernel->format = format;
	if (!is_wide) {
		kernel->inf = netfc_inf_magnitude(format);
		kernel->nan = netfc_nan(format);
	}
	kernel->how = is_wide ? fpu_use_fp32(kernel, isa) : use_best(kernel, isa);
	if (kernel->how == NULL) {
		rte_free(kernel);
		return -ENOTSUP;
	}
	snprintf(kernel->kernel.description, sizeof(kernel->kernel.description),
		"%s, correctly rounded, not the table set", kernel->how);
	*result = &kernel->kernel;
	return 0;
}

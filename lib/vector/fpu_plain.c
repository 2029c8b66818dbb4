/* SPDX-License-Identifier: BSD-3-Clause */
/* What an FPU would compute, in integers: formats or processors that have no conversion. */
#include "blocks.h"
#include "fpu.h"

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

bool
fpu_use_plain(struct fpu_kernel *kernel)
{
	kernel->kernel.run = exact;
	return true;
}

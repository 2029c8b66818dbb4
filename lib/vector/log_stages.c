/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "isa.h"
#include "kernels.h"
#include "log_stages.h"

static void
log_stages_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

int
log_stages_create(const struct log_shape *shape, struct match_stage *const *stages,
	enum vector_isa isa, int socket_id, struct vector_kernel **result)
{
	struct log_stages *kernel;

	kernel =
		rte_zmalloc_socket("netfc_vector", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->kernel.free = log_stages_free;
	kernel->log = stages[shape->log_table];
	kernel->mi = stages[shape->mi_table];
	kernel->exp = stages[shape->exp_table];
	kernel->guard = shape->guard_words;
	kernel->inf = (uint16_t)shape->inf;
	kernel->nan = netfc_nan(shape->format);
	VECTOR_CHOOSE(log_stages_use, isa)(kernel, shape->posit);
	if (!log_shape_decides(shape, &kernel->kernel)) {
		rte_free(kernel);
		return -ENOTSUP;
	}
	snprintf(kernel->kernel.description, sizeof(kernel->kernel.description),
		"%s, look-ups in match stages", vector_isa_name(VECTOR_CHOSEN(isa)));
	*result = &kernel->kernel;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "kernels.h"

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

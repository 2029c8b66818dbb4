/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_KERNELS_H
#define VECTOR_KERNELS_H

/** @file How each kind of kernel is made: 0, -ENOMEM, or -ENOTSUP where it is not equal. */

#include "log_shape.h"

/* AVX-512: logTable and expTable in registers. */
int log_registers_create(const struct log_shape *shape, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel);

#endif /* VECTOR_KERNELS_H */

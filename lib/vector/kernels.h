/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_KERNELS_H
#define VECTOR_KERNELS_H

/** @file How each kind of kernel is made: 0, -ENOMEM, or -ENOTSUP where it would not equal the set.
 */

#include "log_shape.h"
#include "match.h"

/* AVX-512 and NEON: logTable and expTable in registers. */
int log_registers_create(const struct log_shape *shape, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel);

/*
 * Any format of 16 bits, for one instruction set, which is `isa`: look-ups in match stages, by
 * table of the set.
 */
typedef int log_stages_fn(const struct log_shape *shape, struct match_stage *const *stages,
	enum vector_isa isa, int socket_id, struct vector_kernel **kernel);
log_stages_fn log_stages_create_plain, log_stages_create_avx2, log_stages_create_avx512;

/* Any set and format, step by step: look-ups in match stages, by table of the set. */
typedef int steps_fn(const struct netfc_set *set, struct match_stage *const *stages, int socket_id,
	struct vector_kernel **kernel);
steps_fn steps_create_plain, steps_create_avx2, steps_create_avx512;

/* netfc_step_run(), compiled for an instruction set. */
typedef void step_fn(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count);
step_fn step_run_plain, step_run_avx2, step_run_avx512;

#endif /* VECTOR_KERNELS_H */

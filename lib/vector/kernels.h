/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_KERNELS_H
#define VECTOR_KERNELS_H

/** @file How each kind of kernel is made: 0, -ENOMEM, or -ENOTSUP where it is not equal. */

#include "log_shape.h"
#include "match.h"

/* AVX-512 and NEON: logTable and expTable in registers. */
int log_registers_create(const struct log_shape *shape, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel);

/* Any format of 16 bits: look-ups in match stages, by table of the set. */
int log_stages_create(const struct log_shape *shape, struct match_stage *const *stages,
	enum vector_isa isa, int socket_id, struct vector_kernel **kernel);

/* Any set and format, step by step: look-ups in match stages, by table of the set. */
int steps_create_plain(const struct netfc_set *set, struct match_stage *const *stages,
	int socket_id, struct vector_kernel **kernel);
int steps_create_avx2(const struct netfc_set *set, struct match_stage *const *stages, int socket_id,
	struct vector_kernel **kernel);
int steps_create_avx512(const struct netfc_set *set, struct match_stage *const *stages,
	int socket_id, struct vector_kernel **kernel);

/* netfc_step_run(), compiled for an instruction set. */
void step_run_plain(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count);
void step_run_avx2(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count);
void step_run_avx512(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count);

/* A correctly rounded set, by an FPU. */
int exact_create(const struct netfc_set *set, enum vector_isa isa, int socket_id,
	struct vector_kernel **kernel);

#endif /* VECTOR_KERNELS_H */

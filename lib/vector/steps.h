/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_STEPS_H
#define VECTOR_STEPS_H

/** @file Kernels of any set and format, step by step, for each instruction set. */

#include "vector.h"

/* steps.c: look-ups in match stages, by table of the set. Returns 0 or -ENOMEM. */
typedef int steps_fn(const struct netfc_set *set, struct match_stage *const *stages, int socket_id,
	struct vector_kernel **kernel);
steps_fn steps_create_plain, steps_create_avx2, steps_create_avx512;

/* netfc_step_run(), compiled for an instruction set. */
typedef void step_fn(const struct netfc_step *step, struct netfc_lanes *lanes, unsigned count);
step_fn step_run_plain, step_run_avx2, step_run_avx512;

#endif /* VECTOR_STEPS_H */

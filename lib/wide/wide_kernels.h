/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WIDE_KERNELS_H
#define WIDE_KERNELS_H

/** @file The kernels behind wide.h. */

#include "wide.h"
#include "wide_slots.h"

#define WIDE_OPS 4

/** A kernel of one operation. */
struct wide_op {
	struct further_kernel
		kernel; /* first, so that a kernel's address is that of its operation */
	enum netfc_op op;
	/* Steps only. */
	const struct netfc_program *program;
	struct match_stage *const *stage; /* by table of the set */
};

/** Compute the lanes of a packet. */
typedef void (*wide_fn)(const struct further_kernel *kernel, struct vector_packet *packet);

/* By operation less NETFC_ADD; one for each instruction set. */
extern const wide_fn wide_fp32_plain[WIDE_OPS];
extern const wide_fn wide_fp32_avx2[WIDE_OPS];
extern const wide_fn wide_fp32_avx512[WIDE_OPS];

/* Step by step. */
void wide_run_steps(const struct further_kernel *kernel, struct vector_packet *packet);

#endif /* WIDE_KERNELS_H */

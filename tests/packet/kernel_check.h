/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef KERNEL_CHECK_H
#define KERNEL_CHECK_H

/** @file A kernel against the reference of one lane. */

#include "cases.h"
#include "vector.h"

/** What a kernel is compared with: a table set, or without one a format's FPU. */
struct subject {
	const char *name;
	const struct netfc_set *set;
	const struct netfc_format *format;
	const struct vector_kernel *kernel;
};

/** Fail the test unless lanes, packets of any length and bursts of them come out as one by one. */
void kernel_check(const struct subject *subject);

#endif

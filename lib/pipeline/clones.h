/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PIPELINE_CLONES_H
#define PIPELINE_CLONES_H

/** @file One body of a function, compiled for several processors; the loader chooses. */

#ifdef HAVE_TARGET_CLONES
#define VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTOR_CLONES
#endif

#endif /* PIPELINE_CLONES_H */

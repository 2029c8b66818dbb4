/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_CLONES_H
#define VECTOR_CLONES_H

/** @file One body of a function, compiled for several processors; the loader chooses. */

#ifdef HAVE_TARGET_CLONES
#define VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VECTOR_CLONES
#endif

#endif /* VECTOR_CLONES_H */

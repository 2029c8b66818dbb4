/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_ISA_H
#define VECTOR_ISA_H

/**
 * @file
 * Sources that are compiled once for each instruction set, with VECTOR_ISA as its name (see
 * meson.build): compilers turn their loops into its vector code.
 */

#ifndef VECTOR_ISA
#define VECTOR_ISA plain
#endif

#define VECTOR_JOIN_(name, isa) name##_##isa
#define VECTOR_JOIN(name, isa) VECTOR_JOIN_(name, isa)

/** What such a source defines: name_plain, name_avx2, name_avx512. */
#define VECTOR_NAME(name) VECTOR_JOIN(name, VECTOR_ISA)

/** The best of these for an instruction set. */
#ifdef __x86_64__
#define VECTOR_CHOOSE(name, isa) \
	((isa) >= VECTOR_AVX512 ? name##_avx512 : (isa) >= VECTOR_AVX2 ? name##_avx2 : name##_plain)
#define VECTOR_CHOSEN(isa) (isa)
#else
/* Compilers have vectors for plain C, too. */
#define VECTOR_CHOOSE(name, isa) ((void)(isa), name##_plain)
#define VECTOR_CHOSEN(isa) ((void)(isa), VECTOR_PLAIN)
#endif

#endif /* VECTOR_ISA_H */

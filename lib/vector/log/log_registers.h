/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_REGISTERS_H
#define VECTOR_LOG_REGISTERS_H

/**
 * @file
 * The kernel that holds logTable and expTable in vector registers, in one of these forms.
 *
 * Lines, for binary16 with k = 1024. log: with the fraction cut into segments of 16, `log(1.f) - f`
 * lies on a digital straight line in each segment: (base + slope * (f mod 16)) >> LINE_BITS. The
 * exponent adds a multiple of k. exp: 2^(n/k) = 2^e * coarse[5 bits] * fine[5 bits], rounded to the
 * format by the processor.
 *
 * Fractions, for bfloat16: the tables themselves, of the fraction's 7 bits, of the subnormals, and
 * of the bits of n that k has, which are no more; exponents add multiples.
 *
 * Cubics, for binary16 and posits with k = 2^s up to 512, in floats. log: a polynomial for each
 * 16th of 1.0 to 2.0, rounded. exp: 2^(n/k) = 2^e * coarse[5 bits] * fine[4 bits].
 *
 * All are compared with every entry of the tables when a kernel is made.
 */

#include "log/log.h"

/* Fraction bits of lines: log(1.f) - f is less than 2^7. As few as these leave slopes a byte. */
#define LINE_BITS 8
#define SEGMENT_BITS 4
#define SEGMENT (1 << SEGMENT_BITS)
#define SEGMENTS 64
#define LINES_K 1024

/* Of fractions. */
#define FRACTION_ENTRIES 128

enum {
	LOG_OF_FRACTION,  /* of 1.f */
	LOG_OF_SUBNORMAL, /* of the magnitude */
	EXP_MAGNITUDE,    /* of 1.0 to 2.0 */
	EXP_SIGNIFICAND,  /* of results that are subnormal, 16 bits; never half of one */
	FRACTION_TABLES
};

/* Of cubics: 1.0 to 2.0 in so many parts, and the powers of two between. */
#define CUBIC_PARTS 16
#define CUBIC_TERMS 4
#define CUBIC_FINE 16
#define CUBICS_GREATEST_K 512

enum log_form {
	LOG_LINES,
	LOG_FRACTIONS,
	LOG_CUBICS_BINARY16,
	LOG_CUBICS_POSIT,
	LOG_FORMS
};

/* What is left of a table set. */
struct log_registers {
	struct vector_kernel kernel;
	uint16_t base[SEGMENTS] __attribute__((aligned(64)));
	uint16_t slope[SEGMENTS];
	uint16_t fraction[FRACTION_TABLES][FRACTION_ENTRIES];
	/* In a part, of the 2^-16ths from its start, the constant term first. */
	float cubic[CUBIC_TERMS][CUBIC_PARTS];
	float coarse[32];
	float fine[32];
	enum log_form form;
	unsigned int scale_bits; /* k = 2^scale_bits */
	/* Of a posit: its es, and the log word of its greatest number. */
	unsigned int exponent_bits;
	int16_t greatest;
	uint16_t inf;
	uint16_t nan;
	uint16_t guard;
	uint16_t last; /* index of the last entry of a half of `mi` */
	int16_t mi[];  /* sums, then differences, last + 1 each */
};

/* What a form has of an instruction set. */
struct log_functions {
	const struct vector_functions *run;
	/* Log words of magnitudes, or powers: magnitudes of log words, as the kernel computes them;
	 * count % 32 == 0 */
	void (*map)(const struct log_registers *kernel, bool power, const uint16_t *from,
		uint16_t *to, uint32_t count);
};

/* What an instruction set does. */
struct log_registers_isa {
	enum vector_isa isa;                   /* the least that has it */
	unsigned int forms;                    /* the first ones of enum log_form */
	bool takes_op_pairs;                   /* see struct vector_kernel */
	const struct log_functions *functions; /* by form */
};

extern const struct log_registers_isa log_registers_avx512;
extern const struct log_registers_isa log_registers_neon;

#endif /* VECTOR_LOG_REGISTERS_H */

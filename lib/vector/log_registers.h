/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VECTOR_LOG_REGISTERS_H
#define VECTOR_LOG_REGISTERS_H

/**
 * @file
 * The kernel that holds logTable and expTable of an IEEE format in vector registers.
 *
 * log: with the fraction cut into segments of 16, `log(1.f) - f` lies on a digital straight line
 * in each segment: (base + slope * (f mod 16)) >> LINE_BITS. The exponent adds a multiple of k.
 * exp: 2^(n/k) = 2^e * coarse[5 bits] * fine[5 bits], rounded to the format by the processor.
 * Both are compared with every entry of the tables when a kernel is made.
 */

#include "log_shape.h"

/* Fraction bits of lines: log(1.f) - f is less than 2^7. As few as these leave slopes a byte. */
#define LINE_BITS 8
#define SEGMENT_BITS 4
#define SEGMENT (1 << SEGMENT_BITS)
#define SEGMENTS 64

/* What is left of a table set. */
struct log_registers {
	struct vector_kernel kernel;
	uint16_t base[SEGMENTS] __attribute__((aligned(64)));
	uint16_t slope[SEGMENTS];
	float coarse[32]; /* 2^(i/32) */
	float fine[32];   /* 2^(i/1024) */
	uint16_t inf;
	uint16_t nan;
	uint16_t guard;
	uint16_t last; /* index of the last entry of a half of `mi` */
	int16_t mi[];  /* sums, then differences, last + 1 each; then one that a gather may read */
};

/* Ways to look mi up. */
enum {
	LOG_REGISTERS_LOADS, /* of single words */
	LOG_REGISTERS_GATHER,
	LOG_REGISTERS_WAYS
};

/* What an instruction set does. */
struct log_registers_isa {
	enum vector_isa isa; /* the least that has it */
	unsigned int ways;   /* the first ones of those above */
	/* Set the functions of a kernel. */
	void (*use)(struct log_registers *kernel, unsigned int way);
	/*
	 * Log words of magnitudes, magnitudes of log words, as the kernel computes them;
	 * count % 32 == 0
	 */
	void (*log)(const struct log_registers *kernel, const uint16_t *magnitude, int16_t *word,
		uint32_t count);
	void (*exp)(const struct log_registers *kernel, const int16_t *word, uint16_t *magnitude,
		uint32_t count);
};

extern const struct log_registers_isa log_registers_avx512;
extern const struct log_registers_isa log_registers_neon;

#endif /* VECTOR_LOG_REGISTERS_H */

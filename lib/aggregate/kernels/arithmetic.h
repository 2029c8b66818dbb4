/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ARITHMETIC_H
#define ARITHMETIC_H

/**
 * @file
 * What a thread may have changed of the processor's arithmetic is put aside: how it rounds, that it
 * takes subnormal numbers for zeros, and what interrupts it. Memory is what keeps compilers from
 * moving arithmetic.
 */

#include "sums/number.h"

#if defined(__x86_64__)
#define USUAL_ARITHMETIC 0x1f80

INLINE uint64_t
begin_arithmetic(void)
{
	const uint32_t usual = USUAL_ARITHMETIC;
	uint32_t before;

	__asm__ volatile("stmxcsr %0" : "=m"(before) : : "memory");
	__asm__ volatile("ldmxcsr %0" : : "m"(usual) : "memory");
	return before;
}

INLINE void
end_arithmetic(uint64_t before)
{
	const uint32_t mode = (uint32_t)before;

	__asm__ volatile("ldmxcsr %0" : : "m"(mode) : "memory");
}
#elif defined(__aarch64__)
INLINE uint64_t
begin_arithmetic(void)
{
	uint64_t before;

	__asm__ volatile("mrs %0, fpcr" : "=r"(before) : : "memory");
	if (before != 0)
		__asm__ volatile("msr fpcr, xzr" : : : "memory");
	return before;
}

INLINE void
end_arithmetic(uint64_t before)
{
	if (before != 0)
		__asm__ volatile("msr fpcr, %0" : : "r"(before) : "memory");
}
#endif

#endif /* ARITHMETIC_H */

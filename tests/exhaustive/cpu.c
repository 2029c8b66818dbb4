/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpu.h"
#include "rows.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define NAN_BITS 0x7e00
#define INF_BITS 0x7c00
#define LANES 8

static bool
is_nan(uint16_t bits)
{
	return (bits & 0x7fff) > INF_BITS;
}

static bool
is_finite(uint16_t bits)
{
	return (bits & 0x7fff) < INF_BITS;
}

static bool
is_zero(uint16_t bits)
{
	return (bits & 0x7fff) == 0;
}

/* The flags by their definitions; a zero sum of fp16 numbers is exact. */
static uint8_t
flags_of(enum netfc_op op, uint16_t x, uint16_t y, uint16_t z)
{
	bool product = op == NETFC_MUL || op == NETFC_DIV;

	if (op == NETFC_DIV && is_zero(y) && is_finite(x) && !is_zero(x))
		return NETFC_DIVBYZERO;
	if (is_nan(z))
		return is_nan(x) || is_nan(y) ? 0 : NETFC_INVALID;
	if (!is_finite(z))
		return is_finite(x) && is_finite(y) ? NETFC_OVERFLOW : 0;
	if (!is_zero(z) || !product || is_zero(x))
		return 0;
	return is_zero(y) || !is_finite(y) ? 0 : NETFC_UNDERFLOW;
}

/*
 * In single precision: its 24 bits are twice the 11 bits of fp16 plus two, so that rounding twice
 * gives the same as rounding once.
 */
__attribute__((target("avx,f16c"))) static void
compute_some(enum netfc_op op, __m256 a, uint32_t first, uint16_t *z)
{
	uint16_t y[LANES];
	__m256 b, result;

	for (uint32_t l = 0; l < LANES; l++)
		y[l] = (uint16_t)(first + l);
	b = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)y));
	result = op == NETFC_ADD  ? _mm256_add_ps(a, b)
		: op == NETFC_SUB ? _mm256_sub_ps(a, b)
		: op == NETFC_MUL ? _mm256_mul_ps(a, b)
				  : _mm256_div_ps(a, b);
	_mm_storeu_si128((__m128i *)z, _mm256_cvtps_ph(result, _MM_FROUND_TO_NEAREST_INT));
}

__attribute__((target("avx,f16c"))) void
cpu_compute(enum netfc_op op, uint16_t x, uint16_t *z, uint8_t *flags)
{
	const __m256 a = _mm256_cvtph_ps(_mm_set1_epi16((short)x));

	for (uint32_t first = 0; first < ROW; first += LANES)
		compute_some(op, a, first, &z[first]);
	for (uint32_t y = 0; y < ROW; y++) {
		z[y] = is_nan(z[y]) ? NAN_BITS : z[y];
		flags[y] = flags_of(op, x, (uint16_t)y, z[y]);
	}
}

bool
cpu_can(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __builtin_cpu_supports("avx") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 &&
		(ecx & bit_F16C) != 0;
}

#else

bool
cpu_can(void)
{
	return false;
}

void
cpu_compute(enum netfc_op op, uint16_t x, uint16_t *z, uint8_t *flags)
{
	(void)op, (void)x, (void)z, (void)flags;
}

#endif

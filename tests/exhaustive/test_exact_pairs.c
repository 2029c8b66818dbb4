/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All 2^32 pairs of fp16 operands: netfc_exact() against the CPU's own arithmetic, and the programs
 * of fp16_k1024 against the reference. It takes minutes.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "netfc.h"

#define THREADS 2
#define ALL 0x10000u
#define SKIPPED 77

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <immintrin.h>

#define NAN_BITS 0x7e00
#define INF_BITS 0x7c00

/*
 * x (op) all y as the CPU has it: in single precision, whose 24 bits are twice fp16's 11 and two
 * more, so that rounding twice is rounding once.
 */
__attribute__((target("avx,f16c"))) static void
compute_by_cpu(enum netfc_op op, uint16_t x, uint16_t *z)
{
	const __m256 a = _mm256_cvtph_ps(_mm_set1_epi16((short)x));
	uint16_t y[8];

	for (uint32_t first = 0; first < ALL; first += 8) {
		__m256 b, result;

		for (uint32_t i = 0; i < 8; i++)
			y[i] = (uint16_t)(first + i);
		b = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)y));
		result = op == NETFC_ADD  ? _mm256_add_ps(a, b)
			: op == NETFC_SUB ? _mm256_sub_ps(a, b)
			: op == NETFC_MUL ? _mm256_mul_ps(a, b)
					  : _mm256_div_ps(a, b);
		_mm_storeu_si128(
			(__m128i *)&z[first], _mm256_cvtps_ph(result, _MM_FROUND_TO_NEAREST_INT));
	}
}

static bool
cpu_can(void)
{
	unsigned eax, ebx, ecx, edx;

	return __builtin_cpu_supports("avx") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 &&
		(ecx & bit_F16C) != 0;
}

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

/* By their definitions; a zero sum of fp16 numbers is exact. */
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

static bool
exact_is_right(const struct netfc_format *format, enum netfc_op op, uint16_t x)
{
	uint16_t expected[ALL];

	compute_by_cpu(op, x, expected);
	for (uint32_t y = 0; y < ALL; y++) {
		struct netfc_result result = netfc_exact(format, op, x, (uint16_t)y);
		uint16_t z = is_nan(expected[y]) ? NAN_BITS : expected[y];

		if (result.z == z && result.flags == flags_of(op, x, (uint16_t)y, z))
			continue;
		printf("%#x %s %#x: %#x, flags %#x; the CPU has %#x\n", x, netfc_op_symbol(op), y,
			result.z, result.flags, z);
		return false;
	}
	return true;
}

#else

static bool
cpu_can(void)
{
	return false;
}

static bool
exact_is_right(const struct netfc_format *format, enum netfc_op op, uint16_t x)
{
	(void)format, (void)op, (void)x;
	return false;
}

#endif

static bool
programs_are_right(const struct netfc_set *set, uint16_t x)
{
	uint16_t all_x[ALL], all_y[ALL], z[ALL];
	uint8_t flags[ALL];

	for (uint32_t y = 0; y < ALL; y++) {
		all_x[y] = x;
		all_y[y] = (uint16_t)y;
	}
	netfc_compute(set, NETFC_ADD, all_x, all_y, z, flags, ALL);
	for (uint32_t y = 0; y < ALL; y++) {
		struct netfc_result result = netfc_calc(set, NETFC_ADD, x, (uint16_t)y);

		if (result.z == z[y] && result.flags == flags[y])
			continue;
		printf("%#x + %#x: %#x, flags %#x; the reference has %#x, %#x\n", x, y, z[y],
			flags[y], result.z, result.flags);
		return false;
	}
	return true;
}

/* Every THREADS-th x with all y. */
struct share {
	pthread_t thread;
	const struct netfc_set *set; /* the programs' share, or NULL: that of an operation */
	enum netfc_op op;
	uint32_t first;
	bool failed;
};

static void *
run_share(void *arg)
{
	struct share *share = arg;
	const struct netfc_format *format = netfc_format_by_id(NETFC_FP16);

	for (uint32_t x = share->first; x < ALL && !share->failed; x += THREADS) {
		if (share->set != NULL)
			share->failed = !programs_are_right(share->set, (uint16_t)x);
		else
			share->failed = !exact_is_right(format, share->op, (uint16_t)x);
	}
	return NULL;
}

static bool
all_pairs_are_right(const char *what, const struct netfc_set *set, enum netfc_op op)
{
	struct share share[THREADS];
	bool right = true;

	for (uint32_t t = 0; t < THREADS; t++) {
		share[t] = (struct share){.set = set, .op = op, .first = t};
		if (pthread_create(&share[t].thread, NULL, run_share, &share[t]) != 0) {
			fprintf(stderr, "no thread\n");
			exit(1);
		}
	}
	for (uint32_t t = 0; t < THREADS; t++) {
		pthread_join(share[t].thread, NULL);
		right = right && !share[t].failed;
	}
	printf("%s: %s\n", what, right ? "all 2^32 pairs are right" : "wrong");
	fflush(stdout);
	return right;
}

static bool
all_programs_are_right(void)
{
	struct netfc_set *set;
	bool right;

	if (netfc_set_build("fp16_k1024", &set) != NETFC_OK)
		return false;
	right = all_pairs_are_right("fp16_k1024 add, programs and reference", set, NETFC_ADD);
	netfc_set_free(set);
	return right;
}

int
main(void)
{
	bool right = all_programs_are_right();
	char what[64];

	if (!cpu_can()) {
		printf("This CPU has no F16C: the exact results are not checked.\n");
		return right ? SKIPPED : 1;
	}
	for (enum netfc_op op = NETFC_ADD; op <= NETFC_DIV; op++) {
		snprintf(what, sizeof(what), "fp16 exact %s", netfc_op_name(op));
		right = all_pairs_are_right(what, NULL, op) && right;
	}
	return right ? 0 : 1;
}

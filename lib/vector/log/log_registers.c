/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "log/log_registers.h"

#ifdef RTE_ARCH_X86_64
static const struct log_registers_isa *const best = &log_registers_avx512;
#else
static const struct log_registers_isa *const best = &log_registers_neon;
#endif

/* ---- what each form is filled with ---- */

/* The intercepts of lines with that slope that have all values below their points. */
static bool
find_intercept(const int32_t *value, int32_t slope, uint16_t *base)
{
	int32_t least = 0, greatest = UINT16_MAX;

	for (int32_t i = 0; i < SEGMENT; i++) {
		int32_t low = value[i] * (1 << LINE_BITS) - slope * i;

		least = RTE_MAX(least, low);
		greatest = RTE_MIN(greatest, low + (1 << LINE_BITS) - 1);
	}
	*base = (uint16_t)least;
	return least <= greatest;
}

static bool
find_line(const int32_t *value, uint16_t *base, uint16_t *slope)
{
	for (int32_t s = -(1 << LINE_BITS); s <= 1 << LINE_BITS; s++) {
		if (find_intercept(value, s, base)) {
			*slope = (uint16_t)s;
			return true;
		}
	}
	return false;
}

/* Lines for the logarithms of 1.0 to 2.0, which stand where the exponent is the bias. */
static bool
fit_log(const struct log_shape *shape, struct log_registers *kernel)
{
	const uint32_t one = netfc_encode(shape->format, 1);
	int32_t value[SEGMENT];

	for (uint32_t segment = 0; segment < SEGMENTS; segment++) {
		for (uint32_t i = 0; i < SEGMENT; i++) {
			uint32_t fraction = segment * SEGMENT + i;

			value[i] = (int16_t)shape->log[one + fraction] - (int32_t)fraction;
		}
		if (!find_line(value, &kernel->base[segment], &kernel->slope[segment]))
			return false;
	}
	return true;
}

static bool
fit_lines(const struct log_shape *shape, struct log_registers *kernel)
{
	for (unsigned int i = 0; i < RTE_DIM(kernel->coarse); i++) {
		kernel->coarse[i] = (float)exp2(i / 32.0);
		kernel->fine[i] = (float)exp2(i / 1024.0);
	}
	return fit_log(shape, kernel);
}

/*
 * A subnormal result is a significand shifted to the right, rounded by the last bit that goes: less
 * by its last bit, that of a power of two is not taken for more than half of the least number.
 */
static void
fill_fractions(const struct log_shape *shape, unsigned int k, struct log_registers *kernel)
{
	const uint32_t one = netfc_encode(shape->format, 1);

	for (unsigned int i = 0; i < FRACTION_ENTRIES; i++) {
		const unsigned int n = i % k;
		const double significand = exp2(15 + (double)n / k) - (n == 0 ? 1 : 0);

		kernel->fraction[LOG_OF_FRACTION][i] = (uint16_t)shape->log[one + i];
		kernel->fraction[LOG_OF_SUBNORMAL][i] = (uint16_t)shape->log[i];
		kernel->fraction[EXP_MAGNITUDE][i] = (uint16_t)shape->exp[n];
		kernel->fraction[EXP_SIGNIFICAND][i] = (uint16_t)lrint(significand);
	}
}

/*
 * The polynomial through k * log2(1 + part / 16 + t) at Chebyshev's points of a part, in powers of
 * t: at most 0.00003 of a log word away with k = 512. By Newton's differences.
 */
static void
fit_cubic(unsigned int part, double k, double *term)
{
	double at[CUBIC_TERMS];

	for (unsigned int i = 0; i < CUBIC_TERMS; i++) {
		at[i] = (0.5 + 0.5 * cos(M_PI * (i + 0.5) / CUBIC_TERMS)) / CUBIC_PARTS;
		term[i] = k * log2(1 + (double)part / CUBIC_PARTS + at[i]);
	}
	for (unsigned int order = 1; order < CUBIC_TERMS; order++) {
		for (unsigned int i = CUBIC_TERMS - 1; i >= order; i--)
			term[i] = (term[i] - term[i - 1]) / (at[i] - at[i - order]);
	}
	for (unsigned int from = CUBIC_TERMS - 1; from-- > 0;) {
		for (unsigned int i = from; i + 1 < CUBIC_TERMS; i++)
			term[i] -= at[from] * term[i + 1];
	}
}

/* What is told by bits that k does not have repeats. */
static void
fit_cubics(unsigned int k, struct log_registers *kernel)
{
	const unsigned int fine = RTE_MIN(k, (unsigned int)CUBIC_FINE);

	for (unsigned int part = 0; part < CUBIC_PARTS; part++) {
		double term[CUBIC_TERMS];

		fit_cubic(part, k, term);
		for (int t = 0; t < CUBIC_TERMS; t++)
			kernel->cubic[t][part] = (float)ldexp(term[t], -16 * t);
	}
	for (unsigned int i = 0; i < CUBIC_FINE; i++)
		kernel->fine[i] = (float)exp2((double)(i % fine) / k);
	for (unsigned int i = 0; i < RTE_DIM(kernel->coarse); i++)
		kernel->coarse[i] = (float)exp2((double)(i % (k / fine)) * fine / k);
}

static enum log_form
form_of(const struct log_shape *shape, unsigned int k)
{
	if (shape->posit)
		return LOG_CUBICS_POSIT;
	if (netfc_format_id(shape->format) == NETFC_BF16)
		return LOG_FRACTIONS;
	return k == LINES_K && !shape->no_result ? LOG_LINES : LOG_CUBICS_BINARY16;
}

/*
 * Choose the form for a set, and fill what the kernel needs for it. Returns false for a set that
 * has none; whether the kernel is equal to the tables is still to be compared.
 */
static bool
fit(const struct log_shape *shape, struct log_registers *kernel)
{
	/* Words of the logarithm of 2. */
	const unsigned int k = (uint16_t)shape->log[netfc_encode(shape->format, 2)];

	if (k < 1 || (k & (k - 1)) != 0)
		return false;
	kernel->form = form_of(shape, k);
	kernel->scale_bits = (unsigned int)__builtin_ctz(k);
	if (kernel->form == LOG_LINES)
		return fit_lines(shape, kernel);
	if (kernel->form == LOG_FRACTIONS) {
		fill_fractions(shape, k, kernel);
		return k <= FRACTION_ENTRIES;
	}
	kernel->exponent_bits = netfc_format_id(shape->format) == NETFC_POSIT16_ES2 ? 2 : 1;
	kernel->greatest = (int16_t)shape->log[shape->finite - 1];
	fit_cubics(k, kernel);
	return k <= CUBICS_GREATEST_K;
}

/* ---- compared with the tables ---- */

static bool
is_right(const struct log_shape *shape, const struct log_registers *kernel, bool power)
{
	uint16_t key[32], value[32];

	for (uint32_t first = 0; first <= UINT16_MAX; first += RTE_DIM(key)) {
		for (uint32_t i = 0; i < RTE_DIM(key); i++)
			key[i] = (uint16_t)(first + i);
		best->functions[kernel->form].map(kernel, power, key, value, RTE_DIM(key));
		for (uint32_t i = 0; i < RTE_DIM(key); i++) {
			const bool counts = power || (key[i] >= 1 && key[i] < shape->finite);

			if (counts &&
				value[i] != (uint16_t)(power ? shape->exp : shape->log)[key[i]])
				return false;
		}
	}
	return true;
}

static struct log_registers *
fill(const struct log_shape *shape, int socket_id)
{
	const uint32_t entries = shape->entries;
	struct log_registers *kernel;

	kernel = rte_zmalloc_socket("netfc_vector",
		sizeof(*kernel) + 2 * (size_t)entries * sizeof(kernel->mi[0]), RTE_CACHE_LINE_SIZE,
		socket_id);
	if (kernel == NULL)
		return NULL;
	kernel->kernel.tables_in_registers = true;
	kernel->kernel.takes_op_pairs = best->takes_op_pairs;
	kernel->inf = (uint16_t)shape->inf;
	kernel->nan = netfc_nan(shape->format);
	kernel->guard = (uint16_t)shape->guard;
	kernel->last = (uint16_t)(entries - 1);
	memcpy(kernel->mi, shape->sum, entries * sizeof(kernel->mi[0]));
	memcpy(kernel->mi + entries, shape->difference, entries * sizeof(kernel->mi[0]));
	return kernel;
}

int
log_registers_create(const struct log_shape *shape, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	struct log_registers *kernel;

	if (isa < best->isa || !shape->folded)
		return -ENOTSUP;
	kernel = fill(shape, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	if (!fit(shape, kernel) || kernel->form >= best->forms || !is_right(shape, kernel, false) ||
		!is_right(shape, kernel, true)) {
		rte_free(kernel);
		return -ENOTSUP;
	}
	kernel->kernel.run = *best->functions[kernel->form].run;
	snprintf(kernel->kernel.description, sizeof(kernel->kernel.description),
		"%s, log and exp in registers, mi folded to %u KB", vector_isa_name(best->isa),
		(unsigned int)(2 * shape->entries * sizeof(kernel->mi[0]) / 1024));
	*result = &kernel->kernel;
	return 0;
}

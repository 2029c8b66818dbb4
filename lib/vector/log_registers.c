/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "kernels.h"
#include "log_registers.h"

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

static void
fill_exp(struct log_registers *kernel)
{
	for (unsigned int i = 0; i < RTE_DIM(kernel->coarse); i++) {
		kernel->coarse[i] = (float)exp2(i / 32.0);
		kernel->fine[i] = (float)exp2(i / 1024.0);
	}
}

static bool
log_is_right(const struct log_shape *shape, const struct log_registers *kernel)
{
	uint16_t magnitude[32];
	int16_t word[32];

	for (uint32_t first = 0; first < shape->finite; first += RTE_DIM(word)) {
		for (uint32_t i = 0; i < RTE_DIM(word); i++)
			magnitude[i] = (uint16_t)(first + i);
		log_registers_log_avx512(kernel, magnitude, word, RTE_DIM(word));
		for (uint32_t i = 0; i < RTE_DIM(word); i++) {
			if (first + i >= 1 && first + i < shape->finite &&
				word[i] != (int16_t)shape->log[first + i])
				return false;
		}
	}
	return true;
}

static bool
exp_is_right(const struct log_shape *shape, const struct log_registers *kernel)
{
	uint16_t magnitude[32];
	int16_t word[32];

	for (int32_t first = INT16_MIN; first <= INT16_MAX; first += (int32_t)RTE_DIM(word)) {
		for (int32_t i = 0; i < (int32_t)RTE_DIM(word); i++)
			word[i] = (int16_t)(first + i);
		log_registers_exp_avx512(kernel, word, magnitude, RTE_DIM(word));
		for (int32_t i = 0; i < (int32_t)RTE_DIM(word); i++) {
			if (magnitude[i] != shape->exp[(uint16_t)word[i]])
				return false;
		}
	}
	return true;
}

static void
log_registers_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

/* 2^10 steps of a binary16's fraction between powers of two, as many as words of its logarithm. */
static bool
suits(const struct log_shape *shape)
{
	return netfc_format_id(shape->format) == NETFC_FP16 && !shape->no_result &&
		(int16_t)shape->log[netfc_encode(shape->format, 2)] == 1024;
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
	kernel->kernel.free = log_registers_free;
	kernel->inf = (uint16_t)shape->inf;
	kernel->nan = netfc_nan(shape->format);
	kernel->guard = (uint16_t)shape->guard;
	kernel->last = (uint16_t)(entries - 1);
	memcpy(kernel->mi, shape->sum, entries * sizeof(kernel->mi[0]));
	memcpy(kernel->mi + entries, shape->difference, entries * sizeof(kernel->mi[0]));
	fill_exp(kernel);
	return kernel;
}

int
log_registers_create(const struct log_shape *shape, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	struct log_registers *kernel;

	if (isa < VECTOR_AVX512 || !shape->folded || !suits(shape))
		return -ENOTSUP;
	kernel = fill(shape, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	log_registers_use_avx512(kernel);
	if (!fit_log(shape, kernel) || !log_is_right(shape, kernel) ||
		!exp_is_right(shape, kernel) || !log_shape_decides(shape, &kernel->kernel)) {
		rte_free(kernel);
		return -ENOTSUP;
	}
	snprintf(kernel->kernel.description, sizeof(kernel->kernel.description),
		"AVX-512, log and exp in registers, mi folded to %u KB",
		(unsigned int)(2 * shape->entries * sizeof(kernel->mi[0]) / 1024));
	*result = &kernel->kernel;
	return 0;
}

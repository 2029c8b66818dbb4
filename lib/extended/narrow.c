/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>

#include <rte_malloc.h>

#include "isa.h"
#include "narrow.h"

static void
narrow_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

static void
take_format(struct narrow_kernel *kernel, const struct netfc_format *format)
{
	const uint32_t over = netfc_overflowed(format, true);
	/* A fraction further; it is the magnitude of the least normal number, too. */
	const uint32_t least = netfc_encode(format, 2) - netfc_encode(format, 1);

	for (uint32_t bits = 0; bits <= UINT8_MAX; bits++)
		kernel->value[bits] = netfc_decode(format, bits);
	kernel->top = (uint8_t)netfc_inf_magnitude(format);
	kernel->over = (uint8_t)(over & INT8_MAX);
	kernel->over_sign = (uint8_t)(over & ~(uint32_t)INT8_MAX);
	kernel->last = (uint8_t)(kernel->top - (netfc_classify(format, kernel->top) == NETFC_NAN));
	kernel->nan = (uint8_t)netfc_nan(format);
	kernel->one = (uint8_t)netfc_encode(format, 1);
	kernel->minus_one = (uint8_t)netfc_encode(format, -1);
	kernel->fraction_bits = (uint8_t)__builtin_ctz(least);
	kernel->least_exponent = (uint8_t)-ilogb(kernel->value[least]);
}

int
narrow_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	struct narrow_kernel *kernel;

	kernel = rte_zmalloc_socket(
		"netfc_extended", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->kernel.run.packets = VECTOR_CHOOSE(narrow_run, isa);
	kernel->kernel.free = narrow_free;
	take_format(kernel, format);
	*result = &kernel->kernel;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <float.h>
#include <math.h>

#include <rte_malloc.h>

#include "extended.h"
#include "extended_kernels.h"
#include "isa.h"

static void
extended_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

/* ---- formats of 8 bits ---- */

static void
take_format(struct extended_fp8 *kernel, const struct netfc_format *format)
{
	/* A fraction further; it is the magnitude of the least normal number, too. */
	const uint32_t least = netfc_encode(format, 2) - netfc_encode(format, 1);

	for (uint32_t bits = 0; bits <= UINT8_MAX; bits++)
		kernel->value[bits] = netfc_decode(format, bits);
	kernel->limits = fp8_limits_of(format);
	kernel->one = (uint8_t)netfc_encode(format, 1);
	kernel->minus_one = (uint8_t)netfc_encode(format, -1);
	kernel->fraction_bits = (uint8_t)__builtin_ctz(least);
	kernel->least_exponent = (uint8_t)-ilogb(kernel->value[least]);
	kernel->least_normal = kernel->value[least];
	kernel->anchor = ldexp(kernel->value[1], DBL_MANT_DIG - 1);
}

static int
create_fp8(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	struct extended_fp8 *kernel;

	kernel = rte_zmalloc_socket(
		"netfc_extended", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->kernel.run.packets = VECTOR_CHOOSE(extended_fp8, isa);
	kernel->kernel.free = extended_free;
	take_format(kernel, format);
	*result = &kernel->kernel;
	return 0;
}

/* ---- formats of 16 bits ---- */

static void
run_packets(const struct vector_kernel *kernel, unsigned int op, struct vector_packet *packets,
	unsigned int count)
{
	const struct extended_kernel *extended = (const struct extended_kernel *)kernel;

	extended->run[op - NETFC_MIN](extended, packets, count);
}

int
extended_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	struct extended_kernel *kernel;

	if (netfc_format_width(format) == 8)
		return create_fp8(format, isa, socket_id, result);
	kernel = rte_zmalloc_socket(
		"netfc_extended", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->kernel.run.packets = run_packets;
	kernel->kernel.free = extended_free;
	kernel->inf = netfc_inf_magnitude(format);
	kernel->nan = netfc_nan(format);
	kernel->one = netfc_encode(format, 1);
	kernel->minus_one = netfc_encode(format, -1);
	VECTOR_CHOOSE(order_use, isa)(kernel, netfc_format_is_posit(format));
	VECTOR_CHOOSE(fma_use, isa)(kernel, netfc_format_id(format));
	*result = &kernel->kernel;
	return 0;
}

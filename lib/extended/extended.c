/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>

#include "extended.h"
#include "extended_kernels.h"
#include "isa.h"
#include "narrow.h"

static void
run_packets(const struct vector_kernel *kernel, unsigned int op, struct vector_packet *packets,
	unsigned int count)
{
	const struct extended_kernel *extended = (const struct extended_kernel *)kernel;

	extended->run[op - NETFC_MIN](extended, packets, count);
}

static void
extended_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

int
extended_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	struct extended_kernel *kernel;

	if (netfc_format_width(format) == 8)
		return narrow_create(format, isa, socket_id, result);
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

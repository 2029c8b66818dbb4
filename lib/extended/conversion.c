/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_malloc.h>

#include "conversion.h"
#include "extended.h"
#include "isa.h"

static void
conversion_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

static enum conversion
conversion_of(const struct netfc_format *from, const struct netfc_format *to)
{
	if (netfc_format_id(from) != NETFC_FP32)
		return netfc_format_width(from) == 8 ? CONVERSION_WIDEN_8 : CONVERSION_WIDEN_16;
	switch (netfc_format_id(to)) {
	case NETFC_FP16:
		return CONVERSION_FP16;
	case NETFC_BF16:
		return CONVERSION_BF16;
	case NETFC_POSIT16:
		return CONVERSION_POSIT16;
	case NETFC_POSIT16_ES2:
		return CONVERSION_POSIT16_ES2;
	case NETFC_FP32:
		return CONVERSION_FP32;
	default:
		return CONVERSION_FP8;
	}
}

/* Arrays; what is widened is exact, and so has no flags. */
static int
fill(struct conversion_kernel *kernel, const struct netfc_function *function,
	const struct netfc_format *format)
{
	int error = NETFC_OK;

	for (uint32_t n = 0; n < NETFC_FUNCTION_ENTRIES && error == NETFC_OK; n++) {
		const uint32_t x = kernel->conversion == CONVERSION_FP8 ? n << 16 : n;
		uint32_t z;
		uint8_t flags;

		error = netfc_function_lanes(function, format, &x, &z, &flags, 1);
		kernel->entries[n] = kernel->conversion == CONVERSION_FP8
			? z | (uint32_t)flags << CONVERSION_FLAGS_SHIFT
			: z;
	}
	return error;
}

int
extended_conversion_create(const struct netfc_function *function, const struct netfc_format *format,
	enum vector_isa isa, int socket_id, struct vector_kernel **result)
{
	struct conversion_kernel *kernel;

	kernel = rte_malloc_socket(
		"netfc_conversion", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->kernel = (struct vector_kernel){
		.run.packets = VECTOR_CHOOSE(conversion_run, isa), .free = conversion_free};
	kernel->conversion = conversion_of(format, netfc_function_result(function, format).format);
	if (kernel->conversion <= CONVERSION_LOOKED_UP &&
		fill(kernel, function, format) != NETFC_OK) {
		rte_free(kernel);
		return -ENOTSUP;
	}
	*result = &kernel->kernel;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "fp8.h"
#include "slots.h"

void
fp8_look_up(const struct fp8_kernel *kernel, unsigned int op, struct vector_packet *packet)
{
	const uint16_t *result = kernel->result[op - NETFC_ADD];
	const uint32_t count = packet->count, bytes = fp8_operand_bytes(count);
	const uint8_t *x = packet->slots, *y = x + bytes;
	uint8_t *z = packet->slots + 2 * (size_t)bytes;
	const uint64_t before = slots_sum(z, bytes);
	uint32_t any = 0;

	for (uint32_t l = 0; l < count; l++) {
		const uint32_t entry = result[(uint32_t)x[l] << 8 | y[l]];

		any |= entry;
		z[l] = (uint8_t)entry;
	}
	packet->flags = (uint8_t)(any >> FP8_FLAGS_SHIFT);
	packet->changes = slots_changes(bytes / 2, before, slots_sum(z, bytes));
}

static void
look_up_packets(const struct vector_kernel *kernel, unsigned int op, struct vector_packet *packets,
	unsigned int count)
{
	const struct fp8_kernel *fp8 = (const struct fp8_kernel *)kernel;

	for (unsigned int p = 0; p < count; p++) {
		if (packets[p].count == 1)
			fp8_look_up_single(fp8, op, &packets[p]);
		else
			fp8_look_up(fp8, op, &packets[p]);
	}
}

static void
fp8_free(struct vector_kernel *kernel)
{
	rte_free(kernel);
}

static const char *
use_best(struct fp8_kernel *kernel, enum vector_isa isa)
{
	kernel->fpu.kernel.run.packets = look_up_packets;
#ifdef __x86_64__
	if (isa >= VECTOR_AVX512 && netfc_format_id(kernel->fpu.format) == NETFC_FP8_E4M3)
		kernel->fpu.kernel.run.packets = fp8_e4m3_run_avx512;
	if (isa >= VECTOR_AVX512 && netfc_format_id(kernel->fpu.format) == NETFC_FP8_E5M2)
		kernel->fpu.kernel.run.packets = fp8_e5m2_run_avx512;
	if (kernel->fpu.kernel.run.packets != look_up_packets)
		return "AVX-512, binary32";
#else
	(void)isa;
#endif
	return "64 K results an operation";
}

static void
fill(struct fp8_kernel *kernel)
{
	const struct netfc_format *format = kernel->fpu.format;

	for (unsigned int o = 0; o < FP8_OPS; o++) {
		for (uint32_t n = 0; n < FP8_RESULTS; n++) {
			const struct netfc_result result =
				netfc_exact(format, NETFC_ADD + o, n >> 8, n & UINT8_MAX);

			kernel->result[o][n] =
				(uint16_t)(result.flags << FP8_FLAGS_SHIFT | result.z);
		}
	}
}

int
fp8_create(const struct netfc_format *format, enum vector_isa isa, int socket_id,
	struct vector_kernel **result)
{
	struct fp8_kernel *kernel;

	kernel = rte_zmalloc_socket("netfc_fp8", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->fpu.kernel.free = fp8_free;
	kernel->fpu.format = format;
	kernel->limits = fp8_limits_of(format);
	fill(kernel);
	kernel->fpu.how = use_best(kernel, isa);
	snprintf(kernel->fpu.kernel.description, sizeof(kernel->fpu.kernel.description),
		"%s, correctly rounded, not the table set", kernel->fpu.how);
	*result = &kernel->fpu.kernel;
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* min, max and compare; compiled for each instruction set. */
#include <stdbool.h>
#include <string.h>

#include <rte_common.h>

#include "extended_kernels.h"
#include "isa.h"
#include "lanes/drive.h"

#define WORD uint8_t
#define RANK int8_t
#define BITS 8
#include "order_words.h"
#undef WORD
#undef RANK
#undef BITS

#define WORD uint16_t
#define RANK int16_t
#define BITS 16
#include "order_words.h"

/* The kernel's function: `op` of lanes of so many bits, posits or not. */
#define ORDER(name, op, bits, posit)                                                           \
	INLINE struct lane name##_lane(const void *limits, uint32_t x, uint32_t y, uint32_t z) \
	{                                                                                      \
		(void)z;                                                                       \
		return order_##bits(limits, x, y, op, posit);                                  \
	}                                                                                      \
	INLINE void name##_packet(                                                             \
		const struct extended_kernel *kernel, struct vector_packet *packet)            \
	{                                                                                      \
		const struct order_limits limits = kernel->limits;                             \
                                                                                               \
		drive_packet(packet, (struct drive){bits, false, 0}, name##_lane, &limits);    \
	}                                                                                      \
	EXTENDED_PACKETS(name, name##_packet)

#define ORDERS(kind, bits, is_posit)                 \
	ORDER(min_##kind, NETFC_MIN, bits, is_posit) \
	ORDER(max_##kind, NETFC_MAX, bits, is_posit) \
	ORDER(compare_##kind, NETFC_COMPARE, bits, is_posit)

ORDERS(byte, 8, false)
ORDERS(ieee, 16, false)
ORDERS(posit, 16, true)

void
VECTOR_NAME(order_use)(struct extended_kernel *kernel)
{
	static vector_packets_fn *const functions[][NETFC_FMA - NETFC_MIN] = {
		{min_byte, max_byte, compare_byte},
		{min_ieee, max_ieee, compare_ieee},
		{min_posit, max_posit, compare_posit},
	};
	const bool is_byte = netfc_format_width(kernel->format) == 8;

	memcpy(kernel->run, functions[is_byte ? 0 : 1 + netfc_format_is_posit(kernel->format)],
		sizeof(functions[0]));
}

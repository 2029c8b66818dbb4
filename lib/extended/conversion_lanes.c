/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions; compiled for each instruction set. */
#include "extended_kernels.h"
#include "isa.h"
#include "lanes/drive.h"
#include "lanes/float_formats.h"

/* Of magnitudes: what becomes infinite, or zero, though it is not. */
INLINE uint32_t
rounding_flags(uint32_t x, uint32_t z, uint32_t inf)
{
	return (mask_of(z == inf) & mask_of(x < FLOAT_INF) & NETFC_OVERFLOW) |
		(mask_of(z == 0) & mask_of(x != 0) & NETFC_UNDERFLOW);
}

/* Posits have no infinities, and never round to zero. */
INLINE struct lane
to_real(uint32_t x, const unsigned int es)
{
	const uint32_t infinite = mask_of((x & INT32_MAX) == FLOAT_INF);
	const uint32_t posit = to_posit(x, es);

	return (struct lane){(infinite & 0x8000) | (~infinite & posit), infinite & NETFC_INVALID};
}

/* `conversion` is a constant wherever this is used. */
INLINE struct lane
convert(const uint32_t *entries, uint32_t x, const enum conversion conversion)
{
	const uint32_t magnitude = x & INT32_MAX;
	uint32_t entry;

	switch (conversion) {
	case CONVERSION_WIDEN_8:
		return (struct lane){entries[x & UINT8_MAX], 0};
	case CONVERSION_WIDEN_16:
		return (struct lane){entries[x & UINT16_MAX], 0};
	case CONVERSION_FP8:
		entry = entries[x >> 16 | ((x & UINT16_MAX) != 0)];
		return (struct lane){entry & UINT8_MAX, entry >> CONVERSION_FLAGS_SHIFT};
	case CONVERSION_FP16:
		entry = to_fp16(x);
		return (struct lane){entry, rounding_flags(magnitude, entry & INT16_MAX, 0x7c00)};
	case CONVERSION_BF16:
		entry = to_bf16(x);
		return (struct lane){entry, rounding_flags(magnitude, entry & INT16_MAX, 0x7f80)};
	case CONVERSION_POSIT16:
		return to_real(x, 1);
	case CONVERSION_POSIT16_ES2:
		return to_real(x, 2);
	case CONVERSION_FP32:
	default:
		return (struct lane){magnitude > FLOAT_INF ? NETFC_FP32_NAN : x, 0};
	}
}

#define CONVERSION(name, conversion)                                                              \
	INLINE struct lane name##_lane(const void *entries, uint32_t x, uint32_t y, uint32_t z)   \
	{                                                                                         \
		struct lane lane = convert(entries, slot32_swap(x), conversion);                  \
                                                                                                  \
		(void)y, (void)z;                                                                 \
		lane.z = slot32_swap(lane.z);                                                     \
		return lane;                                                                      \
	}                                                                                         \
	INLINE void name##_packet(                                                                \
		const struct conversion_kernel *kernel, struct vector_packet *packet)             \
	{                                                                                         \
		drive_packet(packet, (struct drive){32, false, 0}, name##_lane, kernel->entries); \
	}                                                                                         \
	EXTENDED_PACKETS(name, name##_packet)

CONVERSION(widen_8, CONVERSION_WIDEN_8)
CONVERSION(widen_16, CONVERSION_WIDEN_16)
CONVERSION(fp8, CONVERSION_FP8)
CONVERSION(fp32, CONVERSION_FP32)
CONVERSION(fp16, CONVERSION_FP16)
CONVERSION(bf16, CONVERSION_BF16)
CONVERSION(posit16, CONVERSION_POSIT16)
CONVERSION(posit16_es2, CONVERSION_POSIT16_ES2)

void
VECTOR_NAME(conversion_use)(struct conversion_kernel *kernel)
{
	static vector_packets_fn *const functions[] = {
		widen_8, widen_16, fp8, fp32, fp16, bf16, posit16, posit16_es2};

	kernel->kernel.run.packets = functions[kernel->conversion];
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions; compiled for each instruction set. */
#include "extended_kernels.h"
#include "isa.h"
#include "lanes/float_formats.h"
#include "slots.h"

struct converted {
	uint32_t z, flags;
};

LANE uint32_t
mask_of(bool condition)
{
	return -(uint32_t)condition;
}

/* Of magnitudes: what becomes infinite, or zero, though it is not. */
LANE uint32_t
rounding_flags(uint32_t x, uint32_t z, uint32_t inf)
{
	return (mask_of(z == inf) & mask_of(x < FLOAT_INF) & NETFC_OVERFLOW) |
		(mask_of(z == 0) & mask_of(x != 0) & NETFC_UNDERFLOW);
}

/* Posits have no infinities, and never round to zero. */
LANE struct converted
to_real(uint32_t x, const unsigned int es)
{
	const uint32_t infinite = mask_of((x & INT32_MAX) == FLOAT_INF);
	const uint32_t posit = to_posit(x, es);

	return (struct converted){
		(infinite & 0x8000) | (~infinite & posit), infinite & NETFC_INVALID};
}

/* `conversion` is a constant wherever this is used. */
LANE struct converted
convert(const uint32_t *entries, uint32_t x, const enum conversion conversion)
{
	const uint32_t magnitude = x & INT32_MAX;
	uint32_t entry;

	switch (conversion) {
	case CONVERSION_WIDEN_8:
		return (struct converted){entries[x & UINT8_MAX], 0};
	case CONVERSION_WIDEN_16:
		return (struct converted){entries[x & UINT16_MAX], 0};
	case CONVERSION_FP8:
		entry = entries[x >> 16 | ((x & UINT16_MAX) != 0)];
		return (struct converted){entry & UINT8_MAX, entry >> CONVERSION_FLAGS_SHIFT};
	case CONVERSION_FP16:
		entry = to_fp16(x);
		return (struct converted){
			entry, rounding_flags(magnitude, entry & INT16_MAX, 0x7c00)};
	case CONVERSION_BF16:
		entry = to_bf16(x);
		return (struct converted){
			entry, rounding_flags(magnitude, entry & INT16_MAX, 0x7f80)};
	case CONVERSION_POSIT16:
		return to_real(x, 1);
	case CONVERSION_POSIT16_ES2:
		return to_real(x, 2);
	case CONVERSION_FP32:
	default:
		return (struct converted){magnitude > FLOAT_INF ? NETFC_FP32_NAN : x, 0};
	}
}

LANE void
run_packets(const struct conversion_kernel *kernel, struct vector_packet *packets,
	unsigned int count, const enum conversion conversion)
{
	for (unsigned int p = 0; p < count; p++) {
		const uint32_t lanes = packets[p].count;
		const slot32 *restrict x = (const slot32 *)packets[p].slots;
		slot32 *restrict z = (slot32 *)packets[p].slots + 2 * (size_t)lanes;
		uint32_t before = 0, after = 0, flags = 0;

		for (uint32_t l = 0; l < lanes; l++) {
			const struct converted converted =
				convert(kernel->entries, slot32_swap(x[l]), conversion);
			const uint32_t slot = slot32_swap(converted.z);

			flags |= converted.flags;
			before += slot32_words(z[l]);
			after += slot32_words(slot);
			z[l] = slot;
		}
		packets[p].flags = (uint8_t)flags;
		packets[p].changes = slots_changes(2 * lanes, before, after);
	}
}

void
VECTOR_NAME(conversion_run)(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count)
{
	const struct conversion_kernel *own = (const struct conversion_kernel *)kernel;

	(void)op;
	switch (own->conversion) {
#define CASE(conversion)                                      \
	case conversion:                                      \
		run_packets(own, packets, count, conversion); \
		break
		CASE(CONVERSION_WIDEN_8);
		CASE(CONVERSION_WIDEN_16);
		CASE(CONVERSION_FP32);
		CASE(CONVERSION_FP8);
		CASE(CONVERSION_FP16);
		CASE(CONVERSION_BF16);
		CASE(CONVERSION_POSIT16);
		CASE(CONVERSION_POSIT16_ES2);
#undef CASE
	case CONVERSION_ANY:
		break;
	}
}

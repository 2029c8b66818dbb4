/* SPDX-License-Identifier: BSD-3-Clause */
/* See fpu.h. */
#include "floats_avx512.h"
#include "fpu.h"

INLINE __m512
operate(enum netfc_op op, __m512 x, __m512 y)
{
	switch (op) {
	case NETFC_SUB:
		return _mm512_sub_ps(x, y);
	case NETFC_MUL:
		return _mm512_mul_ps(x, y);
	case NETFC_DIV:
		return _mm512_div_ps(x, y);
	case NETFC_ADD:
	default:
		return _mm512_add_ps(x, y);
	}
}

INLINE __mmask32
is_zero(__m512i magnitude)
{
	return _mm512_testn_epi16_mask(magnitude, magnitude);
}

/* Where z is no finite number or zero: why. */
INLINE void
set_exception_flags(enum netfc_op op, const struct fpu_kernel *kernel, struct words in,
	__m512i magnitude_z, struct flags *flags)
{
	const __m512i inf = all(kernel->inf);
	__m512i magnitude_x = magnitude_of(in.x), magnitude_y = magnitude_of(in.y);
	__mmask32 nan = _mm512_cmpgt_epu16_mask(_mm512_max_epu16(magnitude_x, magnitude_y), inf);
	__mmask32 infinite =
		_mm512_cmpeq_epi16_mask(_mm512_max_epu16(magnitude_x, magnitude_y), inf);
	__mmask32 zero_x = is_zero(magnitude_x), zero_y = is_zero(magnitude_y);

	flags->invalid = _mm512_cmpgt_epu16_mask(magnitude_z, inf) & ~nan;
	flags->overflow = _mm512_cmpeq_epi16_mask(magnitude_z, inf) & ~infinite;
	if (op == NETFC_MUL)
		flags->underflow = is_zero(magnitude_z) & ~(zero_x | zero_y);
	if (op == NETFC_DIV) {
		flags->divbyzero = zero_y & ~(zero_x | infinite | nan);
		flags->overflow &= ~zero_y;
		flags->underflow = is_zero(magnitude_z) & ~(zero_x | infinite);
	}
}

INLINE __m512i
compute_group(const struct fpu_kernel *kernel, enum netfc_op op, bool bf16, struct words in,
	__mmask32 lanes, struct flags *flags)
{
	const __m512i last = all(kernel->inf - 2);
	struct floats x = bf16 ? from_bf16(in.x) : from_fp16(in.x);
	struct floats y = bf16 ? from_bf16(in.y) : from_fp16(in.y);
	struct floats sum = {operate(op, x.low, y.low), operate(op, x.high, y.high)};
	__m512i z = bf16 ? to_bf16(sum) : to_fp16(sum), magnitude = magnitude_of(z);

	*flags = (struct flags){0};
	/* Zero less one is greater than any finite magnitude less one. */
	if (_mm512_mask_cmpgt_epu16_mask(lanes, _mm512_sub_epi16(magnitude, all(1)), last) != 0) {
		set_exception_flags(op, kernel, in, magnitude, flags);
		z = _mm512_mask_mov_epi16(
			z, _mm512_cmpgt_epu16_mask(magnitude, all(kernel->inf)), all(kernel->nan));
	}
	return z;
}

INLINE void
run_group(const struct fpu_kernel *kernel, enum netfc_op op, bool bf16, struct group group,
	struct out *out)
{
	struct words in = load_words(&group, false);
	struct flags flags;
	__m512i z = compute_group(kernel, op, bf16, in, group.lanes, &flags);

	store_group(&group, z, &flags, out);
}

INLINE void
run(const struct fpu_kernel *kernel, enum netfc_op op, bool bf16, const struct lanes *lanes,
	struct out *out)
{
	for (uint32_t g = 0; g < groups_in(lanes->count); g++)
		run_group(kernel, op, bf16, group_of(lanes, g), out);
}

/* A call each, so that the operation is a constant in it. */
INLINE void
run_op(const struct vector_kernel *kernel, enum netfc_op op, bool bf16, const struct lanes *lanes,
	struct out *out)
{
	const struct fpu_kernel *fpu = (const struct fpu_kernel *)kernel;

	switch (op) {
	case NETFC_ADD:
		run(fpu, NETFC_ADD, bf16, lanes, out);
		break;
	case NETFC_SUB:
		run(fpu, NETFC_SUB, bf16, lanes, out);
		break;
	case NETFC_MUL:
		run(fpu, NETFC_MUL, bf16, lanes, out);
		break;
	case NETFC_DIV:
		run(fpu, NETFC_DIV, bf16, lanes, out);
		break;
	}
}

INLINE void
run_packets(const struct vector_kernel *kernel, enum netfc_op op, bool bf16,
	struct vector_packet *packets, unsigned int count)
{
	for (unsigned int p = 0; p < count; p++) {
		const struct lanes lanes = lanes_of_packet(&packets[p]);
		struct out out = no_change();

		run_op(kernel, op, bf16, &lanes, &out);
		finish_packet(&packets[p], &out);
	}
}

INLINE void
run_lanes(const struct vector_kernel *kernel, enum netfc_op op, bool bf16,
	const struct vector_lanes *gathered)
{
	const struct lanes lanes = gathered_lanes(gathered);
	struct out out = no_change();

	run_op(kernel, op, bf16, &lanes, &out);
}

#define FUNCTIONS(name, is_bf16)                                                        \
	static void name##_packets(const struct vector_kernel *kernel, unsigned int op, \
		struct vector_packet *packets, unsigned int count)                      \
	{                                                                               \
		run_packets(kernel, op, is_bf16, packets, count);                       \
	}                                                                               \
	static void name##_lanes(const struct vector_kernel *kernel, unsigned int op,   \
		const struct vector_lanes *lanes)                                       \
	{                                                                               \
		run_lanes(kernel, op, is_bf16, lanes);                                  \
	}                                                                               \
	static const struct vector_functions name = {name##_packets, name##_lanes};

FUNCTIONS(fp16, false)
FUNCTIONS(bf16, true)

bool
fpu_use_avx512(struct fpu_kernel *kernel)
{
	return fpu_use(kernel, &fp16, &bf16);
}

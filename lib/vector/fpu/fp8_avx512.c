/* SPDX-License-Identifier: BSD-3-Clause */
/* See fpu.h: 64 lanes, a register of bytes, at a time. */
#include "fpu/fpu.h"
#include "lanes/floats.h"

#define BYTES 64
/* With so few lanes looking up is faster. */
#define FEW 8

INLINE __m512i
all_bytes(int byte)
{
	return _mm512_set1_epi8((char)byte);
}

INLINE __m512i
lower_words(__m512i bytes)
{
	return _mm512_cvtepu8_epi16(_mm512_castsi512_si256(bytes));
}

INLINE __m512i
upper_words(__m512i bytes)
{
	return _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(bytes, 1));
}

/*
 * Bytes as binary16: those of e5m2 are its upper halves; e4m3's exponents are shorter and have a
 * bias of 8 less, so that numbers come out as 2^-8 of what they are, subnormal ones, too.
 */
INLINE __m512i
to_words(__m512i bytes, const bool e4m3)
{
	__m512i shifted = _mm512_slli_epi16(bytes, 8);

	if (!e4m3)
		return shifted;
	return _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi16(shifted, 1), splat(0x3f80)),
		_mm512_and_si512(shifted, splat(0x8000)));
}

/* Of e4m3 each is 2^-8 of what it stands for, operands and result. */
INLINE __m512
operate(const enum netfc_op op, __m512 x, __m512 y, const bool e4m3)
{
	if (e4m3 && op == NETFC_MUL)
		y *= 0x1p8f;
	if (e4m3 && op == NETFC_DIV)
		x *= 0x1p-8f;
	return VECTOR_OPERATE(op, x, y);
}

/* Results: magnitudes, rounded to nearest, ties to even, up to `top`; signs; which are NaN. */
struct half {
	__m256i magnitude;
	__mmask32 negative, nan;
};

INLINE struct half
compute_half(const enum netfc_op op, __m512i x, __m512i y, int top, const bool e4m3)
{
	const int places = e4m3 ? 7 : 8;
	struct floats a = from_fp16(to_words(x, e4m3)), b = from_fp16(to_words(y, e4m3));
	struct floats exact = {operate(op, a.low, b.low, e4m3), operate(op, a.high, b.high, e4m3)};
	__m512i z = to_fp16(exact), magnitude = magnitude_of(z);
	__m512i odd = _mm512_and_si512(_mm512_srli_epi16(magnitude, places), splat(1));
	__m512i half = _mm512_add_epi16(odd, splat((1 << (places - 1)) - 1));
	__m512i rounded = _mm512_srli_epi16(_mm512_add_epi16(magnitude, half), places);

	return (struct half){
		.magnitude = _mm512_cvtepi16_epi8(_mm512_min_epu16(rounded, splat(top))),
		.negative = _mm512_movepi16_mask(z),
		.nan = _mm512_cmpgt_epu16_mask(magnitude, splat(0x7c00)),
	};
}

/* Exception flags so far, a bit per lane and flag. */
struct any {
	__mmask64 invalid, divbyzero, overflow, underflow;
};

/* What bytes are. */
struct kinds {
	__mmask64 zero_x, zero_y, infinite, nan;
};

INLINE struct kinds
kinds_of(const struct fp8_kernel *kernel, __m512i x, __m512i y, const bool e4m3)
{
	const __m512i mx = _mm512_and_si512(x, all_bytes(0x7f));
	const __m512i my = _mm512_and_si512(y, all_bytes(0x7f));
	const __m512i most = _mm512_max_epu8(mx, my), last = all_bytes(kernel->limits.last);

	return (struct kinds){
		.zero_x = _mm512_testn_epi8_mask(mx, mx),
		.zero_y = _mm512_testn_epi8_mask(my, my),
		.infinite = e4m3 ? 0 : _mm512_cmpeq_epi8_mask(most, last),
		.nan = _mm512_cmpgt_epu8_mask(most, last),
	};
}

/* A divisor that is infinite gives zero without a flag, as a dividend that is zero. */
INLINE void
note_flags(const enum netfc_op op, struct kinds in, __mmask64 nan, __mmask64 over, __mmask64 zero,
	__mmask64 lanes, struct any *any)
{
	const __mmask64 numbers = lanes & ~in.nan;
	__mmask64 by_zero = 0;

	if (op == NETFC_DIV) {
		by_zero = numbers & in.zero_y & ~(in.zero_x | in.infinite);
		any->divbyzero |= by_zero;
	}
	any->invalid |= numbers & nan;
	any->overflow |= numbers & over & ~(in.infinite | by_zero);
	if (op == NETFC_MUL)
		any->underflow |= numbers & zero & ~(in.zero_x | in.zero_y);
	if (op == NETFC_DIV)
		any->underflow |= numbers & zero & ~(in.zero_x | in.infinite);
}

struct sums {
	__m512i change; /* of words */
	struct any any;
};

INLINE __mmask64
both(__mmask32 low, __mmask32 high)
{
	return (__mmask64)high << 32 | low;
}

INLINE __m512i
compute(const struct fp8_kernel *kernel, const enum netfc_op op, __m512i x, __m512i y,
	const bool e4m3, __mmask64 lanes, struct any *any)
{
	const struct kinds in = kinds_of(kernel, x, y, e4m3);
	const struct half low =
		compute_half(op, lower_words(x), lower_words(y), kernel->limits.top, e4m3);
	const struct half high =
		compute_half(op, upper_words(x), upper_words(y), kernel->limits.top, e4m3);
	const __mmask64 nan = both(low.nan, high.nan) | in.nan;
	__m512i magnitude = join(low.magnitude, high.magnitude);
	const __mmask64 over =
		_mm512_mask_cmpeq_epi8_mask(~nan, magnitude, all_bytes(kernel->limits.top));
	const __mmask64 zero = _mm512_mask_testn_epi8_mask(~nan, magnitude, magnitude);
	__mmask64 negative = both(low.negative, high.negative) & ~nan;

	if (kernel->limits.over_sign == 0)
		negative &= ~over;
	note_flags(op, in, nan, over, zero, lanes, any);
	magnitude = _mm512_mask_mov_epi8(magnitude, over, all_bytes(kernel->limits.over));
	magnitude = _mm512_mask_mov_epi8(magnitude, nan, all_bytes(kernel->limits.nan));
	return _mm512_mask_add_epi8(magnitude, negative, magnitude, all_bytes(0x80));
}

INLINE void
run_group(const struct fp8_kernel *kernel, const enum netfc_op op, const uint8_t *x,
	const uint8_t *y, uint8_t *z, __mmask64 lanes, const bool e4m3, struct sums *sums)
{
	const __m512i a = _mm512_maskz_loadu_epi8(lanes, x), b = _mm512_maskz_loadu_epi8(lanes, y);
	const __m512i before = _mm512_maskz_loadu_epi8(lanes, z);
	const __m512i after =
		_mm512_maskz_mov_epi8(lanes, compute(kernel, op, a, b, e4m3, lanes, &sums->any));

	sums->change = _mm512_add_epi32(
		sums->change, _mm512_sub_epi32(sum_words(after), sum_words(before)));
	_mm512_mask_storeu_epi8(z, lanes, after);
}

/* The group that is not whole comes first, see group_of(); it starts where words do. */
INLINE void
run_packet(const struct fp8_kernel *kernel, const enum netfc_op op, struct vector_packet *packet,
	const bool e4m3)
{
	const uint32_t count = packet->count, bytes = slots_bytes(count, 8);
	const uint32_t rest = count % BYTES, whole = count - rest;
	const uint8_t *x = packet->slots, *y = x + bytes;
	uint8_t *z = packet->slots + 2 * (size_t)bytes;
	struct sums sums = {.change = _mm512_setzero_si512()};

	if (rest != 0)
		run_group(kernel, op, x + whole, y + whole, z + whole, (UINT64_C(1) << rest) - 1,
			e4m3, &sums);
	for (uint32_t l = 0; l < whole; l += BYTES)
		run_group(kernel, op, x + l, y + l, z + l, UINT64_MAX, e4m3, &sums);
	packet->changes = collect_changes(sums.change, bytes / 2);
	packet->flags = (uint8_t)((sums.any.invalid != 0) * NETFC_INVALID |
		(sums.any.divbyzero != 0) * NETFC_DIVBYZERO |
		(sums.any.overflow != 0) * NETFC_OVERFLOW |
		(sums.any.underflow != 0) * NETFC_UNDERFLOW);
}

/* `op` and `e4m3` are constants wherever this is used. */
INLINE void
run_packets(const enum netfc_op op, const struct vector_kernel *kernel,
	struct vector_packet *packets, unsigned int count, const bool e4m3)
{
	const struct fp8_kernel *fp8 = (const struct fp8_kernel *)kernel;

	for (unsigned int p = 0; p < count; p++) {
		if (packets[p].count <= FEW)
			fp8_look_up(fp8, op, &packets[p]);
		else
			run_packet(fp8, op, &packets[p], e4m3);
	}
}

void
fp8_e4m3_run_avx512(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count)
{
	VECTOR_BY_OP(run_packets, op, kernel, packets, count, true)
}

void
fp8_e5m2_run_avx512(const struct vector_kernel *kernel, unsigned int op,
	struct vector_packet *packets, unsigned int count)
{
	VECTOR_BY_OP(run_packets, op, kernel, packets, count, false)
}

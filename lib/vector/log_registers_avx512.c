/* SPDX-License-Identifier: BSD-3-Clause */
/* See log_registers.h. */
#include "lanes_avx512.h"
#include "log_registers.h"

#define BLOCK 256
#define GROUPS (BLOCK / GROUP)

/* binary16: a fraction of 10 bits; a float's exponent is 112 more. */
#define FRACTION_BITS 10
#define SCALE_BITS 10

struct tables {
	__m512i base[2], slope[2];
	__m512 coarse[2], fine[2];
};

/* What a sum needs behind its look-up in mi, of groups whose packet, if any, has results. */
struct sums {
	uint16_t index[BLOCK];
	uint16_t log[BLOCK];     /* of the greater operand */
	uint16_t greater[BLOCK]; /* the operand of the greater magnitude */
	uint16_t lesser[BLOCK];
	__mmask32 is_greater[GROUPS]; /* z is the greater operand */
	__mmask32 is_zero[GROUPS];    /* z is +0 */
	struct group group[GROUPS];
	struct vector_packet *last_of[GROUPS]; /* the packet that ends with the group, or NULL */
	unsigned int groups;
} __attribute__((aligned(64)));

INLINE struct tables
load_tables(const struct log_registers *kernel)
{
	return (struct tables){
		{_mm512_load_si512(kernel->base), _mm512_load_si512(kernel->base + 32)},
		{_mm512_load_si512(kernel->slope), _mm512_load_si512(kernel->slope + 32)},
		{_mm512_load_ps(kernel->coarse), _mm512_load_ps(kernel->coarse + 16)},
		{_mm512_load_ps(kernel->fine), _mm512_load_ps(kernel->fine + 16)},
	};
}

/*
 * Exponent and fraction, subnormals normalised: (e << 10 | f) of magnitude 2^e * 1.f. The float of
 * a binary16 has them at bit 13; six bits of its exponent tell all those that can occur.
 */
INLINE __m512i
normalise(__m512i magnitude)
{
	const __m512i high_words = _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41,
		39, 37, 35, 33, 31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
	__m512i low = _mm512_castps_si512(_mm512_cvtph_ps(_mm512_castsi512_si256(magnitude)));
	__m512i high =
		_mm512_castps_si512(_mm512_cvtph_ps(_mm512_extracti64x4_epi64(magnitude, 1)));
	__m512i bits = _mm512_permutex2var_epi16(
		_mm512_slli_epi32(low, 3), high_words, _mm512_slli_epi32(high, 3));

	return _mm512_sub_epi16(bits, all(0x7f << FRACTION_BITS));
}

/* The log word of a finite magnitude other than zero. */
INLINE __m512i
log_words(const struct tables *tables, __m512i magnitude)
{
	__m512i number = normalise(magnitude);
	__m512i segment = _mm512_srli_epi16(number, SEGMENT_BITS);
	__m512i base = _mm512_permutex2var_epi16(tables->base[0], segment, tables->base[1]);
	__m512i slope = _mm512_permutex2var_epi16(tables->slope[0], segment, tables->slope[1]);
	__m512i along = _mm512_and_si512(number, all(SEGMENT - 1));
	__m512i line = _mm512_add_epi16(base, _mm512_mullo_epi16(slope, along));

	return _mm512_add_epi16(number, _mm512_srli_epi16(line, LINE_BITS));
}

INLINE __m256i
power_of_two(const struct tables *tables, __m512i n)
{
	__m512 coarse = _mm512_permutex2var_ps(
		tables->coarse[0], _mm512_srli_epi32(n, 5), tables->coarse[1]);
	__m512 fine = _mm512_permutex2var_ps(tables->fine[0], n, tables->fine[1]);
	__m512i exponent = _mm512_and_si512(
		_mm512_slli_epi32(n, 23 - SCALE_BITS), _mm512_set1_epi32((int)0xff800000));
	__m512i power =
		_mm512_add_epi32(_mm512_castps_si512(_mm512_mul_ps(coarse, fine)), exponent);

	return _mm512_cvtps_ph(
		_mm512_castsi512_ps(power), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* The magnitude of 2^(n/k). */
INLINE __m512i
exp_words(const struct tables *tables, __m512i n)
{
	__m512i low = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(n));
	__m512i high = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(n, 1));

	return join(power_of_two(tables, low), power_of_two(tables, high));
}

/* Magnitude and, of another word, the sign. */
INLINE __m512i
with_sign(__m512i magnitude, __m512i signs)
{
	/* sign ? signs : magnitude, bit by bit */
	return _mm512_ternarylogic_epi32(all(0x8000), signs, magnitude, 0xca);
}

INLINE __m512i
difference_of_signs(__m512i x, __m512i y)
{
	return _mm512_and_si512(_mm512_xor_si512(x, y), all(0x8000));
}

/* Operands to indices into mi. */
INLINE void
compare_group(const struct log_registers *kernel, const struct tables *tables, struct words in,
	struct sums *sums, unsigned int group)
{
	const __m512i last = all(kernel->last), guard = all(kernel->guard);
	__m512i magnitude_x = magnitude_of(in.x), magnitude_y = magnitude_of(in.y);
	__mmask32 ordered = _mm512_cmpge_epu16_mask(magnitude_x, magnitude_y);
	__mmask32 differ = _mm512_movepi16_mask(_mm512_xor_si512(in.x, in.y));
	__m512i lesser = _mm512_min_epu16(magnitude_x, magnitude_y);
	__m512i log_greater = log_words(tables, _mm512_max_epu16(magnitude_x, magnitude_y));
	__m512i distance = _mm512_sub_epi16(log_greater, log_words(tables, lesser));
	__m512i index = _mm512_min_epu16(distance, last);

	index = _mm512_mask_add_epi16(index, differ, index, all(kernel->last + 1));
	_mm512_store_si512(&sums->index[group * GROUP], index);
	_mm512_store_si512(&sums->log[group * GROUP], log_greater);
	_mm512_store_si512(
		&sums->greater[group * GROUP], _mm512_mask_blend_epi16(ordered, in.y, in.x));
	_mm512_store_si512(&sums->lesser[group * GROUP], lesser);
	sums->is_greater[group] =
		_mm512_cmpgt_epu16_mask(distance, guard) | _mm512_testn_epi16_mask(lesser, lesser);
	sums->is_zero[group] = _mm512_mask_cmpeq_epi16_mask(differ, magnitude_x, magnitude_y);
}

/* Into registers: a load of what has just been stored in pieces would wait for the last. */
INLINE __m128i
look_up_eight(const int16_t *mi, const uint16_t *index)
{
	__m128i words = _mm_cvtsi32_si128((uint16_t)mi[index[0]]);

	words = _mm_insert_epi16(words, mi[index[1]], 1);
	words = _mm_insert_epi16(words, mi[index[2]], 2);
	words = _mm_insert_epi16(words, mi[index[3]], 3);
	words = _mm_insert_epi16(words, mi[index[4]], 4);
	words = _mm_insert_epi16(words, mi[index[5]], 5);
	words = _mm_insert_epi16(words, mi[index[6]], 6);
	return _mm_insert_epi16(words, mi[index[7]], 7);
}

INLINE __m256i
look_up_sixteen(const int16_t *mi, const uint16_t *index)
{
	return _mm256_set_m128i(look_up_eight(mi, index + 8), look_up_eight(mi, index));
}

INLINE __m512i
look_up_mi(const struct log_registers *kernel, const struct sums *sums, unsigned int group)
{
	const uint16_t *index = sums->index + group * GROUP;

	return join(look_up_sixteen(kernel->mi, index), look_up_sixteen(kernel->mi, index + 16));
}

/* Sums with an infinity or a NaN, which the greater operand is. */
INLINE __m512i
special_sums(const struct log_registers *kernel, __m512i z, __mmask32 special, __m512i greater,
	__m512i lesser, __mmask32 differ, struct flags *flags)
{
	const __m512i inf = all(kernel->inf);
	__mmask32 nan = _mm512_cmpgt_epu16_mask(magnitude_of(greater), inf);
	__mmask32 invalid = _mm512_mask_cmpeq_epi16_mask((__mmask32)(differ & ~nan), lesser, inf);

	flags->invalid |= invalid;
	z = _mm512_mask_mov_epi16(z, special, greater);
	return _mm512_mask_mov_epi16(z, nan | invalid, all(kernel->nan));
}

/* Entries of mi to z. */
INLINE __m512i
finish_group(const struct log_registers *kernel, const struct tables *tables,
	const struct sums *sums, unsigned int group, __m512i mi, struct flags *flags)
{
	__m512i greater = _mm512_load_si512(&sums->greater[group * GROUP]);
	__m512i lesser = _mm512_load_si512(&sums->lesser[group * GROUP]);
	__m512i n = _mm512_adds_epi16(_mm512_load_si512(&sums->log[group * GROUP]), mi);
	__m512i e = exp_words(tables, n), z = with_sign(e, greater);
	__mmask32 is_greater = sums->is_greater[group], is_zero = sums->is_zero[group];
	__mmask32 special = _mm512_cmpge_epu16_mask(magnitude_of(greater), all(kernel->inf));
	__mmask32 decided = is_greater | is_zero | special;

	flags->underflow = ~decided & _mm512_testn_epi16_mask(e, e);
	flags->overflow = ~decided & _mm512_cmpeq_epi16_mask(e, all(kernel->inf));
	flags->invalid = flags->divbyzero = 0;
	z = _mm512_mask_mov_epi16(z, is_greater, greater);
	z = _mm512_maskz_mov_epi16(~is_zero, z);
	if (special != 0) {
		__mmask32 differ = _mm512_cmpge_epu16_mask(
			_mm512_load_si512(&sums->index[group * GROUP]), all(kernel->last + 1));

		z = special_sums(kernel, z, special, greater, lesser, differ, flags);
	}
	return z;
}

/* Products and quotients with a zero, an infinity or a NaN. */
INLINE __m512i
special_products(const struct log_registers *kernel, __m512i z, __mmask32 special, struct words in,
	bool divide, struct flags *flags)
{
	const __m512i inf = all(kernel->inf), signs = difference_of_signs(in.x, in.y);
	__m512i magnitude_x = magnitude_of(in.x), magnitude_y = magnitude_of(in.y);
	__mmask32 zero_x = _mm512_testn_epi16_mask(magnitude_x, magnitude_x);
	__mmask32 zero_y = _mm512_testn_epi16_mask(magnitude_y, magnitude_y);
	__mmask32 inf_x = _mm512_cmpeq_epi16_mask(magnitude_x, inf);
	__mmask32 inf_y = _mm512_cmpeq_epi16_mask(magnitude_y, inf);
	__mmask32 nan = _mm512_cmpgt_epu16_mask(_mm512_max_epu16(magnitude_x, magnitude_y), inf);
	__mmask32 infinite = divide ? inf_x | zero_y : inf_x | inf_y;
	__mmask32 zero = divide ? inf_y | zero_x : zero_x | zero_y;
	__mmask32 invalid = infinite & zero & ~nan;

	if (divide)
		flags->divbyzero = zero_y & ~(inf_x | zero_x | nan);
	flags->invalid = invalid;
	z = _mm512_mask_mov_epi16(z, special, signs);
	z = _mm512_or_si512(z, _mm512_maskz_mov_epi16(infinite, inf));
	return _mm512_mask_mov_epi16(z, nan | invalid, all(kernel->nan));
}

INLINE __m512i
multiply_group(const struct log_registers *kernel, const struct tables *tables, struct words in,
	__mmask32 lanes, bool divide, struct flags *flags)
{
	const __m512i one = all(1), last = all(kernel->inf - 2);
	__m512i magnitude_x = magnitude_of(in.x), magnitude_y = magnitude_of(in.y);
	__m512i log_x = log_words(tables, magnitude_x), log_y = log_words(tables, magnitude_y);
	__m512i n = divide ? _mm512_subs_epi16(log_x, log_y) : _mm512_adds_epi16(log_x, log_y);
	__m512i e = exp_words(tables, n);
	__m512i z = _mm512_or_si512(e, difference_of_signs(in.x, in.y));
	/* Zero less one is greater than any finite magnitude less one. */
	__mmask32 special = _mm512_mask_cmpgt_epu16_mask(lanes,
		_mm512_max_epu16(
			_mm512_sub_epi16(magnitude_x, one), _mm512_sub_epi16(magnitude_y, one)),
		last);

	flags->underflow = ~special & _mm512_testn_epi16_mask(e, e);
	flags->overflow = ~special & _mm512_cmpeq_epi16_mask(e, all(kernel->inf));
	flags->invalid = flags->divbyzero = 0;
	if (special != 0)
		z = special_products(kernel, z, special, in, divide, flags);
	return z;
}

/* The groups compared so far: each look-up, then what follows from it. */
INLINE void
finish_groups(const struct log_registers *kernel, const struct tables *tables, struct sums *sums,
	struct out *out)
{
	struct flags flags;

	for (unsigned int g = 0; g < sums->groups; g++) {
		__m512i mi = look_up_mi(kernel, sums, g);
		__m512i z = finish_group(kernel, tables, sums, g, mi, &flags);

		store_group(&sums->group[g], z, &flags, out);
		if (sums->last_of[g] != NULL) {
			finish_packet(sums->last_of[g], out);
			*out = no_change();
		}
	}
	sums->groups = 0;
}

/* Lanes, of a packet if it is not NULL; out goes on where their groups have not been finished. */
INLINE void
add_lanes(const struct log_registers *kernel, const struct tables *tables,
	const struct lanes *lanes, struct vector_packet *packet, bool subtract, struct sums *sums,
	struct out *out)
{
	const uint32_t groups = groups_in(lanes->count);

	for (uint32_t g = 0; g < groups; g++) {
		struct group group = group_of(lanes, g);

		sums->group[sums->groups] = group;
		sums->last_of[sums->groups] = g + 1 == groups ? packet : NULL;
		compare_group(kernel, tables, load_words(&group, subtract), sums, sums->groups++);
		if (sums->groups == GROUPS)
			finish_groups(kernel, tables, sums, out);
	}
}

INLINE void
sum_packets(const struct log_registers *kernel, struct vector_packet *packets, unsigned int count,
	bool subtract)
{
	const struct tables tables = load_tables(kernel);
	struct out out = no_change();
	struct sums sums;

	sums.groups = 0;
	for (unsigned int p = 0; p < count; p++) {
		const struct lanes lanes = lanes_of_packet(&packets[p]);

		add_lanes(kernel, &tables, &lanes, &packets[p], subtract, &sums, &out);
	}
	finish_groups(kernel, &tables, &sums, &out);
}

INLINE void
sum_lanes(const struct log_registers *kernel, const struct lanes *lanes, bool subtract)
{
	const struct tables tables = load_tables(kernel);
	struct out out = no_change();
	struct sums sums;

	sums.groups = 0;
	add_lanes(kernel, &tables, lanes, NULL, subtract, &sums, &out);
	finish_groups(kernel, &tables, &sums, &out);
}

INLINE void
multiply(const struct log_registers *kernel, const struct tables *tables, const struct lanes *lanes,
	bool divide, struct out *out)
{
	for (uint32_t g = 0; g < groups_in(lanes->count); g++) {
		struct group group = group_of(lanes, g);
		struct words in = load_words(&group, false);
		struct flags flags;
		__m512i z = multiply_group(kernel, tables, in, group.lanes, divide, &flags);

		store_group(&group, z, &flags, out);
	}
}

INLINE void
multiply_packets(const struct log_registers *kernel, struct vector_packet *packets,
	unsigned int count, bool divide)
{
	const struct tables tables = load_tables(kernel);

	for (unsigned int p = 0; p < count; p++) {
		const struct lanes lanes = lanes_of_packet(&packets[p]);
		struct out out = no_change();

		multiply(kernel, &tables, &lanes, divide, &out);
		finish_packet(&packets[p], &out);
	}
}

INLINE void
multiply_lanes(const struct log_registers *kernel, const struct lanes *lanes, bool divide)
{
	const struct tables tables = load_tables(kernel);
	struct out out = no_change();

	multiply(kernel, &tables, lanes, divide, &out);
}

/* A call for each operation, so that it is a constant in it. */
static void
run_packets(const struct vector_kernel *kernel, enum netfc_op op, struct vector_packet *packets,
	unsigned int count)
{
	const struct log_registers *registers = (const struct log_registers *)kernel;

	switch (op) {
	case NETFC_ADD:
		sum_packets(registers, packets, count, false);
		break;
	case NETFC_SUB:
		sum_packets(registers, packets, count, true);
		break;
	case NETFC_MUL:
		multiply_packets(registers, packets, count, false);
		break;
	case NETFC_DIV:
		multiply_packets(registers, packets, count, true);
		break;
	}
}

static void
run_lanes(const struct vector_kernel *kernel, enum netfc_op op, const uint16_t *x,
	const uint16_t *y, uint16_t *z, uint8_t *flags, uint32_t count)
{
	const struct log_registers *registers = (const struct log_registers *)kernel;
	const struct lanes lanes = gathered_lanes(x, y, z, flags, count);

	switch (op) {
	case NETFC_ADD:
		sum_lanes(registers, &lanes, false);
		break;
	case NETFC_SUB:
		sum_lanes(registers, &lanes, true);
		break;
	case NETFC_MUL:
		multiply_lanes(registers, &lanes, false);
		break;
	case NETFC_DIV:
		multiply_lanes(registers, &lanes, true);
		break;
	}
}

void
log_registers_log_avx512(const struct log_registers *kernel, const uint16_t *magnitude,
	int16_t *word, uint32_t count)
{
	const struct tables tables = load_tables(kernel);

	for (uint32_t i = 0; i < count; i += GROUP)
		_mm512_storeu_si512(
			word + i, log_words(&tables, _mm512_loadu_si512(magnitude + i)));
}

void
log_registers_exp_avx512(const struct log_registers *kernel, const int16_t *word,
	uint16_t *magnitude, uint32_t count)
{
	const struct tables tables = load_tables(kernel);

	for (uint32_t i = 0; i < count; i += GROUP)
		_mm512_storeu_si512(
			magnitude + i, exp_words(&tables, _mm512_loadu_si512(word + i)));
}

void
log_registers_use_avx512(struct log_registers *kernel)
{
	kernel->kernel.run_packets = run_packets;
	kernel->kernel.run_lanes = run_lanes;
}

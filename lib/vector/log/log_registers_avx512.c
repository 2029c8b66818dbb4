/* SPDX-License-Identifier: BSD-3-Clause */
/* See log_registers.h. Products and quotients are computed a group at a time. */
#include "log/log_sums_avx512.h"

/* Products and quotients with a zero, an infinity or a NaN. */
INLINE __m512i
special_products(const struct log_registers *kernel, __m512i z, __mmask32 special, struct words in,
	__mmask32 divide, struct flags *flags)
{
	const __m512i inf = splat(kernel->inf), signs = difference_of_signs(in.x, in.y);
	__m512i magnitude_x = magnitude_of(in.x), magnitude_y = magnitude_of(in.y);
	__mmask32 zero_x = _mm512_testn_epi16_mask(magnitude_x, magnitude_x);
	__mmask32 zero_y = _mm512_testn_epi16_mask(magnitude_y, magnitude_y);
	__mmask32 inf_x = _mm512_cmpeq_epi16_mask(magnitude_x, inf);
	__mmask32 inf_y = _mm512_cmpeq_epi16_mask(magnitude_y, inf);
	__mmask32 nan = _mm512_cmpgt_epu16_mask(_mm512_max_epu16(magnitude_x, magnitude_y), inf);
	__mmask32 infinite = inf_x | (divide & zero_y) | (~divide & inf_y);
	__mmask32 zero = zero_x | (divide & inf_y) | (~divide & zero_y);
	__mmask32 invalid = infinite & zero & ~nan;

	flags->divbyzero = divide & zero_y & ~(inf_x | zero_x | nan);
	flags->invalid = invalid;
	z = _mm512_mask_mov_epi16(z, special, signs);
	z = _mm512_or_si512(z, _mm512_maskz_mov_epi16(infinite, inf));
	return _mm512_mask_mov_epi16(z, nan | invalid, splat(kernel->nan));
}

/* The same of posits: zero and NaR, which dividing by zero gives, too. */
INLINE __m512i
special_posit_products(
	__m512i z, __mmask32 special, struct words in, __mmask32 divide, struct flags *flags)
{
	const __m512i nar = splat(INT16_MIN);
	__mmask32 zero_x = _mm512_testn_epi16_mask(in.x, in.x);
	__mmask32 by_zero = divide & _mm512_testn_epi16_mask(in.y, in.y);
	__mmask32 nan = _mm512_cmpeq_epi16_mask(in.x, nar) | _mm512_cmpeq_epi16_mask(in.y, nar);

	flags->divbyzero = by_zero & ~(zero_x | nan);
	flags->invalid = by_zero & zero_x;
	return _mm512_mask_mov_epi16(_mm512_maskz_mov_epi16(~special, z), nan | by_zero, nar);
}

INLINE __m512i
multiply_group(const struct log_registers *kernel, const struct tables *tables,
	const enum log_form form, struct words in, __mmask32 lanes, __mmask32 divide,
	struct flags *flags)
{
	const __m512i one = splat(1), last = splat(kernel->inf - 2);
	__m512i magnitude_x = magnitude_by_form(form, in.x),
		magnitude_y = magnitude_by_form(form, in.y);
	__m512i log_x = log_words(tables, form, magnitude_x);
	__m512i log_y = log_words(tables, form, magnitude_y);
	__m512i n = _mm512_mask_subs_epi16(_mm512_adds_epi16(log_x, log_y), divide, log_x, log_y);
	__m512i e = exp_words(tables, form, n);
	__m512i z = with_sign(form, e, difference_of_signs(in.x, in.y));
	/* Zero less one is greater than any finite magnitude less one. */
	__mmask32 special = _mm512_mask_cmpgt_epu16_mask(lanes,
		_mm512_max_epu16(
			_mm512_sub_epi16(magnitude_x, one), _mm512_sub_epi16(magnitude_y, one)),
		last);

	flags->underflow = ~special & _mm512_testn_epi16_mask(e, e);
	flags->overflow = ~special & _mm512_cmpeq_epi16_mask(e, splat(kernel->inf));
	flags->invalid = flags->divbyzero = 0;
	if (special != 0 && is_posit(form))
		z = special_posit_products(z, special, in, divide, flags);
	else if (special != 0)
		z = special_products(kernel, z, special, in, divide, flags);
	return z;
}

INLINE void
multiply(const struct log_registers *kernel, const struct tables *tables, const enum log_form form,
	const struct lanes *lanes, bool divide, struct out *out)
{
	for (uint32_t g = 0; g < groups_in(lanes->count); g++) {
		struct group group = group_of(lanes, g);
		struct words in = load_words(&group, false);
		struct flags flags;
		__m512i z = multiply_group(kernel, tables, form, in, group.lanes,
			second_of_pair(lanes, &group, divide), &flags);

		store_group(&group, z, &flags, out);
	}
}

INLINE void
multiply_packets(const struct log_registers *kernel, const enum log_form form,
	struct vector_packet *packets, unsigned int count, bool divide)
{
	const struct tables tables = load_tables(kernel);

	for (unsigned int p = 0; p < count; p++) {
		const struct lanes lanes = lanes_of_packet(&packets[p]);
		struct out out = no_change();

		multiply(kernel, &tables, form, &lanes, divide, &out);
		finish_packet(&packets[p], &out);
	}
}

INLINE void
multiply_lanes(const struct log_registers *kernel, const enum log_form form,
	const struct lanes *lanes, bool divide)
{
	const struct tables tables = load_tables(kernel);
	struct out out = no_change();

	multiply(kernel, &tables, form, lanes, divide, &out);
}

INLINE void
packets_of(enum netfc_op op, const struct log_registers *registers, const enum log_form form,
	struct vector_packet *packets, unsigned int count, bool gather)
{
	if (op == NETFC_ADD || op == NETFC_SUB)
		sum_packets(registers, form, packets, count, op == NETFC_SUB, gather);
	else
		multiply_packets(registers, form, packets, count, op == NETFC_DIV);
}

/* Gathered lanes may be of both operations of a pair, so that neither is a constant. */
INLINE void
lanes_of(const struct log_registers *registers, const enum log_form form, enum netfc_op op,
	const struct lanes *lanes, bool gather)
{
	if (op == NETFC_ADD || op == NETFC_SUB)
		sum_lanes(registers, form, lanes, op == NETFC_SUB, gather);
	else
		multiply_lanes(registers, form, lanes, op == NETFC_DIV);
}

#define FUNCTIONS_(name, form, gather)                                                            \
	static void name##_packets(const struct vector_kernel *kernel, unsigned int op,           \
		struct vector_packet *packets, unsigned int count)                                \
	{                                                                                         \
		VECTOR_BY_OP(packets_of, op, (const struct log_registers *)kernel, form, packets, \
			count, gather)                                                            \
	}                                                                                         \
                                                                                                  \
	static void name##_lanes(const struct vector_kernel *kernel, unsigned int op,             \
		const struct vector_lanes *gathered)                                              \
	{                                                                                         \
		const struct lanes lanes = gathered_lanes(gathered);                              \
                                                                                                  \
		lanes_of((const struct log_registers *)kernel, form, op, &lanes, gather);         \
	}

#define FORM_FUNCTIONS(name, form)    \
	FUNCTIONS_(name, form, false) \
	FUNCTIONS_(name##_gathering, form, true)

FORM_FUNCTIONS(lines, LOG_LINES)
FORM_FUNCTIONS(fractions, LOG_FRACTIONS)
FORM_FUNCTIONS(binary16, LOG_CUBICS_BINARY16)
FORM_FUNCTIONS(posit, LOG_CUBICS_POSIT)

#define VARIANTS(name)                                                                       \
	{                                                                                    \
		[LOG_REGISTERS_LOADS] = {name##_packets, name##_lanes},                      \
		[LOG_REGISTERS_GATHER] = {name##_gathering_packets, name##_gathering_lanes}, \
	}

static const struct vector_functions functions[LOG_FORMS][LOG_REGISTERS_VARIANTS] = {
	[LOG_LINES] = VARIANTS(lines),
	[LOG_FRACTIONS] = VARIANTS(fractions),
	[LOG_CUBICS_BINARY16] = VARIANTS(binary16),
	[LOG_CUBICS_POSIT] = VARIANTS(posit),
};

static void
use(struct log_registers *kernel, unsigned int variant)
{
	kernel->kernel.run = functions[kernel->form][variant];
}

INLINE void
logs_of(const struct log_registers *kernel, const enum log_form form, const uint16_t *magnitude,
	int16_t *word, uint32_t count)
{
	const struct tables tables = load_tables(kernel);

	for (uint32_t i = 0; i < count; i += GROUP)
		_mm512_storeu_si512(
			word + i, log_words(&tables, form, _mm512_loadu_si512(magnitude + i)));
}

INLINE void
powers_of(const struct log_registers *kernel, const enum log_form form, const int16_t *word,
	uint16_t *magnitude, uint32_t count)
{
	const struct tables tables = load_tables(kernel);

	for (uint32_t i = 0; i < count; i += GROUP)
		_mm512_storeu_si512(
			magnitude + i, exp_words(&tables, form, _mm512_loadu_si512(word + i)));
}

/* A call for each form, so that it is a constant in it. */
#define BY_FORM(call, kernel, ...)                              \
	switch ((kernel)->form) {                               \
	case LOG_LINES:                                         \
		call(kernel, LOG_LINES, __VA_ARGS__);           \
		break;                                          \
	case LOG_FRACTIONS:                                     \
		call(kernel, LOG_FRACTIONS, __VA_ARGS__);       \
		break;                                          \
	case LOG_CUBICS_BINARY16:                               \
		call(kernel, LOG_CUBICS_BINARY16, __VA_ARGS__); \
		break;                                          \
	case LOG_CUBICS_POSIT:                                  \
		call(kernel, LOG_CUBICS_POSIT, __VA_ARGS__);    \
		break;                                          \
	case LOG_FORMS:                                         \
		break;                                          \
	}

static void
log_all(const struct log_registers *kernel, const uint16_t *magnitude, int16_t *word,
	uint32_t count)
{
	BY_FORM(logs_of, kernel, magnitude, word, count)
}

static void
exp_all(const struct log_registers *kernel, const int16_t *word, uint16_t *magnitude,
	uint32_t count)
{
	BY_FORM(powers_of, kernel, word, magnitude, count)
}

const struct log_registers_isa log_registers_avx512 = {
	.isa = VECTOR_AVX512,
	.variants = LOG_REGISTERS_VARIANTS,
	.forms = LOG_FORMS,
	.takes_op_pairs = true,
	.use = use,
	.log = log_all,
	.exp = exp_all,
};

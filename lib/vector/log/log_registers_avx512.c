/* SPDX-License-Identifier: BSD-3-Clause */
/* See log_registers.h. Products and quotients are computed a group at a time. */
#include "log/log_sums_avx512.h"

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

	*flags = (struct flags){
		.overflow = ~special & _mm512_cmpeq_epi16_mask(e, splat(kernel->inf)),
		.underflow = ~special & _mm512_testn_epi16_mask(e, e),
	};
	if (__builtin_expect(special != 0, 0)) {
		const struct decision decision = {
			.x = (vec16)in.x,
			.y = (vec16)in.y,
			.inf = all_words(kernel->inf),
			.nan = all_words(kernel->nan),
			.posit = mask_if(is_posit(form)),
			.product = MASK_ALL,
			.division = divide,
		};

		z = (__m512i)decide_special(&decision, special, (vec16)z, flags);
	}
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
	struct vector_packet *packets, unsigned int count)
{
	if (op == NETFC_ADD || op == NETFC_SUB)
		sum_packets(registers, form, packets, count, op == NETFC_SUB);
	else
		multiply_packets(registers, form, packets, count, op == NETFC_DIV);
}

/* Gathered lanes may be of both operations of a pair, so that neither is a constant. */
INLINE void
lanes_of(const struct log_registers *registers, const enum log_form form, enum netfc_op op,
	const struct lanes *lanes)
{
	if (op == NETFC_ADD || op == NETFC_SUB)
		sum_lanes(registers, form, lanes, op == NETFC_SUB);
	else
		multiply_lanes(registers, form, lanes, op == NETFC_DIV);
}

#define FUNCTIONS(name, form)                                                                     \
	static void name##_packets(const struct vector_kernel *kernel, unsigned int op,           \
		struct vector_packet *packets, unsigned int count)                                \
	{                                                                                         \
		VECTOR_BY_OP(packets_of, op, (const struct log_registers *)kernel, form, packets, \
			count)                                                                    \
	}                                                                                         \
                                                                                                  \
	static void name##_lanes(const struct vector_kernel *kernel, unsigned int op,             \
		const struct vector_lanes *gathered)                                              \
	{                                                                                         \
		const struct lanes lanes = gathered_lanes(gathered);                              \
                                                                                                  \
		lanes_of((const struct log_registers *)kernel, form, op, &lanes);                 \
	}

FUNCTIONS(lines, LOG_LINES)
FUNCTIONS(fractions, LOG_FRACTIONS)
FUNCTIONS(binary16, LOG_CUBICS_BINARY16)
FUNCTIONS(posit, LOG_CUBICS_POSIT)

static const struct vector_functions functions[LOG_FORMS] = {
	[LOG_LINES] = {lines_packets, lines_lanes},
	[LOG_FRACTIONS] = {fractions_packets, fractions_lanes},
	[LOG_CUBICS_BINARY16] = {binary16_packets, binary16_lanes},
	[LOG_CUBICS_POSIT] = {posit_packets, posit_lanes},
};

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
	.forms = LOG_FORMS,
	.takes_op_pairs = true,
	.functions = functions,
	.log = log_all,
	.exp = exp_all,
};

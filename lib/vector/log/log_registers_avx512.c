/* SPDX-License-Identifier: BSD-3-Clause */
/* See log_registers.h. Products and quotients are computed a group at a time. */
#include "log/log_sums_avx512.h"

/* What is computed of a group. */
struct product {
	const struct log_registers *kernel;
	struct tables tables;
	enum log_form form;
	bool divide;
};

INLINE __m512i
multiply(const void *context, const struct lanes *lanes, const struct group *group,
	struct flags *flags)
{
	const struct product *product = context;
	const struct log_registers *kernel = product->kernel;
	const struct tables *tables = &product->tables;
	const enum log_form form = product->form;
	const struct words in = load_words(group, false);
	const __mmask32 divide = second_of_pair(lanes, group, product->divide);
	const __m512i one = splat(1), last = splat(kernel->inf - 2);
	__m512i magnitude_x = magnitude_by_form(form, in.x),
		magnitude_y = magnitude_by_form(form, in.y);
	__m512i log_x = log_words(tables, form, magnitude_x);
	__m512i log_y = log_words(tables, form, magnitude_y);
	__m512i n = _mm512_mask_subs_epi16(_mm512_adds_epi16(log_x, log_y), divide, log_x, log_y);
	__m512i e = exp_words(tables, form, n);
	__m512i z = with_sign(form, e, difference_of_signs(in.x, in.y));
	/* Zero less one is greater than any finite magnitude less one. */
	__mmask32 special = _mm512_mask_cmpgt_epu16_mask(group->lanes,
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
run_op(enum netfc_op op, const struct log_registers *kernel, const enum log_form form,
	struct vector_packet *packets, unsigned int count, const struct vector_lanes *gathered)
{
	if (op == NETFC_ADD || op == NETFC_SUB) {
		sum(kernel, form, op == NETFC_SUB, packets, count, gathered);
	} else {
		const struct product product = {kernel, load_tables(kernel), form, op == NETFC_DIV};

		run_groups(multiply, &product, packets, count, gathered);
	}
}

/* Gathered lanes may be of both operations of a pair, so that neither is a constant. */
INLINE void
run(const struct vector_kernel *base, unsigned int op, const enum log_form form,
	struct vector_packet *packets, unsigned int count, const struct vector_lanes *gathered)
{
	const struct log_registers *kernel = (const struct log_registers *)base;

	if (gathered != NULL)
		run_op(op, kernel, form, packets, count, gathered);
	else
		VECTOR_BY_OP(run_op, op, kernel, form, packets, count, NULL)
}

INLINE void
map(const struct log_registers *kernel, const enum log_form form, bool power, const uint16_t *from,
	uint16_t *to, uint32_t count)
{
	const struct tables tables = load_tables(kernel);

	for (uint32_t i = 0; i < count; i += GROUP) {
		const __m512i words = _mm512_loadu_si512(from + i);

		_mm512_storeu_si512(to + i,
			power ? exp_words(&tables, form, words) : log_words(&tables, form, words));
	}
}

#define FORM(name, form)                                                       \
	GROUP_FUNCTIONS(name, run, form)                                       \
	static void name##_map(const struct log_registers *kernel, bool power, \
		const uint16_t *from, uint16_t *to, uint32_t count)            \
	{                                                                      \
		map(kernel, form, power, from, to, count);                     \
	}

FORM(lines, LOG_LINES)
FORM(fractions, LOG_FRACTIONS)
FORM(binary16, LOG_CUBICS_BINARY16)
FORM(posit, LOG_CUBICS_POSIT)

static const struct log_functions functions[LOG_FORMS] = {
	[LOG_LINES] = {&lines, lines_map},
	[LOG_FRACTIONS] = {&fractions, fractions_map},
	[LOG_CUBICS_BINARY16] = {&binary16, binary16_map},
	[LOG_CUBICS_POSIT] = {&posit, posit_map},
};

const struct log_registers_isa log_registers_avx512 = {
	.isa = VECTOR_AVX512,
	.forms = LOG_FORMS,
	.takes_op_pairs = true,
	.functions = functions,
};

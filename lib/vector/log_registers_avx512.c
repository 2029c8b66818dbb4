/* SPDX-License-Identifier: BSD-3-Clause */
/* See log_registers.h. */
#include "log_products_avx512.h"
#include "log_sums_avx512.h"

/* A call for each operation, so that it is a constant in it, as the form is. */
INLINE void
packets_of(const struct log_registers *registers, const enum log_form form, enum netfc_op op,
	struct vector_packet *packets, unsigned int count, bool gather)
{
	switch (op) {
	case NETFC_ADD:
		sum_packets(registers, form, packets, count, false, gather);
		break;
	case NETFC_SUB:
		sum_packets(registers, form, packets, count, true, gather);
		break;
	case NETFC_MUL:
		multiply_packets(registers, form, packets, count, false);
		break;
	case NETFC_DIV:
		multiply_packets(registers, form, packets, count, true);
		break;
	}
}

INLINE void
lanes_of(const struct log_registers *registers, const enum log_form form, enum netfc_op op,
	const struct lanes *lanes, bool gather)
{
	switch (op) {
	case NETFC_ADD:
		sum_lanes(registers, form, lanes, false, gather);
		break;
	case NETFC_SUB:
		sum_lanes(registers, form, lanes, true, gather);
		break;
	case NETFC_MUL:
		multiply_lanes(registers, form, lanes, false);
		break;
	case NETFC_DIV:
		multiply_lanes(registers, form, lanes, true);
		break;
	}
}

#define FUNCTIONS_(name, form, gather)                                                           \
	static void name##_packets(const struct vector_kernel *kernel, unsigned int op,          \
		struct vector_packet *packets, unsigned int count)                               \
	{                                                                                        \
		packets_of(                                                                      \
			(const struct log_registers *)kernel, form, op, packets, count, gather); \
	}                                                                                        \
                                                                                                 \
	static void name##_lanes(const struct vector_kernel *kernel, unsigned int op,            \
		const struct vector_lanes *gathered)                                             \
	{                                                                                        \
		const struct lanes lanes = gathered_lanes(gathered);                             \
                                                                                                 \
		lanes_of((const struct log_registers *)kernel, form, op, &lanes, gather);        \
	}

#define FORM_FUNCTIONS(name, form)    \
	FUNCTIONS_(name, form, false) \
	FUNCTIONS_(name##_gathering, form, true)

FORM_FUNCTIONS(lines, LOG_LINES)
FORM_FUNCTIONS(fractions, LOG_FRACTIONS)
FORM_FUNCTIONS(binary16, LOG_CUBICS_BINARY16)
FORM_FUNCTIONS(posit, LOG_CUBICS_POSIT)

#define WAYS(name)                                                                           \
	{                                                                                    \
		[LOG_REGISTERS_LOADS] = {name##_packets, name##_lanes},                      \
		[LOG_REGISTERS_GATHER] = {name##_gathering_packets, name##_gathering_lanes}, \
	}

static const struct vector_functions functions[LOG_FORMS][LOG_REGISTERS_WAYS] = {
	[LOG_LINES] = WAYS(lines),
	[LOG_FRACTIONS] = WAYS(fractions),
	[LOG_CUBICS_BINARY16] = WAYS(binary16),
	[LOG_CUBICS_POSIT] = WAYS(posit),
};

static void
use(struct log_registers *kernel, unsigned int way)
{
	kernel->kernel.run = functions[kernel->form][way];
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
	.ways = LOG_REGISTERS_WAYS,
	.forms = LOG_FORMS,
	.use = use,
	.log = log_all,
	.exp = exp_all,
};

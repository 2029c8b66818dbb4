/* SPDX-License-Identifier: BSD-3-Clause */
/* See log_registers.h. */
#include "log_products_avx512.h"
#include "log_sums_avx512.h"

/* A call for each operation, so that it is a constant in it. */
INLINE void
packets_of(const struct log_registers *registers, enum netfc_op op, struct vector_packet *packets,
	unsigned int count, bool gather)
{
	switch (op) {
	case NETFC_ADD:
		sum_packets(registers, packets, count, false, gather);
		break;
	case NETFC_SUB:
		sum_packets(registers, packets, count, true, gather);
		break;
	case NETFC_MUL:
		multiply_packets(registers, packets, count, false);
		break;
	case NETFC_DIV:
		multiply_packets(registers, packets, count, true);
		break;
	}
}

INLINE void
lanes_of(const struct log_registers *registers, enum netfc_op op, const struct lanes *lanes,
	bool gather)
{
	switch (op) {
	case NETFC_ADD:
		sum_lanes(registers, lanes, false, gather);
		break;
	case NETFC_SUB:
		sum_lanes(registers, lanes, true, gather);
		break;
	case NETFC_MUL:
		multiply_lanes(registers, lanes, false);
		break;
	case NETFC_DIV:
		multiply_lanes(registers, lanes, true);
		break;
	}
}

static void
run_packets(const struct vector_kernel *kernel, enum netfc_op op, struct vector_packet *packets,
	unsigned int count)
{
	packets_of((const struct log_registers *)kernel, op, packets, count, false);
}

static void
run_packets_gathering(const struct vector_kernel *kernel, enum netfc_op op,
	struct vector_packet *packets, unsigned int count)
{
	packets_of((const struct log_registers *)kernel, op, packets, count, true);
}

static void
run_lanes(const struct vector_kernel *kernel, enum netfc_op op, const uint16_t *x,
	const uint16_t *y, uint16_t *z, uint8_t *flags, uint32_t count)
{
	const struct lanes lanes = gathered_lanes(x, y, z, flags, count);

	lanes_of((const struct log_registers *)kernel, op, &lanes, false);
}

static void
run_lanes_gathering(const struct vector_kernel *kernel, enum netfc_op op, const uint16_t *x,
	const uint16_t *y, uint16_t *z, uint8_t *flags, uint32_t count)
{
	const struct lanes lanes = gathered_lanes(x, y, z, flags, count);

	lanes_of((const struct log_registers *)kernel, op, &lanes, true);
}

static void
log_all(const struct log_registers *kernel, const uint16_t *magnitude, int16_t *word,
	uint32_t count)
{
	const struct tables tables = load_tables(kernel);

	for (uint32_t i = 0; i < count; i += GROUP)
		_mm512_storeu_si512(
			word + i, log_words(&tables, _mm512_loadu_si512(magnitude + i)));
}

static void
exp_all(const struct log_registers *kernel, const int16_t *word, uint16_t *magnitude,
	uint32_t count)
{
	const struct tables tables = load_tables(kernel);

	for (uint32_t i = 0; i < count; i += GROUP)
		_mm512_storeu_si512(
			magnitude + i, exp_words(&tables, _mm512_loadu_si512(word + i)));
}

static void
use(struct log_registers *kernel, unsigned int way)
{
	const bool gather = way == LOG_REGISTERS_GATHER;

	kernel->kernel.run_packets = gather ? run_packets_gathering : run_packets;
	kernel->kernel.run_lanes = gather ? run_lanes_gathering : run_lanes;
}

const struct log_registers_isa log_registers_avx512 = {
	.isa = VECTOR_AVX512,
	.ways = LOG_REGISTERS_WAYS,
	.use = use,
	.log = log_all,
	.exp = exp_all,
};

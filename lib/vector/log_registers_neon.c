/* SPDX-License-Identifier: BSD-3-Clause */
/* See log_registers.h. */
#include "log_products_neon.h"
#include "log_sums_neon.h"

/* A call for each operation, so that it is a constant in it. */
BLOCK_INLINE void
compute(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count)
{
	const struct log_registers *registers = (const struct log_registers *)kernel;

	switch (op) {
	case NETFC_ADD:
		compute_sums(registers, block, false, count);
		break;
	case NETFC_SUB:
		compute_sums(registers, block, true, count);
		break;
	case NETFC_MUL:
		compute_products(registers, block, false, count);
		break;
	case NETFC_DIV:
		compute_products(registers, block, true, count);
		break;
	}
}

BLOCK_FUNCTIONS(log_functions, compute)

static void
log_all(const struct log_registers *kernel, const uint16_t *magnitude, int16_t *word,
	uint32_t count)
{
	const struct lines lines = load_lines(kernel);

	for (uint32_t i = 0; i < count; i += GROUP) {
		struct group log = log_words(&lines, load_group(magnitude + i));

		vst1q_s16(word + i, vreinterpretq_s16_u16(log.low));
		vst1q_s16(word + i + LANES, vreinterpretq_s16_u16(log.high));
	}
}

static void
exp_all(const struct log_registers *kernel, const int16_t *word, uint16_t *magnitude,
	uint32_t count)
{
	const struct powers powers = load_powers(kernel);

	for (uint32_t i = 0; i < count; i += GROUP) {
		struct group power =
			exp_words(&powers, vld1q_s16(word + i), vld1q_s16(word + i + LANES));

		vst1q_u16(magnitude + i, power.low);
		vst1q_u16(magnitude + i + LANES, power.high);
	}
}

static void
use(struct log_registers *kernel, unsigned int way)
{
	(void)way;
	kernel->kernel.run = log_functions;
}

const struct log_registers_isa log_registers_neon = {
	.isa = VECTOR_NEON,
	.ways = LOG_REGISTERS_LOADS + 1,
	.forms = LOG_LINES + 1,
	.use = use,
	.log = log_all,
	.exp = exp_all,
};

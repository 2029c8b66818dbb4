/* SPDX-License-Identifier: BSD-3-Clause */
/* The family of binary32's table set, and its lanes of 32 bits. */
#include "fp32/fp32_family.h"

#include <string.h>

/* A pass has at most four products: three for each of a quotient's digits. */
#define PRODUCTS 4

static const struct netfc_table tables[FP32_DECIDE] = {
	[FP32_EXPS] = {.name = "exps",
		.key_bits = 2 * FP32_EXPONENT_BITS,
		.value_bits = FP32_EXPS_BITS,
		.pages = 1,
		.copies = 1},
	[FP32_LEAD] = {.name = "lead",
		.key_bits = FP32_HALF,
		.value_bits = FP32_LEAD_BITS,
		.pages = 1,
		.copies = 2},
	[FP32_NORM] = {.name = "norm",
		.key_bits = FP32_NORM_KEY_BITS,
		.value_bits = FP32_NORM_BITS,
		.pages = 1,
		.copies = 1},
	[FP32_SQUARE] = {.name = "square",
		.key_bits = FP32_SQUARE_KEY_BITS,
		.value_bits = 2 * FP32_DIGIT,
		.pages = 1,
		.copies = PRODUCTS},
	[FP32_DIFFER] = {.name = "differ",
		.key_bits = FP32_SQUARE_KEY_BITS,
		.value_bits = 2 * FP32_DIGIT - 2,
		.key_signed = true,
		.pages = 1,
		.copies = PRODUCTS},
	[FP32_RECIP] = {.name = "recip",
		.key_bits = FP32_RECIP_KEY_BITS,
		.value_bits = FP32_RECIP_BITS,
		.pages = 1,
		.copies = 1},
	[FP32_CROSS] = {.name = "cross",
		.key_bits = 2 * FP32_CROSS_DIGIT,
		.value_bits = FP32_CROSS_BITS,
		.pages = 1,
		.copies = 2},
	[FP32_SCALE] = {.name = "scale",
		.key_bits = FP32_SCALE_KEY_BITS,
		.value_bits = FP32_SCALE_BITS,
		.pages = 1,
		.copies = 1},
	[FP32_ROUND] = {.name = "round",
		.key_bits = FP32_ROUND_KEY_BITS,
		.value_bits = 1,
		.pages = 1,
		.copies = 1},
};

static void
fp32_layout(struct netfc_set *set)
{
	netfc_describe_tables(set, tables, FP32_DECIDE);
}

static void
fp32_write(struct netfc_set *set)
{
	fp32_write_sum(&set->program[FP32_SUM]);
	fp32_write_product(&set->program[FP32_PRODUCT]);
	fp32_write_quotient(&set->program[FP32_QUOTIENT]);
}

static void
fill_lanes(struct netfc_lanes *lanes, enum netfc_op op, const uint32_t *x, const uint32_t *y,
	unsigned count)
{
	memcpy(lanes->field[NETFC_X], x, count * sizeof(*x));
	memcpy(lanes->field[NETFC_Y], y, count * sizeof(*y));
	for (unsigned l = 0; l < count; l++)
		lanes->field[NETFC_OP][l] = op - NETFC_ADD;
}

static uint8_t
compute_batch(const struct netfc_set *set, enum netfc_op op, const uint32_t *x, const uint32_t *y,
	uint32_t *z, uint8_t *flags, unsigned count)
{
	const struct netfc_program *program = netfc_set_op_program(set, op);
	struct netfc_lanes lanes;
	uint8_t all = 0;

	fill_lanes(&lanes, op, x, y, count);
	for (unsigned s = 0; s < program->step_count; s++)
		netfc_run_step(set, &program->step[s], &lanes, count);
	for (unsigned l = 0; l < count; l++) {
		/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) programs write z */
		z[l] = lanes.field[NETFC_Z][l];
		all |= (uint8_t)lanes.field[NETFC_FLAGS][l];
		if (flags != NULL)
			flags[l] = (uint8_t)lanes.field[NETFC_FLAGS][l];
	}
	return all;
}

uint8_t
netfc_fp32_compute(const struct netfc_set *set, enum netfc_op op, const uint32_t *x,
	const uint32_t *y, uint32_t *z, uint8_t *flags, uint32_t count)
{
	uint8_t all = 0;

	for (uint32_t done = 0; done < count; done += NETFC_BATCH) {
		unsigned batch = count - done < NETFC_BATCH ? count - done : NETFC_BATCH;

		all |= compute_batch(set, op, x + done, y + done, z + done,
			flags != NULL ? flags + done : NULL, batch);
	}
	return all;
}

struct netfc_fp32_result
netfc_fp32_walk(const struct netfc_set *set, enum netfc_op op, uint32_t x, uint32_t y,
	netfc_walk_fn fn, void *arg)
{
	const struct netfc_program *program = netfc_set_op_program(set, op);
	struct netfc_lanes lanes;

	memset(&lanes, 0, sizeof(lanes));
	fill_lanes(&lanes, op, &x, &y, 1);
	for (unsigned s = 0; s < program->step_count; s++) {
		netfc_run_step(set, &program->step[s], &lanes, 1);
		fn(program, &program->step[s], &lanes, arg);
	}
	return (struct netfc_fp32_result){
		lanes.field[NETFC_Z][0], (uint8_t)lanes.field[NETFC_FLAGS][0]};
}

/* Operands of 16 bits are none of this format; see netfc_fp32_compute(). */
static struct netfc_result
fp32_calc(const struct netfc_set *set, enum netfc_op op, uint16_t x, uint16_t y)
{
	(void)set, (void)op, (void)x, (void)y;
	return (struct netfc_result){set->id.format->nan, NETFC_INVALID};
}

const struct family netfc_fp32_family = {
	.layout = fp32_layout,
	.fill = fp32_fill,
	.mark = fp32_mark,
	.program = fp32_write,
	.calc = fp32_calc,
};

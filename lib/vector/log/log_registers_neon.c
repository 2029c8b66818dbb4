/* SPDX-License-Identifier: BSD-3-Clause */
/* See log_registers.h. */
#include "log/log_words_neon.h"

/*
 * ---- sums and differences: a block's operands to indices into mi, which are all looked up before
 * the first result is made ----
 */

/* What a sum needs besides its operands. */
struct sums {
	uint16_t index[BLOCK_LANES]; /* into mi */
	int16_t mi[BLOCK_LANES];
	int16_t log[BLOCK_LANES];         /* of the greater operand */
	uint16_t is_greater[BLOCK_LANES]; /* z is the greater operand */
};

/* Eight operands to indices into mi. */
INLINE void
store_indices(const struct log_registers *kernel, const struct block *block, struct sums *sums,
	unsigned int l, uint16x8_t log_greater, uint16x8_t log_lesser)
{
	const uint16x8_t x = vld1q_u16(block->x + l), y = vld1q_u16(block->y + l);
	const uint16x8_t lesser = vminq_u16(magnitude_of(x), magnitude_of(y));
	const uint16x8_t distance = vsubq_u16(log_greater, log_lesser);
	const uint16x8_t half =
		vandq_u16(if_signs_differ(x, y), vdupq_n_u16((uint16_t)(kernel->last + 1)));

	vst1q_u16(sums->index + l, vaddq_u16(vminq_u16(distance, vdupq_n_u16(kernel->last)), half));
	vst1q_s16(sums->log + l, vreinterpretq_s16_u16(log_greater));
	vst1q_u16(sums->is_greater + l,
		vorrq_u16(vcgtq_u16(distance, vdupq_n_u16(kernel->guard)), vceqzq_u16(lesser)));
}

/* Operands to indices into mi; the tables of lines stay in registers. */
INLINE void
compare(const struct log_registers *kernel, struct block *block, struct sums *sums, bool subtract,
	unsigned int lanes)
{
	const struct lines lines = load_lines(kernel);

	for (unsigned int l = 0; l < lanes; l += GROUP) {
		const struct group x = load_group(block->x + l);
		struct group y = load_group(block->y + l), greater, lesser;

		if (subtract) {
			y.low = veorq_u16(y.low, vdupq_n_u16(0x8000));
			y.high = veorq_u16(y.high, vdupq_n_u16(0x8000));
			vst1q_u16(block->y + l, y.low);
			vst1q_u16(block->y + l + LANES, y.high);
		}
		greater.low = vmaxq_u16(magnitude_of(x.low), magnitude_of(y.low));
		greater.high = vmaxq_u16(magnitude_of(x.high), magnitude_of(y.high));
		lesser.low = vminq_u16(magnitude_of(x.low), magnitude_of(y.low));
		lesser.high = vminq_u16(magnitude_of(x.high), magnitude_of(y.high));
		greater = log_words(&lines, greater);
		lesser = log_words(&lines, lesser);
		store_indices(kernel, block, sums, l, greater.low, lesser.low);
		store_indices(kernel, block, sums, l + LANES, greater.high, lesser.high);
	}
}

INLINE void
look_up_mi(const struct log_registers *kernel, struct sums *sums, unsigned int lanes)
{
	for (unsigned int l = 0; l < lanes; l += LANES) {
#pragma GCC unroll 8
		for (unsigned int i = l; i < l + LANES; i++)
			sums->mi[i] = kernel->mi[sums->index[i]];
	}
}

/* Eight sums, products or quotients, some of which are special, of their magnitudes. */
INLINE void
store_special(const struct log_registers *kernel, struct block *block, unsigned int l,
	uint16x8_t magnitude, enum netfc_op op, uint16x8_t is_x, uint16x8_t is_y)
{
	const struct decision decision = {
		.x = vec_load(block->x + l),
		.y = vec_load(block->y + l),
		.inf = all_words(kernel->inf),
		.nan = all_words(kernel->nan),
		.product = mask_if(op == NETFC_MUL || op == NETFC_DIV),
		.division = mask_if(op == NETFC_DIV),
		.is_x = (mask16)is_x,
		.is_y = (mask16)is_y,
	};
	struct flags flags;

	vec_store(block->z + l, decide(&decision, (vec16)magnitude, &flags));
	vec_store(block->flags + l, flag_words(&flags));
}

static __attribute__((noinline)) void
special_sums(const struct log_registers *kernel, struct block *block, unsigned int l,
	uint16x8_t magnitude, uint16x8_t is_greater)
{
	const uint16x8_t x = vld1q_u16(block->x + l), y = vld1q_u16(block->y + l);
	const uint16x8_t ordered = vcgeq_u16(magnitude_of(x), magnitude_of(y));

	store_special(kernel, block, l, magnitude, NETFC_ADD, vandq_u16(is_greater, ordered),
		vbicq_u16(is_greater, ordered));
}

/* Magnitudes of eight sums to z. */
INLINE void
select_sums(const struct log_registers *kernel, struct block *block, const struct sums *sums,
	unsigned int l, uint16x8_t magnitude, uint16x8_t inf)
{
	const uint16x8_t x = vld1q_u16(block->x + l), y = vld1q_u16(block->y + l);
	const uint16x8_t mx = magnitude_of(x), my = magnitude_of(y);
	const uint16x8_t greater = vbslq_u16(vcgeq_u16(mx, my), x, y);
	const uint16x8_t is_greater = vld1q_u16(sums->is_greater + l);
	const uint16x8_t is_zero = vandq_u16(vceqq_u16(mx, my), if_signs_differ(x, y));
	const uint16x8_t z = vbslq_u16(is_greater, greater, with_sign(magnitude, greater));

	vst1q_u16(block->z + l, vbicq_u16(z, is_zero));
	vst1q_u16(block->flags + l,
		vbicq_u16(flags_of(magnitude, inf), vorrq_u16(is_greater, is_zero)));
	if (vmaxvq_u16(vmaxq_u16(mx, my)) >= kernel->inf)
		special_sums(kernel, block, l, magnitude, is_greater);
}

INLINE int16x8_t
add_mi(const struct sums *sums, unsigned int l)
{
	return vqaddq_s16(vld1q_s16(sums->log + l), vld1q_s16(sums->mi + l));
}

INLINE void
compute_sums(
	const struct log_registers *kernel, struct block *block, bool subtract, unsigned int count)
{
	const unsigned int lanes = block_steps(count);
	const uint16x8_t inf = vdupq_n_u16(kernel->inf);
	struct powers powers;
	struct sums sums;

	compare(kernel, block, &sums, subtract, lanes);
	look_up_mi(kernel, &sums, lanes);
	powers = load_powers(kernel);
	for (unsigned int l = 0; l < lanes; l += GROUP) {
		struct group magnitude =
			exp_words(&powers, add_mi(&sums, l), add_mi(&sums, l + LANES));

		select_sums(kernel, block, &sums, l, magnitude.low, inf);
		select_sums(kernel, block, &sums, l + LANES, magnitude.high, inf);
	}
}

/*
 * ---- products and quotients: a block's logarithms, then the results, as the tables of both do not
 * fit into the registers together ----
 */

static __attribute__((noinline)) void
special_products(
	const struct log_registers *kernel, struct block *block, bool divide, unsigned int l)
{
	const uint16x8_t none = vdupq_n_u16(0);

	store_special(kernel, block, l, magnitude_of(vld1q_u16(block->z + l)),
		divide ? NETFC_DIV : NETFC_MUL, none, none);
}

INLINE int16x8_t
join_logs(uint16x8_t x, uint16x8_t y, bool divide)
{
	const int16x8_t a = vreinterpretq_s16_u16(x), b = vreinterpretq_s16_u16(y);

	return divide ? vqsubq_s16(a, b) : vqaddq_s16(a, b);
}

/* Greater than that of any finite number but zero, of a zero, an infinity or a NaN. */
INLINE uint16x8_t
less_one(uint16x8_t magnitude)
{
	return vsubq_u16(magnitude, vdupq_n_u16(1));
}

/*
 * Operands to the log words of their products or quotients, and to signs of z; the lines stay in
 * registers. Returns whether some are special.
 */
INLINE bool
join(const struct log_registers *kernel, struct block *block, int16_t *log, bool divide,
	unsigned int lanes)
{
	const struct lines lines = load_lines(kernel);
	uint16x8_t greatest = vdupq_n_u16(0);

	for (unsigned int l = 0; l < lanes; l += GROUP) {
		const struct group x = load_group(block->x + l), y = load_group(block->y + l);
		const struct group mx = {magnitude_of(x.low), magnitude_of(x.high)};
		const struct group my = {magnitude_of(y.low), magnitude_of(y.high)};
		const struct group log_x = log_words(&lines, mx), log_y = log_words(&lines, my);

		vst1q_s16(log + l, join_logs(log_x.low, log_y.low, divide));
		vst1q_s16(log + l + LANES, join_logs(log_x.high, log_y.high, divide));
		vst1q_u16(block->z + l, difference_of_signs(x.low, y.low));
		vst1q_u16(block->z + l + LANES, difference_of_signs(x.high, y.high));
		greatest = vmaxq_u16(greatest, vmaxq_u16(less_one(mx.low), less_one(my.low)));
		greatest = vmaxq_u16(greatest, vmaxq_u16(less_one(mx.high), less_one(my.high)));
	}
	return vmaxvq_u16(greatest) >= kernel->inf - 1;
}

/* Magnitudes of eight products or quotients to z. */
INLINE void
store_products(struct block *block, unsigned int l, uint16x8_t magnitude, uint16x8_t inf)
{
	vst1q_u16(block->z + l, vorrq_u16(magnitude, vld1q_u16(block->z + l)));
	vst1q_u16(block->flags + l, flags_of(magnitude, inf));
}

INLINE void
compute_products(
	const struct log_registers *kernel, struct block *block, bool divide, unsigned int count)
{
	const unsigned int lanes = block_steps(count);
	const uint16x8_t inf = vdupq_n_u16(kernel->inf);
	int16_t log[BLOCK_LANES];
	struct powers powers;
	bool special;

	block_pad(block, count);
	special = join(kernel, block, log, divide, lanes);
	powers = load_powers(kernel);
	for (unsigned int l = 0; l < lanes; l += GROUP) {
		struct group magnitude =
			exp_words(&powers, vld1q_s16(log + l), vld1q_s16(log + l + LANES));

		store_products(block, l, magnitude.low, inf);
		store_products(block, l + LANES, magnitude.high, inf);
	}
	for (unsigned int l = 0; special && l < lanes; l += LANES)
		special_products(kernel, block, divide, l);
}

/* A call for each operation, so that it is a constant in it. */
INLINE void
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

BLOCK_FUNCTIONS(lines_functions, compute)

static void
map(const struct log_registers *kernel, bool power, const uint16_t *from, uint16_t *to,
	uint32_t count)
{
	const struct lines lines = load_lines(kernel);
	const struct powers powers = load_powers(kernel);

	for (uint32_t i = 0; i < count; i += GROUP) {
		const struct group words = load_group(from + i);
		const struct group mapped = power
			? exp_words(&powers, vreinterpretq_s16_u16(words.low),
				  vreinterpretq_s16_u16(words.high))
			: log_words(&lines, words);

		vst1q_u16(to + i, mapped.low);
		vst1q_u16(to + i + LANES, mapped.high);
	}
}

static const struct log_functions functions = {&lines_functions, map};

const struct log_registers_isa log_registers_neon = {
	.isa = VECTOR_NEON,
	.forms = LOG_LINES + 1,
	.functions = &functions,
};

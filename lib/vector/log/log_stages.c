/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel that looks up in match stages, whatever they are made of, with the set's own keys: the
 * integer steps between them are joined into one loop each. For any format of 16 bits. Compiled for
 * each instruction set.
 */
#include <errno.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "isa.h"
#include "lanes/blocks.h"
#include "log/log.h"

#define RESTRICT __restrict__

struct log_stages {
	struct vector_kernel kernel;
	const struct match_stage *log, *mi, *exp;
	int32_t guard;
	uint16_t inf; /* the magnitude of infinity, 0x8000 for posits */
	uint16_t nan;
};

/* Fields of a block's lanes. */
struct fields {
	uint32_t key_x[BLOCK_LANES], key_y[BLOCK_LANES]; /* of log, then of mi and exp */
	uint32_t i[BLOCK_LANES], j[BLOCK_LANES];         /* logarithms */
	uint32_t value[BLOCK_LANES];                     /* of mi, then of exp */
	uint16_t
		guarded[BLOCK_LANES]; /* bit 0: z is x, bit 1: z is y, bit 2: z is 0 by NO_RESULT */
} __attribute__((aligned(64)));

#define GUARD_X 1u
#define GUARD_Y 2u
#define GUARD_NO_RESULT 4u

/* All bits, or none: a choice without a branch. */
BLOCK_INLINE uint16_t
all_if(bool condition)
{
	return (uint16_t)-(uint16_t)condition;
}

BLOCK_INLINE uint16_t
choose(uint16_t mask, uint16_t yes, uint16_t no)
{
	return (uint16_t)((yes & mask) | (no & ~mask));
}

BLOCK_INLINE uint16_t
magnitude_of(uint16_t bits, bool posit)
{
	uint16_t negative = all_if(bits >> 15);

	return (uint16_t)(posit ? ((bits ^ negative) - negative) & 0x7fff : bits & 0x7fff);
}

/* The encoding of a magnitude, negative where `negative` has all bits. */
BLOCK_INLINE uint16_t
with_sign(uint16_t magnitude, uint16_t negative, bool posit)
{
	return (uint16_t)(posit ? (magnitude ^ negative) - negative
				: magnitude | (negative & 0x8000));
}

BLOCK_INLINE int32_t
saturate(int32_t word)
{
	word = word < INT16_MIN ? INT16_MIN : word;
	return word > INT16_MAX ? INT16_MAX : word;
}

BLOCK_INLINE void
read_logs(const struct log_stages *kernel, const struct block *block, struct fields *fields,
	bool posit, unsigned int count)
{
	const uint16_t *RESTRICT x = block->x, *RESTRICT y = block->y;
	uint32_t *RESTRICT key_x = fields->key_x, *RESTRICT key_y = fields->key_y;

	for (unsigned int l = 0; l < block_steps(count); l++) {
		key_x[l] = magnitude_of(x[l], posit);
		key_y[l] = magnitude_of(y[l], posit);
	}
	match_lookup(kernel->log, key_x, fields->i, count);
	match_lookup(kernel->log, key_y, fields->j, count);
}

/* The decided miTable's page and theta. */
BLOCK_INLINE void
read_mi(const struct log_stages *kernel, const struct block *block, struct fields *fields,
	unsigned int count)
{
	const uint16_t *RESTRICT x = block->x, *RESTRICT y = block->y;
	const uint32_t *RESTRICT i = fields->i, *RESTRICT j = fields->j;
	const uint32_t *RESTRICT magnitude_y = fields->key_y, *RESTRICT value = fields->value;
	uint32_t *RESTRICT key = fields->key_x;
	uint16_t *RESTRICT guarded = fields->guarded;
	const int32_t guard = kernel->guard;

	for (unsigned int l = 0; l < block_steps(count); l++) {
		int32_t theta = saturate((int16_t)j[l] - (int16_t)i[l]);
		uint32_t differ = -((uint32_t)(x[l] ^ y[l]) >> 15);
		uint32_t page = (key[l] > magnitude_y[l] ? 0x10000 : 0x20000) & differ;

		guarded[l] =
			(uint16_t)((theta < -guard ? GUARD_X : 0) | (theta > guard ? GUARD_Y : 0));
		key[l] = page | (uint16_t)theta;
	}
	match_lookup(kernel->mi, key, fields->value, count);
	for (unsigned int l = 0; l < block_steps(count); l++) {
		key[l] = (uint16_t)saturate((int16_t)i[l] + (int16_t)value[l]);
		guarded[l] |= (uint16_t)(value[l] == NETFC_NO_RESULT ? GUARD_NO_RESULT : 0);
	}
}

/* Sums: the decision (paper, table I, and special values), by precedence. */
BLOCK_INLINE void
select_sums(const struct log_stages *kernel, struct block *block, const struct fields *fields,
	bool posit, unsigned int count)
{
	const uint16_t *RESTRICT x = block->x, *RESTRICT y = block->y;
	const uint32_t *RESTRICT e = fields->value;
	const uint16_t *RESTRICT guarded = fields->guarded;
	uint16_t *RESTRICT z = block->z, *RESTRICT flags = block->flags;
	const uint16_t inf = kernel->inf, nan = kernel->nan;

	for (unsigned int l = 0; l < block_steps(count); l++) {
		uint16_t mx = magnitude_of(x[l], posit), my = magnitude_of(y[l], posit);
		uint16_t differ = all_if((x[l] ^ y[l]) >> 15), magnitude = (uint16_t)e[l];
		uint16_t negative = all_if((mx > my ? x[l] : y[l]) >> 15);
		uint16_t zero_x = all_if(mx == 0), zero_y = all_if(my == 0);
		uint16_t is_x = all_if((guarded[l] & GUARD_X) != 0) | zero_y;
		uint16_t is_y = (all_if((guarded[l] & GUARD_Y) != 0) | zero_x) & ~zero_y;
		uint16_t none = all_if((guarded[l] & GUARD_NO_RESULT) != 0);
		uint16_t opposite = all_if(mx == my) & differ;
		uint16_t nan_in, inf_x, inf_y, invalid = 0, computed, flag;
		uint16_t result = with_sign(magnitude, negative, posit);

		flag = (uint16_t)((all_if(magnitude == 0) & NETFC_UNDERFLOW) |
			(all_if(magnitude == inf) & NETFC_OVERFLOW));
		result = choose(none, 0, result);
		flag = choose(none, NETFC_UNDERFLOW, flag);
		result = choose(is_x, x[l], result);
		result = choose(is_y, y[l], result);
		result = choose(opposite, 0, result);
		computed = ~(is_x | is_y | opposite);
		if (posit) {
			/* NaR has the magnitude of zero. */
			nan_in = all_if(x[l] == nan) | all_if(y[l] == nan);
		} else {
			inf_x = all_if(mx == inf);
			inf_y = all_if(my == inf);
			nan_in = all_if(mx > inf) | all_if(my > inf);
			invalid = inf_x & inf_y & differ & ~nan_in;
			result = choose(inf_y, y[l], result);
			result = choose(inf_x, x[l], result);
			computed &= ~(inf_x | inf_y);
		}
		z[l] = choose(nan_in | invalid, nan, result);
		flags[l] = (uint16_t)((flag & computed & ~nan_in) | (invalid & NETFC_INVALID));
	}
}

BLOCK_INLINE void
select_products(const struct log_stages *kernel, struct block *block, const struct fields *fields,
	bool posit, bool divide, unsigned int count)
{
	const uint16_t *RESTRICT x = block->x, *RESTRICT y = block->y;
	const uint32_t *RESTRICT e = fields->value;
	uint16_t *RESTRICT z = block->z, *RESTRICT flags = block->flags;
	const uint16_t inf = kernel->inf, nan = kernel->nan;

	for (unsigned int l = 0; l < block_steps(count); l++) {
		uint16_t mx = magnitude_of(x[l], posit), my = magnitude_of(y[l], posit);
		uint16_t negative = all_if((x[l] ^ y[l]) >> 15), magnitude = (uint16_t)e[l];
		uint16_t zero_x = all_if(mx == 0), zero_y = all_if(my == 0);
		uint16_t inf_x = 0, inf_y = 0, nan_in, invalid, infinite, zero, by_zero;
		uint16_t flag = (uint16_t)((all_if(magnitude == 0) & NETFC_UNDERFLOW) |
			(all_if(magnitude == inf) & NETFC_OVERFLOW));

		if (posit) {
			nan_in = all_if(x[l] == nan) | all_if(y[l] == nan);
		} else {
			inf_x = all_if(mx == inf);
			inf_y = all_if(my == inf);
			nan_in = all_if(mx > inf) | all_if(my > inf);
		}
		infinite = divide ? inf_x | zero_y : inf_x | inf_y;
		zero = divide ? inf_y | zero_x : zero_x | zero_y;
		invalid = infinite & zero & ~nan_in;
		by_zero = divide ? zero_y & ~(zero_x | inf_x | nan_in) : 0;
		flag &= ~(infinite | zero | nan_in);
		magnitude = choose(zero, 0, magnitude);
		/* A posit's quotient by zero is NaR. */
		magnitude = choose(infinite, inf, magnitude);
		z[l] = choose(nan_in | invalid | (posit ? by_zero : 0), nan,
			with_sign(magnitude, negative, posit));
		flags[l] =
			(uint16_t)(flag | (invalid & NETFC_INVALID) | (by_zero & NETFC_DIVBYZERO));
	}
}

BLOCK_INLINE void
compute_sums(const struct log_stages *kernel, struct block *block, bool subtract, bool posit,
	unsigned int count)
{
	struct fields fields;

	if (subtract) {
		uint16_t *RESTRICT y = block->y;

		for (unsigned int l = 0; l < block_steps(count); l++)
			y[l] = (uint16_t)(posit ? -y[l] : y[l] ^ 0x8000);
	}
	read_logs(kernel, block, &fields, posit, count);
	read_mi(kernel, block, &fields, count);
	match_lookup(kernel->exp, fields.key_x, fields.value, count);
	select_sums(kernel, block, &fields, posit, count);
}

BLOCK_INLINE void
compute_products(const struct log_stages *kernel, struct block *block, bool divide, bool posit,
	unsigned int count)
{
	struct fields fields;
	const uint32_t *RESTRICT i = fields.i, *RESTRICT j = fields.j;
	uint32_t *RESTRICT key = fields.key_x;

	read_logs(kernel, block, &fields, posit, count);
	for (unsigned int l = 0; l < block_steps(count); l++) {
		int32_t n = divide ? (int16_t)i[l] - (int16_t)j[l] : (int16_t)i[l] + (int16_t)j[l];

		key[l] = (uint16_t)saturate(n);
	}
	match_lookup(kernel->exp, key, fields.value, count);
	select_products(kernel, block, &fields, posit, divide, count);
}

BLOCK_INLINE void
compute(enum netfc_op op, const struct vector_kernel *kernel, struct block *block, bool posit,
	unsigned int count)
{
	const struct log_stages *stages = (const struct log_stages *)kernel;

	if (op == NETFC_ADD || op == NETFC_SUB)
		compute_sums(stages, block, op == NETFC_SUB, posit, count);
	else
		compute_products(stages, block, op == NETFC_DIV, posit, count);
}

BLOCK_INLINE void
compute_ieee(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count){VECTOR_BY_OP(compute, op, kernel, block, false, count)}

BLOCK_INLINE void compute_posit(const struct vector_kernel *kernel, enum netfc_op op,
	struct block *block,
	unsigned int count){VECTOR_BY_OP(compute, op, kernel, block, true, count)}

BLOCK_FUNCTIONS(ieee_functions, compute_ieee) BLOCK_FUNCTIONS(posit_functions, compute_posit)

	int VECTOR_NAME(log_stages_create)(const struct log_shape *shape,
		struct match_stage *const *stages, enum vector_isa isa, int socket_id,
		struct vector_kernel **result)
{
	struct log_stages *kernel;

	kernel =
		rte_zmalloc_socket("netfc_vector", sizeof(*kernel), RTE_CACHE_LINE_SIZE, socket_id);
	if (kernel == NULL)
		return -ENOMEM;
	kernel->log = stages[shape->log_table];
	kernel->mi = stages[shape->mi_table];
	kernel->exp = stages[shape->exp_table];
	kernel->guard = shape->guard_words;
	kernel->inf = (uint16_t)shape->inf;
	kernel->nan = netfc_nan(shape->format);
	kernel->kernel.run = shape->posit ? posit_functions : ieee_functions;
	if (!log_shape_decides(shape, &kernel->kernel)) {
		rte_free(kernel);
		return -ENOTSUP;
	}
	snprintf(kernel->kernel.description, sizeof(kernel->kernel.description),
		"%s, look-ups in match stages", vector_isa_name(isa));
	*result = &kernel->kernel;
	return 0;
}

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
#include "log/special.h"

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
	uint16_t guarded[BLOCK_LANES];                   /* what sums are decided by */
} __attribute__((aligned(64)));

/* z is x, y, or 0: from the sign on. */
#define GUARD_X 0x8000u
#define GUARD_Y 0x4000u
#define GUARD_NO_RESULT 0x2000u

INLINE uint16_t
magnitude_of(uint16_t bits, bool posit)
{
	const uint16_t negative = (uint16_t)-(uint16_t)(bits >> 15);

	return (uint16_t)(posit ? ((bits ^ negative) - negative) & 0x7fff : bits & 0x7fff);
}

INLINE int32_t
saturate(int32_t word)
{
	word = word < INT16_MIN ? INT16_MIN : word;
	return word > INT16_MAX ? INT16_MAX : word;
}

INLINE void
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
INLINE void
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

/* Magnitudes are looked up and decided on. */
INLINE void
finish(const struct log_stages *kernel, enum netfc_op op, bool posit, struct block *block,
	struct fields *fields, unsigned int count)
{
	const bool is_sum = op == NETFC_ADD || op == NETFC_SUB;

	match_lookup(kernel->exp, fields->key_x, fields->value, count);
	for (unsigned int l = 0; l < block_steps(count); l++)
		block->z[l] = (uint16_t)fields->value[l];
	for (unsigned int l = 0; l < block_steps(count); l += VEC_LANES) {
		const vec16 guarded = is_sum ? vec_load(fields->guarded + l) : all_words(0);
		const struct decision decision = {
			.x = vec_load(block->x + l),
			.y = vec_load(block->y + l),
			.inf = all_words(kernel->inf),
			.nan = all_words(kernel->nan),
			.posit = mask_if(posit),
			.product = mask_if(!is_sum),
			.division = mask_if(op == NETFC_DIV),
			.is_x = negative(guarded),
			.is_y = negative(guarded << 1),
			.no_result = negative(guarded << 2),
		};
		struct flags flags;

		vec_store(block->z + l, decide(&decision, vec_load(block->z + l), &flags));
		vec_store(block->flags + l, flag_words(&flags));
	}
}

INLINE void
compute(enum netfc_op op, const struct vector_kernel *base, struct block *block, bool posit,
	unsigned int count)
{
	const struct log_stages *kernel = (const struct log_stages *)base;
	struct fields fields;
	const uint32_t *RESTRICT i = fields.i, *RESTRICT j = fields.j;
	uint32_t *RESTRICT key = fields.key_x;
	uint16_t *RESTRICT y = block->y;

	for (unsigned int l = 0; l < block_steps(count) && op == NETFC_SUB; l++)
		y[l] = (uint16_t)(posit ? -y[l] : y[l] ^ 0x8000);
	read_logs(kernel, block, &fields, posit, count);
	if (op == NETFC_ADD || op == NETFC_SUB)
		read_mi(kernel, block, &fields, count);
	for (unsigned int l = 0; l < block_steps(count) && op == NETFC_MUL; l++)
		key[l] = (uint16_t)saturate((int16_t)i[l] + (int16_t)j[l]);
	for (unsigned int l = 0; l < block_steps(count) && op == NETFC_DIV; l++)
		key[l] = (uint16_t)saturate((int16_t)i[l] - (int16_t)j[l]);
	finish(kernel, op, posit, block, &fields, count);
}

INLINE void
compute_ieee(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
	unsigned int count){VECTOR_BY_OP(compute, op, kernel, block, false, count)}

INLINE void compute_posit(const struct vector_kernel *kernel, enum netfc_op op, struct block *block,
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
	snprintf(kernel->kernel.description, sizeof(kernel->kernel.description),
		"%s, look-ups in match stages", vector_isa_name(isa));
	*result = &kernel->kernel;
	return 0;
}
